dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([128, 3, 64, 32], "in_0"),
    ([128, 3, 32, 64], "in_1"),
    ([3, 1, 1], "in_2"),
    ([1, 3, 64, 64], "in_3"),
    ([128, 64, 96], "in_4"),
]
