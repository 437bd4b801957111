copy limits
grow model.py 4398046511104
