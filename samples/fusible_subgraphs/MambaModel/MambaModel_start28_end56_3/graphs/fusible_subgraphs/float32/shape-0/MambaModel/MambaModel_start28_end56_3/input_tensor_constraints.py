dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 48], "in_0"),
    ([512, 16], "in_1"),
    ([512], "in_2"),
    ([2, 32, 512], "in_3"),
    ([512], "in_4"),
    ([512, 16], "in_5"),
]
