dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 6, 64, 64], "L_scores_"),
    ([1, 6, 64, 64], "L_bias_"),
]
