dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 257, 192], "in_0"),
    ([576, 192], "in_1"),
    ([576], "in_2"),
    ([256, 128], "in_3"),
]
