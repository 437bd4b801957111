dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 40, 40], "in_0"),
    ([64, 32, 3, 3], "in_1"),
    ([64], "in_2"),
    ([64], "in_3"),
    ([64], "in_4"),
    ([64], "in_5"),
    ([2, 64, 40, 40], "in_6"),
]
