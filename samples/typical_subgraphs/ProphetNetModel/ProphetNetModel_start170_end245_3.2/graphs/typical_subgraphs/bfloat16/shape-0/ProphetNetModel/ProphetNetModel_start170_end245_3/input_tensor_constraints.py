dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 48, 1024], "in_0"),
    ([1024, 1024], "in_1"),
    ([1024], "in_2"),
    ([1024, 1024], "in_3"),
    ([1024], "in_4"),
    ([1024, 1024], "in_5"),
    ([1024], "in_6"),
    ([512, 1024], "in_7"),
    ([512], "in_8"),
    ([2, 16, 16], "in_9"),
    ([2, 16, 16, 16], "in_10"),
    ([1024, 1024], "in_11"),
    ([1024], "in_12"),
    ([2, 16, 32], "in_13"),
]
