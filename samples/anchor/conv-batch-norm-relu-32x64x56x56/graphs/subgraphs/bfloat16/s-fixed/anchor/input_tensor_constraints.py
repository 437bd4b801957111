dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([32, 64, 56, 56], "L_x_"),
    ([64, 64, 3, 3], "L_kernel_"),
    ([64], "L_mean_"),
    ([64], "L_variance_"),
    ([64], "L_weight_"),
    ([64], "L_bias_"),
]
