dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 6273, 192], "in_0"),
    ([192, 192], "in_1"),
    ([192], "in_2"),
    ([2, 25089, 192], "in_3"),
]
