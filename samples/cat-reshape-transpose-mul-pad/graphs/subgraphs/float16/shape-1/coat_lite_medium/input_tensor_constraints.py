dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([8, 32, 56, 56], "in_0"),
    ([8, 48, 56, 56], "in_1"),
    ([8, 48, 56, 56], "in_2"),
    ([8, 8, 3136, 16], "in_3"),
]
