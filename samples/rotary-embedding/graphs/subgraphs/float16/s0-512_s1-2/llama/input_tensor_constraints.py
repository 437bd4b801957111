from sympy import Symbol

S0 = Symbol("S0")
S1 = Symbol("S1")

dynamic_dim_constraint_symbols = [S0, S1]

dynamic_dim_constraint_symbol2example_value = {S0: 512, S1: 2}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([1, S0, 128], "in_0"),
    ([1, S0, 128], "in_1"),
    ([S1, 32, S0, 128], "in_2"),
    ([S1, 8, S0, 128], "in_3"),
]
