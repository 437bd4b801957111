dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 24, 40, 40], "in_0"),
    ([96, 24, 1, 1], "in_1"),
    ([96], "in_2"),
    ([2, 96, 40, 40], "in_3"),
]
