"""Standard errors: the covariance of the coefficients of the user's columns."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.linalg import LinAlgError, lapack, solve_triangular

from posterior._linalg import EPSILON, whitener
from posterior._types import AnyArray, Bools, Floats
from posterior.linear.basis import Basis, moments
from posterior.linear.losses import Loss, pairs
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.stats.base import ColumnFact
from posterior.stats.scatter import Scatter

Kind: TypeAlias = Literal["model", "sandwich", "HC1"]
# The inverse of a larger matrix than this takes minutes and gigabytes.
MOST_COEFFICIENTS = 10_000


@dataclass(frozen=True, eq=False)
class Estimates:
    """Coefficients (R, p) of the free scores, the intercept at x = 0 first, and their covariance (Rp, Rp).

    Columns that are constant or depend on earlier ones are aliased: NaN, and the others are those of the
    table without them, whose scores are the same. `spread` is the standard deviation of every column, NaN for
    the intercept; `weight` the total weight of the rows, `rank` how many coefficients were free, and `value`
    the loss Σ w ℓ without any penalty.
    """

    coef: Floats
    covariance: Floats
    spread: Floats
    facts: tuple[ColumnFact, ...]
    weight: float
    rank: float
    value: float

    @property
    def error(self) -> Floats:
        """The standard errors, (R, p)."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)).reshape(self.coef.shape)

    @property
    def aliased(self) -> Bools:
        """Which coefficients stand for nothing that the others do not say, (p,)."""
        return np.asarray(np.isnan(self.coef[0]))

    @property
    def df(self) -> float:
        """The degrees of freedom that are left: total weight less free coefficients."""
        return self.weight - self.rank


def estimates(objective: Objective, theta: Floats, kind: Kind = "model") -> Estimates:
    """The coefficients at the optimum θ of an unpenalised objective, or of Firth's, and their covariance.

    With the mean information H = (1/W) Σ w x ∂²ℓ x', the model says H⁻¹/W, times the residual variance for a
    normal target. The sandwich H⁻¹ B H⁻¹/W with B = (1/W) Σ w x ∂ℓ ∂ℓ' x' holds where the model does not
    (Huber, 1967; White, 1980); HC1 is W/(W − p) times as large, p counting the coefficients of all scores
    (MacKinnon & White, 1985). A row of weight 2 is two rows.
    """
    _checked(objective, kind)
    seen = moments(objective.scan)
    here, kept = _identified(objective, seen)
    place = _moved(objective, theta, here, kept, seen)
    weight, rank = float(seen.weight[0]), here.size
    value = here.slope(place).loss * weight
    noise = _dispersion(here.loss, value, weight - rank)
    half = half_inverse(here.curvature(place))
    table = _as_read(here.basis, kept)
    if kind == "model":
        read = _in_blocks(table, half * np.sqrt(noise / weight), here)
        covariance = read @ read.T
    else:
        meat = replace(here, loss=_OuterSlopes(here.loss)).curvature(place)
        read = _in_blocks(table, half, here)
        covariance = read @ (half.T @ meat @ half) @ read.T / weight
        covariance = (covariance + covariance.T) / 2
        if kind == "HC1":
            covariance *= weight / degrees_of_freedom(weight - rank)
    coef = place.reshape(here.shape) @ table.T
    return Estimates(
        coef=_with_gaps(coef.ravel(), kept, here).reshape(here.n_scores, -1),
        covariance=_with_gaps(_with_gaps(covariance, kept, here).T, kept, here),
        spread=_spread(seen, here.basis.intercept),
        facts=here.basis.facts,
        weight=weight,
        rank=rank,
        value=value,
    )


# -- what has no standard errors ------------------------------------------------------------------


def _checked(objective: Objective, kind: str) -> None:
    """Refuse what has no standard errors."""
    if kind not in get_args(Kind):
        raise ValueError(f"covariance={kind!r} is not known; choose from {', '.join(get_args(Kind))}")
    loss, penalty = objective.loss, objective.penalty
    if not loss.has_standard_errors:
        raise ValueError(
            f"{type(loss).__name__} has no curvature to tell standard errors from; use normal noise, "
            "or fit samples of the rows (the bootstrap)"
        )
    if not penalty.free:
        found = " and ".join(f"{name} = {size:.3g}" for name, size in _sizes(penalty) if size)
        remedy = "fit without a penalty" + (
            ' (C=np.inf), or with penalty="firth", which has standard errors' if loss.has_jeffreys else ""
        )
        ridge = "" if penalty.l1 else "; summary() without covariance= tells the posterior of a ridge"
        raise ValueError(
            f"the fit is penalised ({found}): coefficients are pulled towards 0 by an amount that no "
            f"standard error knows of, so p-values and intervals would be meaningless; {remedy}{ridge}"
        )
    size = objective.n_scores * (objective.scan.n_features + objective.basis.intercept)
    if size > MOST_COEFFICIENTS:
        raise ValueError(
            f"there are {size} coefficients, and standard errors need the inverse of a matrix with as many "
            f"rows; choose columns so that there are at most {MOST_COEFFICIENTS}"
        )


def _sizes(penalty: ElasticNet) -> tuple[tuple[str, float], ...]:
    return ("l1", penalty.l1), ("l2", penalty.l2)


def degrees_of_freedom(df: float) -> float:
    """Degrees of freedom, which must be positive."""
    if df > 0:
        return df
    raise ValueError(
        f"{df:g} degrees of freedom are left to judge the noise by (total weight less coefficients); use "
        "more rows or fewer columns, and mind that a weight counts how often a row was seen"
    )


# -- the coordinates ------------------------------------------------------------------------------


def _identified(objective: Objective, seen: Scatter) -> tuple[Objective, list[int]]:
    """The objective without a penalty, on columns none of which depends on others, and which those are."""
    n_rows, intercept = objective.scan.n_rows, objective.basis.intercept
    basis = Basis.whitened(seen, n_rows, intercept)
    gone = {fact.column for fact in basis.facts}
    kept = [j for j in range(objective.scan.n_features) if j not in gone]
    if n_rows <= len(kept) + intercept:
        raise ValueError(
            f"{n_rows} rows cannot tell {len(kept) + intercept} coefficients and their errors; use more rows "
            "or fewer columns"
        )
    if not kept and not intercept:
        raise ValueError("every column is zero in all rows, so there is nothing to summarise; pass others")
    directions = np.zeros((objective.scan.n_features, len(kept)))
    try:
        if kept:
            directions[kept] = whitener(_covariance(seen, intercept)[np.ix_(kept, kept)])[0]
    except LinAlgError as error:
        raise ValueError(
            "columns depend on each other to rounding, so that their coefficients cannot be told apart; "
            "leave some out"
        ) from error
    basis = replace(basis, directions=directions)
    return Objective(objective.scan, objective.loss.identified(), ElasticNet(), basis), kept


def _covariance(seen: Scatter, intercept: bool) -> Floats:
    """The covariance of the columns, about zero where there is no intercept."""
    mean = seen.location.value[0]
    covariance: Floats = seen.scatter[0] / seen.weight[0]
    return covariance if intercept else covariance + np.outer(mean, mean)


def _moved(objective: Objective, theta: Floats, here: Objective, kept: list[int], seen: Scatter) -> Floats:
    """The same scores in the coordinates of `here`: what an aliased column says is said by the others."""
    coef, level = objective.free(theta)
    if len(coef) > here.n_scores:  # a score for every class: hold them against the first
        coef, level = coef[1:] - coef[0], level[1:] - level[0]
    level = level + coef @ (here.basis.centre - objective.basis.centre)
    gone = [fact.column for fact in here.basis.facts]
    directions = here.basis.directions[kept]
    place = solve_triangular(directions, coef[:, kept].T).T
    shared = _covariance(seen, here.basis.intercept)[np.ix_(gone, kept)]
    place = place + coef[:, gone] @ shared @ directions
    return np.hstack([place, level[:, None]] if here.basis.intercept else [place]).ravel()


def _as_read(basis: Basis, kept: list[int]) -> Floats:
    """T, with T·(coordinates, level) = the intercept at x = 0 and the coefficients of the kept columns."""
    directions = basis.directions[kept]
    if not basis.intercept:
        return directions
    r = basis.n_coordinates
    table = np.zeros((r + 1, r + 1))
    table[0, :r], table[0, r] = -(basis.centre @ basis.directions), 1.0
    table[1:, :r] = directions
    return table


def _in_blocks(table: Floats, half: Floats, here: Objective) -> Floats:
    """T applied to every score's rows of a matrix, which has as many rows as θ."""
    return np.asarray(table @ half.reshape(*here.shape, -1)).reshape(-1, half.shape[1])


def _with_gaps(rows: AnyArray, kept: list[int], here: Objective) -> Floats:
    """Rows for all coefficients of every score, NaN for the aliased ones."""
    first = int(here.basis.intercept)
    places = [*range(first), *(first + j for j in kept)]
    out = np.full((here.n_scores, here.scan.n_features + first, *rows.shape[1:]), np.nan)
    out[:, places] = rows.reshape(here.n_scores, len(places), *rows.shape[1:])
    return out.reshape(-1, *rows.shape[1:])


def _spread(seen: Scatter, intercept: bool) -> Floats:
    spread = np.sqrt(np.diagonal(_covariance(seen, True)))
    return np.concatenate([[np.nan], spread]) if intercept else spread


# -- the parts of the covariance ------------------------------------------------------------------


def half_inverse(hessian: Floats) -> Floats:
    """M with M M' = H⁻¹, factored on the correlation scale."""
    diagonal = np.diagonal(hessian)
    if (diagonal > 0).all():
        unit = 1.0 / np.sqrt(diagonal)
        factor, info = lapack.dpotrf(hessian * unit[:, None] * unit, lower=1)
        if info == 0 and float(np.diagonal(factor).min(initial=1.0)) ** 2 > len(hessian) * EPSILON:
            return np.asarray(unit[:, None] * lapack.dtrtri(factor, lower=1)[0].T)
    raise ValueError(
        "the information about the coefficients is singular: fitted probabilities are 0 or 1 wherever one of "
        'them matters, as when classes are separated; use penalty="firth", or leave out what separates them'
    )


def _dispersion(loss: Loss, value: float, df: float) -> float:
    """What multiplies the inverse information; degrees of freedom must be left where it is estimated."""
    return loss.dispersion(value, degrees_of_freedom(df) if loss.estimates_dispersion else df)


@dataclass(frozen=True)
class _OuterSlopes(Loss):
    """A loss with ∂ℓ/∂η_a ∂ℓ/∂η_b in place of its curvature: the same on average, if the model holds."""

    of: Loss

    @property
    def n_scores(self) -> int:
        return self.of.n_scores

    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        return self.of.slope(scores, target, weight)

    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        slope = self.of.slope(scores, target, None)[1]
        out = np.array([slope[a] * slope[b] for a, b in pairs(self.n_scores)])
        return out if weight is None else out * weight
