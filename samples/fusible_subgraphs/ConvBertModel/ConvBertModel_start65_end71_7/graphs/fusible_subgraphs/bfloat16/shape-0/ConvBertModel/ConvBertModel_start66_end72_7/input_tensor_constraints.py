dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 6, 32, 32], "in_0"),
    ([2, 6, 32, 64], "in_1"),
    ([64, 384], "in_2"),
]
