dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([32, 197, 768], "L_x_"),
    ([32, 197, 768], "L_residual_"),
    ([768], "L_weight_"),
    ([768], "L_bias_"),
]
