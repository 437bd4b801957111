dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 512, 8, 8], "in_0"),
    ([2, 512, 8, 8], "in_1"),
    ([1024, 512, 1, 1], "in_2"),
]
