dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32], "in_0"),
    ([1000, 1024], "in_1"),
    ([2050, 1024], "in_2"),
    ([1024], "in_3"),
    ([1024], "in_4"),
    ([1024, 1024], "in_5"),
    ([1024], "in_6"),
    ([1024, 1024], "in_7"),
    ([1024], "in_8"),
    ([1024, 1024], "in_9"),
    ([1024], "in_10"),
    ([1024, 1024], "in_11"),
    ([1024], "in_12"),
    ([1024], "in_13"),
    ([1024], "in_14"),
    ([4096, 1024], "in_15"),
    ([4096], "in_16"),
    ([1024, 4096], "in_17"),
    ([1024], "in_18"),
]
