dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 511, 1022], "in_0"),
    ([1, 16, 16], "in_1"),
    ([2, 16], "in_2"),
    ([512, 1024], "in_3"),
    ([2, 16, 1024], "in_4"),
    ([2, 16, 1024], "in_5"),
    ([2, 1024], "in_6"),
    ([1024], "in_7"),
    ([1024], "in_8"),
]
