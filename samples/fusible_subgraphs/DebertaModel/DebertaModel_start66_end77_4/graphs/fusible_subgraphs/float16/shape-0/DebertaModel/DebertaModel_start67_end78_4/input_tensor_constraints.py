dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 64, 768], "in_0"),
    ([2, 12, 32, 64], "in_1"),
    ([1, 1, 32, 32], "in_2"),
    ([], "in_3"),
]
