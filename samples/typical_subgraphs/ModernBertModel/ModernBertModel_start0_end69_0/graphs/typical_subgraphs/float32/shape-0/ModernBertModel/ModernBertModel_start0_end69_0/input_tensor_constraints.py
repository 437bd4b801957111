dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32], "in_0"),
    ([1000, 768], "in_1"),
    ([768], "in_2"),
    ([2, 32], "in_3"),
    ([32], "in_4"),
    ([32], "in_5"),
]
