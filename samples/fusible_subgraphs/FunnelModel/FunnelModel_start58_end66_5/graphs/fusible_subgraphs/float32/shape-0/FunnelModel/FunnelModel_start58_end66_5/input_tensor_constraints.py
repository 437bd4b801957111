dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 12, 64], "in_0"),
    ([64, 12, 64], "in_1"),
    ([32, 32], "in_2"),
    ([12, 64], "in_3"),
    ([2, 32, 12, 64], "in_4"),
]
