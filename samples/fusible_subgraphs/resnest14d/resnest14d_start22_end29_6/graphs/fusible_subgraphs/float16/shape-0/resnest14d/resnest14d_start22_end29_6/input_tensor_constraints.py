dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 1, 1], "in_0"),
    ([128, 32, 1, 1], "in_1"),
    ([128], "in_2"),
]
