dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 1024], "in_0"),
    ([1024, 1024], "in_1"),
    ([2, 32, 1024], "in_2"),
    ([2, 32, 1024], "in_3"),
    ([2048, 64], "in_4"),
    ([1, 32], "in_5"),
]
