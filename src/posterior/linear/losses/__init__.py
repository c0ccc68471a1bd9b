"""Losses: sums over rows that are convex functions of the scores; one file each."""

from posterior.linear.losses.base import Loss, Noise, from_upper_triangles, pairs, unpacked, upper_triangle
from posterior.linear.losses.gaussian import GaussianLoss
from posterior.linear.losses.laplace import LaplaceLoss
from posterior.linear.losses.softmax import SoftmaxLoss

__all__ = [
    "GaussianLoss",
    "LaplaceLoss",
    "Loss",
    "Noise",
    "SoftmaxLoss",
    "from_upper_triangles",
    "pairs",
    "unpacked",
    "upper_triangle",
]
