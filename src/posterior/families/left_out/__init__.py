"""Training rows scored as if they had not been seen: what the families need for exact leave-one-out."""
