dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 32, 9, 9], "in_0"),
    ([1, 48, 9, 9], "in_1"),
    ([1, 48, 9, 9], "in_2"),
    ([1, 8, 81, 16], "in_3"),
]
