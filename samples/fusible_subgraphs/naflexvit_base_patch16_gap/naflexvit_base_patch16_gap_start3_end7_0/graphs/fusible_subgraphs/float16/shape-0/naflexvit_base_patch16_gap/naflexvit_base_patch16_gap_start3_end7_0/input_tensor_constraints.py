dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 196, 768], "in_0"),
    ([768, 768], "in_1"),
    ([768], "in_2"),
    ([1, 16, 16, 768], "in_3"),
]
