dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 32, 512], "in_0"),
    ([2, 512], "in_1"),
    ([2, 512], "in_2"),
    ([512], "in_3"),
    ([2, 512], "in_4"),
    ([2, 512], "in_5"),
    ([2, 512], "in_6"),
    ([2, 512], "in_7"),
    ([2, 32, 512], "in_8"),
    ([2, 32, 512], "in_9"),
    ([512], "in_10"),
    ([2, 32, 512], "in_11"),
]
