dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 3, 224, 224], "in_0"),
    ([768, 768], "in_1"),
    ([768], "in_2"),
    ([1, 16, 16, 768], "in_3"),
    ([1, 4, 768], "in_4"),
    ([768], "in_5"),
    ([768], "in_6"),
    ([2304, 768], "in_7"),
    ([2304], "in_8"),
    ([768, 768], "in_9"),
    ([768], "in_10"),
    ([768], "in_11"),
    ([768], "in_12"),
    ([768], "in_13"),
    ([3072, 768], "in_14"),
    ([3072], "in_15"),
    ([768, 3072], "in_16"),
    ([768], "in_17"),
    ([768], "in_18"),
    ([768], "in_19"),
    ([768], "in_20"),
    ([1000, 768], "in_21"),
    ([1000], "in_22"),
]
