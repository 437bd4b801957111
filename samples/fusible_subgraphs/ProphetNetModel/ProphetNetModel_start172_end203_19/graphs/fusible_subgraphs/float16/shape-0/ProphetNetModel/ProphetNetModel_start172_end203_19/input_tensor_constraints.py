dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 48, 1024], "in_0"),
    ([1024, 1024], "in_1"),
    ([1024], "in_2"),
    ([2, 48, 1024], "in_3"),
    ([2, 48, 1024], "in_4"),
]
