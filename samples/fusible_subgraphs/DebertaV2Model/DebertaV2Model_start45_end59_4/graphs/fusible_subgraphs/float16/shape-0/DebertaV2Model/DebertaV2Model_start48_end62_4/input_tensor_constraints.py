dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([24, 32, 64], "in_0"),
    ([24, 64, 32], "in_1"),
    ([1024, 768], "in_2"),
    ([1, 32, 32], "in_3"),
    ([2, 1, 32, 32], "in_4"),
]
