dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 16, 10, 10, 128], "in_0"),
    ([2, 4, 100, 16], "in_1"),
    ([2, 4, 100, 128], "in_2"),
    ([512], "in_3"),
    ([512], "in_4"),
    ([512], "in_5"),
    ([512], "in_6"),
]
