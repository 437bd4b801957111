dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([16, 512], "L_mask_"),
    ([16, 512, 1024], "L_hidden_"),
]
