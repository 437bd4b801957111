dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 768, 14, 14], "in_0"),
    ([2, 196, 768], "in_1"),
    ([1, 4, 768], "in_2"),
    ([768], "in_3"),
    ([768], "in_4"),
]
