dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 96, 14, 14], "in_0"),
    ([96, 96, 4, 4], "in_1"),
    ([96], "in_2"),
    ([2, 197, 768], "in_3"),
]
