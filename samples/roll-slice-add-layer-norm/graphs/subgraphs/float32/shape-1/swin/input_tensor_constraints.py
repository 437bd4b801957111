dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([8, 63, 63, 96], "in_0"),
    ([8, 3249, 96], "in_1"),
    ([96], "in_2"),
    ([96], "in_3"),
]
