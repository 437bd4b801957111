dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 64, 147], "in_0"),
    ([64, 3, 7, 7], "in_1"),
    ([2, 3, 160, 160], "in_2"),
    ([64], "in_3"),
]
