dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 96, 40, 40], "in_0"),
    ([96, 1, 7, 7], "in_1"),
    ([96], "in_2"),
    ([96], "in_3"),
    ([96], "in_4"),
]
