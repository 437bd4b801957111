dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 3, 224, 224], "in_0"),
    ([16, 3, 3, 3], "in_1"),
    ([16], "in_2"),
    ([16], "in_3"),
    ([16], "in_4"),
    ([16], "in_5"),
    ([32, 16, 3, 3], "in_6"),
    ([32], "in_7"),
    ([32], "in_8"),
    ([32], "in_9"),
    ([32], "in_10"),
    ([64, 32, 3, 3], "in_11"),
    ([64], "in_12"),
    ([64], "in_13"),
    ([64], "in_14"),
    ([64], "in_15"),
    ([128, 64, 3, 3], "in_16"),
    ([128], "in_17"),
    ([128], "in_18"),
    ([128], "in_19"),
    ([128], "in_20"),
]
