"""How uncertain the effect of a column is: the posterior spread of what all that is made of it adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from posterior import kernels
from posterior._types import Floats, Ints
from posterior.linear.inference import half_inverse
from posterior.linear.objective import Objective
from posterior.linear.scan import RowBlock

# The largest Hessian that is inverted for them, in coefficients: a second or two.
LARGEST = 2_000
# Cells of the covariances of all columns together that a model keeps.
MOST_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class EffectCovariance:
    """The posterior covariance of the coefficients of one column's numbers, those of the first score first.

    `numbers` are their places among the numbers of a row.
    """

    numbers: tuple[int, ...]
    covariance: Annotated[Floats, "p p any"]


def effect_covariances(
    objective: Objective, theta: Floats, made_of: Sequence[tuple[int, ...]], weight: float
) -> tuple[EffectCovariance, ...]:
    """The covariance for each column of the table, under the prior that the ridge stands for.

    `weight` is that of all rows, of which the objective may have some. Empty where coefficients are too many
    for their Hessian to be inverted, or the rows determine too little.
    """
    groups: dict[int, list[int]] = {}
    for feature, columns in enumerate(made_of):
        if len(columns) == 1:
            groups.setdefault(columns[0], []).append(feature)
    R, p = objective.n_scores, objective.basis.n_coordinates
    cells = sum((R * len(features)) ** 2 for features in groups.values())
    if objective.size > LARGEST or cells > MOST_CELLS:
        return ()
    try:
        half = half_inverse(objective.curvature(theta))
    except ValueError:
        return ()
    half /= np.sqrt(weight)
    by_score = half.reshape(*objective.shape, -1)[:, :p]
    turn = objective.basis.coef(np.eye(p))  # (p, d): what a coordinate adds to the coefficients
    found = []
    for features in groups.values():
        part = np.einsum("rpk,pf->rfk", by_score, turn[:, features]).reshape(R * len(features), -1)
        found.append(EffectCovariance(tuple(features), part @ part.T))
    return tuple(found)


def effect_errors(
    covariances: Sequence[EffectCovariance], block: RowBlock, centre: Floats, contrasts: Floats
) -> Floats:
    """Standard errors (m, columns, C) of what each column adds to the scores of rows."""
    out = np.empty((len(block.target), len(covariances), len(contrasts)))
    for at, one in enumerate(covariances):
        features: Ints = np.array(one.numbers, dtype=np.int64)
        X = block.matrix[:, features]
        z = (X.toarray() if kernels.is_sparse(X) else X) - centre[features]
        for c, contrast in enumerate(contrasts):
            spread = np.kron(contrast[None], z)
            variance = np.einsum("ij,ij->i", spread @ one.covariance, spread)
            out[:, at, c] = np.sqrt(np.maximum(variance, 0.0))
    return out
