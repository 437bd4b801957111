dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 576, 32], "in_0"),
    ([576, 1, 4], "in_1"),
    ([576], "in_2"),
    ([8], "in_3"),
    ([2, 32, 8], "in_4"),
    ([8], "in_5"),
    ([8], "in_6"),
]
