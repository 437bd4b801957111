dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 32, 56, 56], "L_b_"),
    ([1, 48, 56, 56], "L_c_"),
    ([1, 48, 56, 56], "L_d_"),
    ([1, 8, 3136, 16], "L_a_"),
]
