dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 256], "in_0"),
    ([1096, 256], "in_1"),
    ([8], "in_2"),
    ([576, 1, 4], "in_3"),
]
