dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 2, 16, 8, 32], "in_0"),
    ([2, 2, 8, 64, 32], "in_1"),
    ([2, 8, 2, 16], "in_2"),
    ([2, 2, 16, 8, 64], "in_3"),
    ([2, 32, 8, 64], "in_4"),
    ([2, 32, 512], "in_5"),
    ([512], "in_6"),
]
