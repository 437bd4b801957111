dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32], "in_0"),
    ([2, 32], "in_1"),
    ([1, 32], "in_2"),
    ([32], "in_3"),
    ([32], "in_4"),
]
