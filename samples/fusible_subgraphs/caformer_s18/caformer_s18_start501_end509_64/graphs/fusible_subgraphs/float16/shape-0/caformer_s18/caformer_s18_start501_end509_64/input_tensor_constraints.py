dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 1, 1, 512], "in_0"),
    ([2048, 512], "in_1"),
    ([2048], "in_2"),
    ([2048], "in_3"),
    ([2048], "in_4"),
]
