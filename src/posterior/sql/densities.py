"""Log densities of one column, family by family, as expressions.

A family is a function from a distribution, the place of a column and its cells to a `Density`, and a call of
`register_density`. The cells x are named and inside the support; where they are NULL, so must be the value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln
from sqlglot import exp

from posterior._linalg import FAR_APART
from posterior.families import (
    BernoulliDistribution,
    BetaDistribution,
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
from posterior.families.gamma import CLOSE, HALVES, stirling
from posterior.families.sums import about_mean, safe_log
from posterior.math import LOG_2PI
from posterior.sql.expressions import (
    Expression,
    above,
    add,
    at_least,
    below,
    both,
    case,
    equal,
    log,
    negative,
    number,
    ratio,
    size,
    square,
    subtract,
    times,
    total,
)
from posterior.sql.log_functions import deviation, log_gamma, log_one_plus, stirling_from
from posterior.sql.steps import Steps
from posterior.stats import Location


@dataclass(frozen=True)
class Density:
    """A log density under each class: `by_class`, and what all classes have in common, if anything.

    What is shared makes no difference to a posterior, where it would only cost digits.

    >>> from sqlglot import exp
    >>> even = Density([exp.Literal.number("-0.7"), exp.Literal.number("-0.7")])
    >>> [each.sql() for each in even.by_class]
    ['-0.7', '-0.7']
    """

    by_class: list[Expression]
    shared: Expression | None = None


class DensityWriter(Protocol):
    """Writes the log density of column `j` of a distribution at x."""

    def __call__(self, distribution: Any, j: int, x: Expression, steps: Steps) -> Density:
        """The log density; `steps.let` names what is used more than once."""


@dataclass(frozen=True)
class ColumnDensity:
    """How the log density of a column is written, and what says that a number is inside the support."""

    write: DensityWriter
    inside: Callable[[Expression], Expression] | None = None


_REGISTERED: dict[type, ColumnDensity] = {}


def register_density(
    distribution: type, write: DensityWriter, inside: Callable[[Expression], Expression] | None = None
) -> None:
    """Let `to_sql` write the columns of a distribution that is a product over columns.

    >>> from posterior.families import NormalDistribution
    >>> class Shifted(NormalDistribution):
    ...     pass
    >>> register_density(Shifted, density_of(NormalDistribution([[0.0]], [[1.0]])).write)
    """
    _REGISTERED[distribution] = ColumnDensity(write, inside)


def density_of(distribution: Any) -> ColumnDensity | None:
    """How the columns of a distribution are written, if that is known."""
    return next((_REGISTERED[kind] for kind in type(distribution).__mro__ if kind in _REGISTERED), None)


# -- numbers ------------------------------------------------------------------------------------------


def _normal(distribution: NormalDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """−½ (x−μ)²/σ² − ½ ln 2πσ²; linear in x where classes share the variance and are near."""
    location, variance = distribution.location[:, [j]], distribution.variance[:, j]
    sd = np.sqrt(variance)
    log_scale = -0.5 * (np.log(variance) + LOG_2PI)
    centre = location.average(np.full(len(sd), 1 / len(sd)))
    apart = (location - centre)[:, 0] / sd
    if (variance == variance[0]).all() and np.abs(apart).max() <= FAR_APART:
        z = _standard(steps, x, centre, 0, sd[0])
        linear = [add(times(number(a), z), number(-0.5 * a * a)) for a in apart.tolist()]
        return Density(linear, add(number(log_scale[0]), times(number(-0.5), square(z))))
    by_class = []
    for k, s in enumerate(sd.tolist()):
        z = _standard(steps, x, location[k], 0, s)
        by_class.append(add(number(log_scale[k]), times(number(-0.5), square(z))))
    return Density(by_class)


def _standard(steps: Steps, x: Expression, location: Location, j: int, scale: float) -> Expression:
    return deviation(steps, x, float(location.pivot[j]), float(location.remainder[j]), float(scale))


def _log_normal(distribution: LogNormalDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """The normal's at ln x, less ln x."""
    logs = steps.let("l", log(x))
    normal = _normal(distribution.log_normal, j, logs, steps)
    shared = negative(logs) if normal.shared is None else subtract(normal.shared, logs)
    return Density(normal.by_class, shared)


def _laplace(distribution: LaplaceDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """−|x−m|/b − ln 2b."""
    by_class = []
    for m, b in zip(distribution.location[:, j].tolist(), distribution.scale[:, j].tolist(), strict=True):
        z = deviation(steps, x, m, 0.0, b)
        by_class.append(subtract(number(-np.log(2 * b)), size(z)))
    return Density(by_class)


def _student_t(distribution: StudentTDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """C − (ν+1)/2 ln(1 + t²) with t = |x − location| / (s√ν); ln t² where the square is too large."""
    location, by_class = distribution.location[:, [j]], []
    for k, (s, nu) in enumerate(zip(distribution.scale[:, j], distribution.degrees[:, j], strict=True)):
        t = steps.let("t", size(_standard(steps, x, location[k], 0, s * np.sqrt(nu))))
        far = above(t, number(1e8))
        squared = steps.let("q", case((far, number(0.0)), otherwise=square(t)))
        logs = case((far, times(number(2.0), log(t))), otherwise=log_one_plus(steps, squared))
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * nu) - np.log(s)
        by_class.append(subtract(number(constant), times(number((nu + 1) / 2), logs)))
    return Density(by_class)


def _histogram(distribution: HistogramDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """The log of a bin's share and width, the same for all of it; outside it falls by 1 each tail."""
    edges = distribution.edges[j].tolist()
    bins = [*(below(x, number(edge)) for edge in edges), at_least(x, number(edges[-1]))]
    width = [distribution.tail[j, 0], *np.diff(edges), distribution.tail[j, 1]]
    flat = [number(-np.log(w)) for w in width]
    flat[0] = subtract(flat[0], times(subtract(number(edges[0]), x), number(1 / width[0])))
    flat[-1] = subtract(flat[-1], times(subtract(x, number(edges[-1])), number(1 / width[-1])))
    by_class = [
        case(*zip(bins, map(number, safe_log(share).tolist()), strict=True))
        for share in distribution.share[j]
    ]
    return Density(by_class, case(*zip(bins, flat, strict=True)))


# -- positive numbers, and shares ---------------------------------------------------------------------


def _exponential(distribution: ExponentialDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """−x/m − ln m."""
    means = distribution.mean[:, j].tolist()
    return Density([subtract(number(-np.log(m)), times(x, number(1 / m))) for m in means])


def _gamma(distribution: GammaDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """A (ln r − r + 1) − ln x + c(a) with r = x/m = 1 + d."""
    by_class = []
    constants = stirling(distribution.shape[:, j]).tolist()
    shapes, means = distribution.shape[:, j].tolist(), distribution.mean[:, j].tolist()
    for a, m, constant in zip(shapes, means, constants, strict=True):
        d = steps.let("d", times(subtract(x, number(m)), number(1 / m)))
        series: Expression = number(HALVES[-1])
        for term in HALVES[-2::-1].tolist():
            series = subtract(number(term), times(d, series))
        # ln(1 + d) − d: a difference of the two would have no digits left where the density is narrow.
        near = negative(times(steps.let("q", square(d)), series))
        far = subtract(log(times(x, number(1 / m))), d)
        excess = case((below(size(d), number(CLOSE)), near), otherwise=far)
        by_class.append(add(times(number(a), excess), number(constant)))
    return Density(by_class, negative(log(x)))


def _beta(distribution: BetaDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """α ln(x/m) + β ln((1−x)/(1−m)) − ln x − ln(1−x) + c, about the mean m."""
    alpha, beta = distribution.alpha[:, j], distribution.beta[:, j]
    log_x = steps.let("l", log(x))
    log_rest = steps.let("l", log_one_plus(steps, steps.let("n", negative(x))))
    constants = (stirling(alpha) + stirling(beta) - stirling(alpha + beta)).tolist()
    by_class = []
    for a, b, constant in zip(alpha.tolist(), beta.tolist(), constants, strict=True):
        of_x = times(number(a), subtract(log_x, number(np.log(a / (a + b)))))
        of_rest = times(number(b), subtract(log_rest, number(np.log(b / (a + b)))))
        by_class.append(total([of_x, of_rest, number(constant)]))
    return Density(by_class, negative(add(log_x, log_rest)))


# -- counts, and on or off ----------------------------------------------------------------------------


def _poisson(distribution: PoissonDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """X ln (λ / m) − (λ − m), of the mean m of the rates, and what all classes share: x ln m − m − ln x!."""
    orders = negative(log_gamma(steps, steps.let("y", add(x, number(1.0)))))
    rates = distribution.rate[:, [j]]
    logs, excess = about_mean(rates)
    by_class = [
        _poisson_terms(log_rate, beyond, x)
        for log_rate, beyond in zip(logs[:, 0].tolist(), excess[:, 0].tolist(), strict=True)
    ]
    mean = float((rates - excess)[0, 0])
    return Density(by_class, add(_poisson_rate(mean, x), orders) if mean > 0 else orders)


def _poisson_rate(rate: float, x: Expression) -> Expression:
    if rate == 0:
        return _poisson_terms(-np.inf, 0.0, x)
    return _poisson_terms(float(np.log(rate)), rate, x)


def _poisson_terms(log_rate: float, rate: float, x: Expression) -> Expression:
    """The count times a logarithm, less a rate; of a rate of zero no event is possible."""
    if log_rate == -np.inf:
        none = subtract(times(x, number(0.0)), number(rate))
        return case((above(x, number(0.0)), number(-np.inf)), otherwise=none)
    return subtract(times(x, number(log_rate)), number(rate))


def _negative_binomial(
    distribution: NegativeBinomialDistribution, j: int, x: Expression, steps: Steps
) -> Density:
    """Ln Γ(x+r)/(Γ(r) x!) (r/(r+m))ʳ (m/(r+m))ˣ, in an order in which large numbers do not cancel."""
    one = number(1.0)
    some = steps.let("s", case((above(x, number(0.0)), x), (equal(x, number(0.0)), one)))
    log_some = steps.let("l", log(some))
    means, dispersions = distribution.mean[:, j].tolist(), distribution.dispersion[:, j].tolist()
    by_class = []
    for m, dispersion in zip(means, dispersions, strict=True):
        if m == 0 or dispersion == 0:
            of_all = negative(log_gamma(steps, steps.let("y", add(x, one))))
            by_class.append(add(_poisson_rate(m, x), of_all))
            continue
        r = 1 / dispersion
        d = steps.let("d", times(subtract(x, number(m)), number(1 / (m + r))))
        far = subtract(log(add(x, number(r))), number(np.log(m + r)))
        logs = case((below(size(d), number(0.5)), log_one_plus(steps, d)), otherwise=far)
        change = steps.let("u", logs)
        if r < m:
            share = steps.let("e", ratio(number(r), some))
            of_each = subtract(log_one_plus(steps, share), number(np.log1p(r / m)))
        else:
            of_each = add(subtract(number(np.log(m)), log_some), change)
        rest = [
            stirling_from(steps, some, 0.0),
            negative(log_some),
            number(float(stirling(np.asarray(r)))),
            negative(stirling_from(steps, some, r)),
        ]
        bulk = add(times(number(r), change), times(x, of_each))
        by_class.append(add(bulk, case((above(x, number(0.0)), total(rest)), otherwise=number(0.0))))
    return Density(by_class)


def _bernoulli(distribution: BernoulliDistribution, j: int, x: Expression, steps: Steps) -> Density:
    """The log probability of on, or of off."""
    pairs = zip(distribution.log_on[:, j].tolist(), distribution.log_off[:, j].tolist(), strict=True)
    on = above(x, number(distribution.cut))
    off = exp.Not(this=exp.Paren(this=on))
    return Density([case((on, number(p)), (off, number(q))) for p, q in pairs])


# -- supports -----------------------------------------------------------------------------------------


def _is_positive(x: Expression) -> Expression:
    return above(x, number(0.0))


def _is_not_negative(x: Expression) -> Expression:
    return at_least(x, number(0.0))


def _is_between(x: Expression) -> Expression:
    return both(above(x, number(0.0)), below(x, number(1.0)))


def _is_count(x: Expression) -> Expression:
    return both(at_least(x, number(0.0)), equal(x, exp.Floor(this=x)))


register_density(NormalDistribution, _normal)
register_density(LogNormalDistribution, _log_normal, inside=_is_positive)
register_density(LaplaceDistribution, _laplace)
register_density(StudentTDistribution, _student_t)
register_density(HistogramDistribution, _histogram)
register_density(ExponentialDistribution, _exponential, inside=_is_not_negative)
register_density(GammaDistribution, _gamma, inside=_is_positive)
register_density(BetaDistribution, _beta, inside=_is_between)
register_density(PoissonDistribution, _poisson, inside=_is_count)
register_density(NegativeBinomialDistribution, _negative_binomial, inside=_is_count)
register_density(BernoulliDistribution, _bernoulli)
