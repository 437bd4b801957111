dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 4, 196, 196], "in_0"),
    ([4, 4], "in_1"),
    ([4], "in_2"),
]
