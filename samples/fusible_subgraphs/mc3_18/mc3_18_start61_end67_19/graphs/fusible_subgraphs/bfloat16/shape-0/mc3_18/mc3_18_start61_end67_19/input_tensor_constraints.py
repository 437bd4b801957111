dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 512, 8, 4, 4], "in_0"),
    ([512, 512, 1, 3, 3], "in_1"),
    ([512], "in_2"),
    ([512], "in_3"),
    ([512], "in_4"),
    ([512], "in_5"),
    ([2, 512, 8, 4, 4], "in_6"),
]
