"""What a package of somebody else's may bring: two losses and a solver, each in as many lines as shown."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from posterior.linear import Certificate, Loss, Solution, Solver, Step, register_solver
from posterior.persistence import register


class HyperbolicSecantNoise:
    """Noise with density sech(r)/π, whose scale is 1."""

    def scale(self, mean_loss):
        return 1.0

    def variance(self, scale):
        return scale**2 * np.pi**2 / 4

    def log_likelihood(self, scale, weight):
        raise NotImplementedError("not known from the scale alone")

    def distribution(self, loc, scale):
        return stats.hypsecant(loc=loc, scale=scale)


@dataclass(frozen=True)
class LogCosh(Loss):
    """width² ln cosh(r / width): squares near zero, absolute errors far away."""

    width: float = 1.0
    n_scores: int = 1
    curvature_bound: float = 1.0
    has_standard_errors: ClassVar[bool] = True
    noise: ClassVar = HyperbolicSecantNoise()

    @property
    def self_concordance(self):
        return 2.0 / self.width

    def slope(self, scores, target, weight):
        r = (scores - target) / self.width
        size = np.abs(r) + np.log1p(np.exp(-2 * np.abs(r))) - np.log(2)
        w = 1.0 if weight is None else weight
        return float((self.width**2 * w * size).sum()), self.width * w * np.tanh(r)

    def curvature(self, scores, target, weight):
        with np.errstate(over="ignore"):
            bend = 1.0 / np.cosh((scores - target) / self.width) ** 2
        return bend if weight is None else bend * weight

    def log_likelihood(self, value, weight):
        return -value - weight * float(np.log(np.pi))


@dataclass(frozen=True)
class PoissonLoss(Loss):
    """exp(score) − count·score: the log of a Poisson mean is linear; nothing more is declared."""

    n_scores: int = 1

    def slope(self, scores, target, weight):
        mean, w = np.exp(scores), 1.0 if weight is None else weight
        return float((w * (mean - target * scores)).sum()), w * (mean - target)

    def curvature(self, scores, target, weight):
        return np.exp(scores) if weight is None else weight * np.exp(scores)


@dataclass(frozen=True)
class ConjugateGradients(Solver):
    """Newton's method whose steps come from conjugate gradients on the Hessian."""

    exact: ClassVar[bool] = True
    max_iter: int = 200
    tol: float = 1e-9
    path: bool = False

    def minimize(self, objective, start=None):
        origin = objective.slope(objective.zero())
        point = origin if start is None else objective.slope(start)
        scale, steps = max(float(np.linalg.norm(origin.gradient)), 1e-300), []
        for iteration in range(self.max_iter + 1):
            steps.append(Step.at(objective, point))
            steep = float(np.linalg.norm(point.gradient)) / scale
            if steep <= self.tol or iteration == self.max_iter:
                break
            move, length = _solved(objective.curvature(point.theta), -point.gradient), 1.0
            promised = float(point.gradient @ move)
            while length > 1e-12:
                there = objective.slope(point.theta + length * move)
                if there.value <= point.value + 1e-4 * length * promised + 1e-15 * abs(point.value):
                    break
                length /= 2
            point = there
        guess = Certificate(steep**2, "the gradient", proven=False)
        return Solution(point, iteration, steep <= self.tol, guess, steep, tuple(steps) * self.path)


def _solved(matrix, b):
    """Conjugate gradients."""
    x, r = np.zeros_like(b), b.copy()
    p = r.copy()
    for _ in range(10 * len(b)):
        if np.linalg.norm(r) <= 1e-14 * np.linalg.norm(b):
            break
        step = (r @ r) / (p @ matrix @ p)
        x, rest = x + step * p, r - step * (matrix @ p)
        p, r = rest + (rest @ rest) / (r @ r) * p, rest
    return x


def register_all():
    """What such a package calls when it is imported."""
    register_solver("conjugate-gradients", ConjugateGradients)
    register("linear_parts.conjugate-gradients", ConjugateGradients)
    register("linear_parts.log-cosh", LogCosh)
    register("linear_parts.poisson-loss", PoissonLoss)
