dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 196, 196, 4], "in_0"),
    ([2, 4, 196, 48], "in_1"),
    ([2, 4, 196, 48], "in_2"),
    ([4], "in_3"),
]
