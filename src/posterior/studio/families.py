"""Log densities of one column, family by family, as the parameters that the page's script needs.

A family is a function from a distribution and the place of a column to plain data, registered with
`column_density`; the script has a function of the same name in `scripts/model.js`.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import gammaln

from posterior._types import AnyArray
from posterior.families import (
    BernoulliDistribution,
    BestOfDistribution,
    BetaDistribution,
    CategoricalDistribution,
    Distribution,
    ExponentialDistribution,
    GammaDistribution,
    HistogramDistribution,
    LaplaceDistribution,
    LogNormalDistribution,
    NegativeBinomialDistribution,
    NormalDistribution,
    PoissonDistribution,
    StudentTDistribution,
)
from posterior.families.gamma import stirling
from posterior.families.sums import about_mean, safe_log
from posterior.math import LOG_2PI


@singledispatch
def column_density(distribution: Distribution, j: int) -> dict[str, Any] | None:
    """The log density of column `j` as plain data; None where the script does not know the family."""
    return None


def numbers(values: AnyArray) -> Any:
    """Numbers as JSON can hold them: minus infinity, the log of an impossible thing, by its name.

    >>> numbers(np.array([0.5, -np.inf]))
    [0.5, '-inf']
    """
    found = np.asarray(values).tolist()
    return _named(found) if np.isinf(values).any() else found


def _named(value: Any) -> Any:
    if isinstance(value, list):
        return [_named(each) for each in value]
    return "-inf" if value == -np.inf else value


@column_density.register
def _(distribution: NormalDistribution, j: int) -> dict[str, Any]:
    variance = distribution.variance[:, j]
    return {
        "family": "normal",
        "pivot": numbers(distribution.location.pivot[:, j]),
        "remainder": numbers(distribution.location.remainder[:, j]),
        "scale": numbers(np.sqrt(variance)),
        "level": numbers(-0.5 * (np.log(variance) + LOG_2PI)),
    }


@column_density.register
def _(distribution: LogNormalDistribution, j: int) -> dict[str, Any]:
    return {"family": "log_normal", "normal": column_density(distribution.log_normal, j)}


@column_density.register
def _(distribution: LaplaceDistribution, j: int) -> dict[str, Any]:
    scale = distribution.scale[:, j]
    return {
        "family": "laplace",
        "location": numbers(distribution.location[:, j]),
        "scale": numbers(scale),
        "level": numbers(-np.log(2 * scale)),
    }


@column_density.register
def _(distribution: StudentTDistribution, j: int) -> dict[str, Any]:
    scale, nu = distribution.scale[:, j], distribution.degrees[:, j]
    level = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * nu) - np.log(scale)
    return {
        "family": "student_t",
        "pivot": numbers(distribution.location.pivot[:, j]),
        "remainder": numbers(distribution.location.remainder[:, j]),
        "scale": numbers(scale * np.sqrt(nu)),
        "power": numbers((nu + 1) / 2),
        "level": numbers(level),
    }


@column_density.register
def _(distribution: ExponentialDistribution, j: int) -> dict[str, Any]:
    return {"family": "exponential", "mean": numbers(distribution.mean[:, j])}


@column_density.register
def _(distribution: GammaDistribution, j: int) -> dict[str, Any]:
    shape = distribution.shape[:, j]
    return {
        "family": "gamma",
        "shape": numbers(shape),
        "mean": numbers(distribution.mean[:, j]),
        "level": numbers(stirling(shape)),
    }


@column_density.register
def _(distribution: PoissonDistribution, j: int) -> dict[str, Any]:
    logs, excess = about_mean(distribution.rate[:, [j]])  # large counts would cancel
    return {"family": "poisson", "logs": numbers(logs[:, 0]), "excess": numbers(excess[:, 0])}


@column_density.register
def _(distribution: NegativeBinomialDistribution, j: int) -> dict[str, Any]:
    return {
        "family": "negative_binomial",
        "mean": numbers(distribution.mean[:, j]),
        "dispersion": numbers(distribution.dispersion[:, j]),
    }


@column_density.register
def _(distribution: BetaDistribution, j: int) -> dict[str, Any]:
    alpha, beta = distribution.alpha[:, j], distribution.beta[:, j]
    return {
        "family": "beta",
        "alpha": numbers(alpha),
        "beta": numbers(beta),
        "level": numbers(stirling(alpha) + stirling(beta) - stirling(alpha + beta)),
    }


@column_density.register
def _(distribution: BernoulliDistribution, j: int) -> dict[str, Any]:
    return {
        "family": "bernoulli",
        "cut": distribution.cut,
        "on": numbers(distribution.log_on[:, j]),
        "off": numbers(distribution.log_off[:, j]),
    }


@column_density.register
def _(distribution: HistogramDistribution, j: int) -> dict[str, Any]:
    return {
        "family": "histogram",
        "edges": numbers(distribution.edges[j]),
        "share": numbers(safe_log(distribution.share[j])),
    }


@column_density.register
def _(distribution: BestOfDistribution, j: int) -> dict[str, Any] | None:
    found: dict[str, Any] | None = column_density(distribution.members[j], 0)
    return found


@column_density.register
def _(distribution: CategoricalDistribution, j: int) -> dict[str, Any] | None:
    """Log probabilities by code: the levels, one that is new, and a gap, which says nothing."""
    if distribution.joint:
        return None
    table, new = distribution.log_tables[j], distribution.log_unseen[j]
    by_code = np.column_stack([table, new, np.zeros(len(table))])
    return {"family": "categorical", "table": numbers(by_code)}
