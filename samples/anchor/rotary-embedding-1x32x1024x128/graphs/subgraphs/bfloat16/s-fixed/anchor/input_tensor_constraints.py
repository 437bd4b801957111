dynamic_dim_constraint_symbols = []

dynamic_dim_constraint_symbol2example_value = {}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, 32, 1024, 128], "L_query_"),
    ([1024, 128], "L_cosine_"),
    ([1024, 128], "L_sine_"),
]
