dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 3, 16, 224, 224], "in_0"),
    ([96, 3, 3, 7, 7], "in_1"),
    ([96], "in_2"),
    ([96], "in_3"),
    ([8, 96], "in_4"),
    ([3136, 96], "in_5"),
    ([96], "in_6"),
    ([96], "in_7"),
    ([96], "in_8"),
]
