dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 768], "in_0"),
    ([2304, 768], "in_1"),
    ([768], "in_2"),
    ([768], "in_3"),
    ([1024, 768], "in_4"),
    ([1, 32, 32], "in_5"),
    ([768, 768], "in_6"),
    ([768, 768], "in_7"),
    ([768], "in_8"),
    ([2, 1, 32, 32], "in_9"),
]
