"""An exponent for each column of naive Bayes, learnt on rows held out.

The log odds of a row are those of the priors and Σ w_j ln p(x_j | class). Given the terms of rows that the
densities have not seen, the log loss is convex in the weights. A penalty λ Σ (w_j / w − 1)² draws them to the
exponent w that all columns share; λ is chosen on held-out rows too, and an infinite one leaves them at w.
Zaidi, Cerquides, Carman & Webb (2013), Alleviating naive Bayes attribute independence assumption by attribute
weighting, Journal of machine learning research 14.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.bayes import log_normalized, with_prior
from posterior.dataset import Chunk, Rows, SomeRows
from posterior.generative.folds import estimated, rows_by_fold, training_parts
from posterior.generative.model import FittedBlock, GenerativeModel
from posterior.generative.spec import GenerativeSpec

# How strongly weights are drawn to the common one, from an infinite strength on.
PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0)
# The folds are put together to so many, by which the penalty is chosen.
PARTS = 3
# A log density ratio below this is as good as none.
LEAST_LOG = -700.0
# Terms of more rows than fit in so many numbers are not kept; every so many rows are.
MOST_TERMS = 20_000_000
MAX_ITER = 100

# A block of the composition, and a column of it that has a weight of its own; None where the block has one.
Group: TypeAlias = tuple[int, int | None]


@dataclass(frozen=True)
class HeldOutTerms:
    """Terms (n, T, K) of groups of columns; log priors (n, K), classes, weights and folds of the rows."""

    terms: Floats
    log_prior: Floats
    y: Ints
    weight: Floats
    fold: Ints

    def __add__(self, other: "HeldOutTerms") -> "HeldOutTerms":
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return HeldOutTerms(*(np.concatenate(pair) for pair in pairs))

    def of(self, rows: Bools) -> "HeldOutTerms":
        """Those of some rows."""
        return HeldOutTerms(*(part[rows] for part in vars(self).values()))

    def log_posterior(self, weights: Floats) -> Floats:
        """Log posteriors with these weights of the groups, (n, K)."""
        return log_normalized(with_prior(np.einsum("ntk,t->nk", self.terms, weights), self.log_prior))

    def loss(self, weights: Floats) -> float:
        """Σ −ln p(true class | row)."""
        return float(-self.weight @ self.log_posterior(weights)[np.arange(len(self.y)), self.y])

    def objective(self, weights: Floats, shared: float, penalty: float) -> tuple[float, Floats]:
        """The penalised loss and its gradient."""
        log_posterior, rows = self.log_posterior(weights), np.arange(len(self.y))
        apart = weights / shared - 1
        loss = -self.weight @ log_posterior[rows, self.y] + penalty * (apart**2).sum()
        residual = np.exp(log_posterior)
        residual[rows, self.y] -= 1
        residual *= self.weight[:, None]
        slope = np.einsum("ntk,nk->t", self.terms, residual)
        return float(loss), np.asarray(slope + 2 * penalty * apart / shared)

    def best(self, shared: float, penalty: float, start: Floats) -> Floats:
        """The weights of smallest penalised loss, none of them negative."""
        found = minimize(
            self.objective,
            start,
            args=(shared, penalty),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(start),
            options={"maxiter": MAX_ITER},
        )
        return np.asarray(found.x)


def with_column_weights(spec: GenerativeSpec, rows: Rows, classes: AnyArray, n_folds: int) -> GenerativeSpec:
    """A composition of which all but the weights is settled, with the weights that held-out rows ask for.

    `spec.weights` is the exponent that all columns share so far. Columns that are described together, and
    those of a sparse matrix, share one weight.
    """
    plain = replace(spec, weights=()).prepared(rows)
    parts = training_parts(plain, rows, classes, n_folds)
    models = {part.fold: estimated(plain, part) for part in parts}
    groups = sorted({group for model in models.values() for group in _groups(model)}, key=str)
    if not groups:
        return spec
    cells = rows.reduce(lambda chunk: chunk.n_rows, dense=1) * len(groups) * len(classes)
    step = -(-cells // MOST_TERMS)

    def held_out(chunk: Chunk) -> HeldOutTerms:
        parts = [
            _held_out(models[fold], groups, SomeRows(chunk, found[::step]))
            for fold, found in rows_by_fold(chunk.fold)
        ]
        return sum(parts[1:], parts[0])

    found = rows.reduce(held_out, dense=len(groups) * len(classes))
    weights = _learnt(found, spec.weights[0])
    by_column = np.full(len(rows.schema), spec.weights[0])
    for (i, column), weight in zip(groups, weights.tolist(), strict=True):
        by_column[list(spec.blocks[i].columns) if column is None else column] = weight
    return replace(spec, weights=tuple(by_column.tolist()), n_learnt_weights=len(groups))


def _learnt(found: HeldOutTerms, shared: float) -> Floats:
    """The weights under the penalty of smallest loss in rows that they were not learnt from.

    Penalties are tried from the strongest on, each from the weights of the one before, while the loss falls.
    """
    held = [found.fold % PARTS == part for part in range(PARTS)]
    held = [rows for rows in held if rows.any() and not rows.all()]
    equal = np.full(found.terms.shape[1], shared)
    weights, apart, least = equal, [equal] * len(held), found.loss(equal)
    for penalty in PENALTIES if held else ():
        apart = [
            found.of(~rows).best(shared, penalty, start) for rows, start in zip(held, apart, strict=True)
        ]
        loss = sum(found.of(rows).loss(w) for rows, w in zip(held, apart, strict=True))
        if not loss < least:
            break
        least, weights = loss, found.best(shared, penalty, weights)
    return weights


def _groups(model: GenerativeModel) -> list[Group]:
    """The groups of columns of a model that have one weight each."""
    out: list[Group] = []
    for i, block in enumerate(model.blocks):
        if block.distribution is not None:
            out += [(i, j) for j in block.columns] if _is_separable(block) else [(i, None)]
    return out


def _is_separable(block: FittedBlock) -> bool:
    """Whether each column has a weight of its own; binary features, often thousands, share one."""
    given = block.distribution
    return given is not None and given.separable and given.kind != "binary"


def _held_out(model: GenerativeModel, groups: Sequence[Group], chunk: Chunk) -> HeldOutTerms:
    """The terms of rows that a model has not seen, but for those of classes that it does not know."""
    place: Mapping[Group, int] = {group: t for t, group in enumerate(groups)}
    terms = np.zeros((chunk.n_rows, len(groups), model.n_classes))
    for i, block in enumerate(model.blocks):
        if block.distribution is None:
            continue
        cells = block.read(chunk)
        with np.errstate(over="ignore", invalid="ignore"):
            if _is_separable(block):
                where = [place[i, j] for j in block.columns]
                terms[:, where] = block.distribution.log_terms(cells)
            else:
                terms[:, place[i, None]] = block.distribution.log_relative(cells)
    with np.errstate(invalid="ignore"):  # what no class can have is left out
        terms -= terms.max(axis=2, keepdims=True)
    terms = np.where(np.isnan(terms), 0.0, np.maximum(terms, LEAST_LOG))
    weight = np.ones(chunk.n_rows) if chunk.weight is None else chunk.weight
    log_prior = np.tile(model.log_prior, (chunk.n_rows, 1))
    found = HeldOutTerms(terms, log_prior, chunk.y, weight, chunk.fold)
    return found.of(np.isfinite(model.log_prior)[chunk.y])
