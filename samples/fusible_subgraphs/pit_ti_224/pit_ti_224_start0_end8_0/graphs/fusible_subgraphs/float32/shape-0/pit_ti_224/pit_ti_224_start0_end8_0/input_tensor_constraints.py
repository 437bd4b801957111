dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 3, 224, 224], "in_0"),
    ([64, 3, 16, 16], "in_1"),
    ([64], "in_2"),
    ([1, 64, 27, 27], "in_3"),
    ([1, 1, 64], "in_4"),
    ([64], "in_5"),
    ([64], "in_6"),
]
