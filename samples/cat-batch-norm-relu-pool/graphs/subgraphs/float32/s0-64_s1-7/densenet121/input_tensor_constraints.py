from sympy import Symbol

S0 = Symbol("S0")
S1 = Symbol("S1")

dynamic_dim_constraint_symbols = [S0, S1]

dynamic_dim_constraint_symbol2example_value = {S0: 64, S1: 7}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([S0, 512, S1, S1], "in_0"),
    ([S0, 32, S1, S1], "in_1"),
    ([S0, 32, S1, S1], "in_2"),
    ([576], "in_3"),
    ([576], "in_4"),
    ([576], "in_5"),
    ([576], "in_6"),
]
