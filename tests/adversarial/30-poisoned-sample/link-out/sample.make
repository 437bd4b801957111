copy limits
link weight_meta.py /etc/passwd
