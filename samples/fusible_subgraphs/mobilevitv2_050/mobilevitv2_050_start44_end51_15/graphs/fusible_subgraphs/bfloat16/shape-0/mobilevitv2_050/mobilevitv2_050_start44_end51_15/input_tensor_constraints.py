dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 64, 4, 144], "in_0"),
    ([129, 64, 1, 1], "in_1"),
    ([129], "in_2"),
]
