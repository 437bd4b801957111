copy limits
fifo model.py
