"""Compiled kernels for arrays on an NVIDIA GPU, through CuPy; None wherever they do not apply.

PyTorch's tensors come and go by DLPack, without a copy. Without CuPy, and for what the kernels do not do, the
kernels of the array API serve.
"""

from posterior.engines.device.cuda.labels import class_weights, label_codes
from posterior.engines.device.cuda.linear import linear_answer, longest_row, slope_rounding, softmax_slope
from posterior.engines.device.cuda.prediction import answer
from posterior.engines.device.cuda.sums import class_moments, class_scatter

__all__ = [
    "answer",
    "class_moments",
    "class_scatter",
    "class_weights",
    "label_codes",
    "linear_answer",
    "longest_row",
    "slope_rounding",
    "softmax_slope",
]
