dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 3137, 64], "in_0"),
    ([192, 64], "in_1"),
    ([192], "in_2"),
]
