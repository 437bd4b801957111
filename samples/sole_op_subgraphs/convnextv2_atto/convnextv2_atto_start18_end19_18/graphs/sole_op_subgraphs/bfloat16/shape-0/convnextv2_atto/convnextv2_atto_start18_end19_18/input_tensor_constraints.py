dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 160, 1, 1], "in_0"),
    ([1, 160, 1, 1], "in_1"),
    ([2, 160, 56, 56], "in_2"),
]
