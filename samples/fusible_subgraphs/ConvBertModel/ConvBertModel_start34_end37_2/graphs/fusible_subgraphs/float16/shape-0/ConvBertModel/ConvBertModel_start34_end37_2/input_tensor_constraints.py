dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 768, 32], "in_0"),
    ([384, 768, 1], "in_1"),
    ([384, 1], "in_2"),
]
