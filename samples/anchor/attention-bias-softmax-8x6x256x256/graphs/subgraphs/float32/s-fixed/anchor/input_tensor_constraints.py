dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([8, 6, 256, 256], "L_scores_"),
    ([1, 6, 256, 256], "L_bias_"),
]
