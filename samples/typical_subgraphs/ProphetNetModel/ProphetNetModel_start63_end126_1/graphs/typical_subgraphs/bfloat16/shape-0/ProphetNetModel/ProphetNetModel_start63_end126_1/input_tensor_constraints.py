dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 4096], "in_0"),
    ([1024, 4096], "in_1"),
    ([1024], "in_2"),
    ([2, 32, 1024], "in_3"),
    ([1024], "in_4"),
    ([1024], "in_5"),
    ([2, 16], "in_6"),
    ([1000, 1024], "in_7"),
    ([512, 1024], "in_8"),
]
