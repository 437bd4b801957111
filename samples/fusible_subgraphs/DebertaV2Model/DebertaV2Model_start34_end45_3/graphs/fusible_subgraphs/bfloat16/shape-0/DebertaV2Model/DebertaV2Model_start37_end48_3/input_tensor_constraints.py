dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 768], "in_0"),
    ([768, 768], "in_1"),
    ([768], "in_2"),
    ([24, 32, 64], "in_3"),
]
