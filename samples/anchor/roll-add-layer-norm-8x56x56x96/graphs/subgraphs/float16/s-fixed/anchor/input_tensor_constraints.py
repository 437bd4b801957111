dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([8, 3136, 96], "L_x_"),
    ([8, 3136, 96], "L_residual_"),
    ([96], "L_weight_"),
    ([96], "L_bias_"),
]
