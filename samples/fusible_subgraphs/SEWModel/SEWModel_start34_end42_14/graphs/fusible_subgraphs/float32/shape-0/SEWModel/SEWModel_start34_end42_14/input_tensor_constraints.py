dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 768, 24], "in_0"),
    ([768, 48, 128], "in_1"),
    ([768], "in_2"),
]
