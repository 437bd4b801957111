dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 64, 40, 40], "in_0"),
    ([128, 32, 3, 3], "in_1"),
    ([128], "in_2"),
    ([128], "in_3"),
    ([128], "in_4"),
    ([128], "in_5"),
]
