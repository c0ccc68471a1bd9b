"""Calibrators: class frequencies only, as a Scaling, and a power of the odds as a map of its own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from posterior.decision import Scaling, effective_priors, log_loss
from posterior.math import log_softmax


def fit_bias(log_posterior, y, *, priors=None, classes=None, sample_weight=None):
    """A bias for each class, such that the mean posterior of the class is its frequency, about."""
    K = log_posterior.shape[1]
    mean = np.average(np.exp(log_posterior), axis=0, weights=sample_weight)
    bias = np.log(effective_priors(y, sample_weight=sample_weight, classes=range(K))) - np.log(mean)
    names = tuple(range(K)) if classes is None else tuple(classes)
    return Scaling(np.ones(K), bias - bias.mean(), names, by_class=True)


@dataclass(frozen=True)
class Sharpened:
    """Posteriors to a power, normalised."""

    power: float
    by_class: ClassVar[bool] = False

    def calibrated(self, logs):
        return log_softmax(self.power * logs)

    def __str__(self):
        return f"power {self.power:g}"


def fit_power(log_posterior, y, *, priors=None, classes=None, sample_weight=None):
    """The best of a few powers."""
    powers = (0.25, 0.5, 1.0, 2.0, 4.0)
    losses = [log_loss(y, log_softmax(p * log_posterior), sample_weight=sample_weight) for p in powers]
    return Sharpened(powers[int(np.argmin(losses))])
