dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 64, 4, 144], "in_0"),
    ([2, 1, 4, 144], "in_1"),
    ([2, 64, 4, 144], "in_2"),
]
