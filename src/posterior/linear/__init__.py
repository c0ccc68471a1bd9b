"""Linear scores learnt by minimising a loss: logistic, softmax and linear regression."""
