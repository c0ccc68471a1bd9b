"""What must hold between the parts of a model, for it to be read, scored and summed without surprises."""
