dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 1024], "in_0"),
    ([3072, 1024], "in_1"),
    ([2048, 64], "in_2"),
    ([1, 32], "in_3"),
]
