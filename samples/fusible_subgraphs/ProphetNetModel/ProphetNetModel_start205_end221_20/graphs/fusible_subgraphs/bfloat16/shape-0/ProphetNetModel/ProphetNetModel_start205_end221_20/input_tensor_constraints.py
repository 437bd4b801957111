dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 16, 1024], "in_0"),
    ([512, 1024], "in_1"),
    ([512], "in_2"),
    ([2, 16, 16], "in_3"),
    ([2, 16, 16, 16], "in_4"),
    ([2, 16, 16, 16], "in_5"),
]
