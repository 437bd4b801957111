dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([32, 2048, 1, 1], "L_gate_"),
    ([32, 2048, 6, 8], "L_x_"),
    ([32, 2048, 6, 8], "L_shortcut_"),
]
