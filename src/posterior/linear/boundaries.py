"""The scores of a linear model as functions of numeric columns: linear, or quadratic with products."""

import numpy as np

from posterior._text import listed
from posterior._types import Floats
from posterior.forms import QuadraticScores
from posterior.linear.design import Design
from posterior.linear.model import LinearModel


def quadratic_scores(model: LinearModel, design: Design) -> QuadraticScores:
    """Log posteriors of complete rows, up to a term of the row, as quadratic functions of their numbers.

    A model of two classes has one score, that of the second against the first, whose own is zero then. With
    z = x − m, m the means that products are counted from, a product is z_a z_b.
    """
    if not design.polynomial:
        raise ValueError(
            "curves have no equation of a line or a conic; DecisionRegionDisplay draws their boundary, and "
            "LogisticRegression(degree=2) has one that can be written down"
        )
    if design.factors:
        names = [design.schema.columns[factor.column].name for factor in design.factors]
        raise ValueError(
            f"column {listed(names)}: categories are no numbers; boundaries are known for models of numeric "
            "columns only: leave the column out (columns=…), or fit the rows of each category by themselves"
        )
    n, n_products = len(design.numbers), len(design.squares)
    coef, level = model.coef, model.level
    if len(coef) == 1:
        coef, level = np.vstack([np.zeros_like(coef), coef]), np.concatenate([[0.0], level])
    centre = model.centre[:n] if design.centre is None else design.centre
    # At the centre numbers are `centre`, and indicators of gaps and products zero.
    there = np.concatenate([centre, np.zeros(model.coef.shape[1] - n)])
    linear, square = coef[:, :n], np.zeros((len(coef), n, n))
    for weight, (i, j) in zip(coef[:, coef.shape[1] - n_products :].T, design.squares, strict=True):
        square[:, i, j] += weight / 2
        square[:, j, i] += weight / 2
    return QuadraticScores(
        centre=centre,
        quadratic=square,
        linear=linear,
        constant=level + coef @ (there - model.centre),
        scale=_scale(linear, square),
        columns=tuple(design.schema.columns[j].name for j in design.numbers),
    )


def _scale(linear: Floats, square: Floats) -> Floats:
    """How far one must go along each number for the scores to change by about 1; 1 where they never do."""
    steep = np.abs(linear).max(axis=0)
    bent = np.sqrt(np.abs(np.diagonal(square, axis1=1, axis2=2)).max(axis=0))
    fastest = np.maximum(steep, bent)
    return np.where(fastest > 0, 1 / np.where(fastest > 0, fastest, 1.0), 1.0)
