dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([128, 512, 8, 8], "L_a_"),
    ([128, 512, 8, 8], "L_b_"),
    ([1024], "L_mean_"),
    ([1024], "L_variance_"),
    ([1024], "L_weight_"),
    ([1024], "L_bias_"),
]
