dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 512], "in_0"),
    ([2, 32], "in_1"),
    ([1000, 768], "in_2"),
    ([512, 768], "in_3"),
    ([768], "in_4"),
    ([768], "in_5"),
    ([2, 32], "in_6"),
]
