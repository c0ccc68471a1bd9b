"""A fitted model as plain data from which the page's script works out what each column says of a row."""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from posterior._text import printable
from posterior._types import AnyArray, Floats
from posterior.dataset import Chunk, Dataset
from posterior.decision.scaling import Scaling
from posterior.engines.local import LocalDataset
from posterior.estimators import DecisionClassifier
from posterior.estimators.generative_prediction import GenerativePrediction
from posterior.estimators.linear_probabilities import LinearProbabilities
from posterior.families import MultivariateNormalDistribution
from posterior.generative import FittedBlock, GenerativeModel
from posterior.linear import Design, LinearModel
from posterior.linear.additive_design import AdditiveDesign
from posterior.linear.scaled_design import ScaledDesign
from posterior.schema import Column, Schema, read_table
from posterior.studio.families import column_density, numbers

# A Gaussian block of more numbers than this is not written into a page.
MOST_COVARIANCES = 60_000
WORDS_SHOWN = 90


@dataclass(frozen=True, eq=False)
class RowTerms:
    """A model in the page, and what it cannot work out there: terms of the rows shown, by column (n, K)."""

    model: dict[str, Any]
    fixed: dict[int, Floats]


def page_model(fitted: DecisionClassifier, X: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A fitted classifier, and rows of its table as it reads them, both as plain data.

    Without rows (`X` is None) nothing is fixed, and columns that the script cannot describe are left out.
    """
    inner = fitted.estimator_
    adjustment = fitted._learnt.adjustment(fitted.calibration)
    if adjustment.calibration is not None and not isinstance(adjustment.calibration, Scaling):
        return {
            "why": f"calibration by {type(adjustment.calibration).__name__} is not worked out in a page"
        }, {}
    try:
        dataset = None if X is None else dataset_of(inner, X)
        found = terms_of(inner, dataset)
    except NotInPageError as error:
        return {"why": str(error)}, {}
    schema: Schema = inner.schema_
    used = used_columns(found)
    columns = [column_json(schema, j) for j in used]
    adjust: dict[str, Any] = {}
    if adjustment.calibration is not None:
        shift = adjustment.to_observed
        adjust = {
            "shift": None if shift is None else numbers(shift.log_new - shift.log_old),
            "weight": numbers(adjustment.calibration.weight),
            "bias": numbers(adjustment.calibration.bias),
        }
    model = {**found.model, "columns": columns, "adjust": adjust or None}
    rows = {} if dataset is None else {"cells": cells_of(schema, used, dataset), "fixed": _fixed(found)}
    return model, rows


class NotInPageError(ValueError):
    """A model of which the page works nothing out; the message says why."""


def dataset_of(inner: Any, X: Any) -> LocalDataset:
    """Rows as a model reads them."""
    if isinstance(inner, GenerativePrediction):
        return inner._dataset(X, reports_unseen=False)
    if isinstance(inner, LinearProbabilities):
        scan = inner._reading(X)
        return LocalDataset(
            inner.design_.schema, inner._encoded(read_table(X)), np.zeros(scan.n_rows, np.int64)
        )
    raise NotInPageError(_unknown(inner))


def _unknown(inner: Any) -> str:
    return (
        f"{type(inner).__name__} is not worked out in a page; naive Bayes, LDA, QDA and other generative "
        "models, logistic and softmax regression are"
    )


@singledispatch
def terms_of(inner: Any, dataset: Dataset | None) -> RowTerms:
    """The terms of a fitted classifier."""
    raise NotInPageError(_unknown(inner))


def used_columns(found: RowTerms) -> list[int]:
    """The columns of the table that a model looks at, in order."""
    blocks = found.model.get("blocks", [])
    used = {j for block in blocks for j in block["columns"]} | set(found.fixed)
    used |= {part["column"] for part in (*found.model.get("numbers", ()), *found.model.get("factors", ()))}
    return sorted(used)


# -- generative models --------------------------------------------------------------------------------


@terms_of.register
def _(inner: GenerativePrediction, dataset: Dataset | None) -> RowTerms:
    model: GenerativeModel = inner.model_
    blocks: list[dict[str, Any]] = []
    fixed: dict[int, Floats] = {}
    for block, distribution in model.distributions:
        weights = model.weight_of(block)
        if not weights.any():
            continue
        compared = distribution.in_single() if model.schema.are_single(block.columns) else distribution
        known, unknown = _described(block, compared, weights)
        blocks += known
        if unknown and dataset is not None:
            terms = dataset.map(_terms(block, distribution), dense=len(block.columns))
            for place in unknown:
                fixed[block.columns[place]] = weights[place] * terms[:, place]
    return RowTerms({"kind": "generative", "logPrior": numbers(model.log_prior), "blocks": blocks}, fixed)


def _described(
    block: FittedBlock, distribution: Any, weights: Floats
) -> tuple[list[dict[str, Any]], list[int]]:
    """What the script knows of a block, and the places of columns that it knows nothing of."""
    every = list(range(len(block.columns)))
    if isinstance(distribution, MultivariateNormalDistribution):
        large = distribution.covariance.size > MOST_COVARIANCES
        return ([], every) if large else ([_gaussian(block, distribution, float(weights[0]))], [])
    if block.reads not in ("codes", "values", "matrix"):
        return [], every
    known, unknown = [], []
    for place, j in enumerate(block.columns):
        found = column_density(distribution, place)
        if found is None:
            unknown.append(place)
        else:
            reads = "code" if block.reads == "codes" else "value"
            known.append({**found, "columns": [j], "reads": reads, "weight": float(weights[place])})
    return known, unknown


def _gaussian(
    block: FittedBlock, distribution: MultivariateNormalDistribution, weight: float
) -> dict[str, Any]:
    return {
        "family": "multivariate_normal",
        "columns": list(block.columns),
        "reads": "value",
        "weight": weight,
        "pivot": numbers(distribution.location.pivot),
        "remainder": numbers(distribution.location.remainder),
        "covariance": numbers(distribution.covariance),
    }


def _terms(block: FittedBlock, distribution: Any) -> Any:
    """Log densities by column; what belongs to no column is shared out evenly."""

    def terms(chunk: Chunk) -> Floats:
        base = distribution.log_base / len(block.columns)
        return np.asarray(distribution.log_terms(block.read(chunk)) + base)

    return terms


# -- linear models ------------------------------------------------------------------------------------


@terms_of.register
def _(inner: LinearProbabilities, dataset: Dataset | None) -> RowTerms:
    design, model = inner.design_, inner._current
    if isinstance(design, AdditiveDesign):
        raise NotInPageError("the curves of an additive model are not worked out in a page")
    if isinstance(design, ScaledDesign):
        model = design.unscaled(model)
    return RowTerms(_linear(design, model.of_every_class), {})


def _linear(design: Design, model: LinearModel) -> dict[str, Any]:
    """Scores level + Σ coef (x − centre), with what stands for a gap, tables of factors, and products."""
    first_mark = len(design.numbers) + sum(f.width for f in design.factors)
    marks = {i: first_mark + place for place, i in enumerate(design.gaps)}
    found: list[dict[str, Any]] = []
    for i, j in enumerate(design.numbers):
        mark = marks.get(i)
        found.append(
            {
                "column": j,
                "coef": numbers(model.coef[:, i]),
                "centre": float(model.centre[i]),
                "fill": None if design.fill is None else float(design.fill[i]),
                "mark": None if mark is None else numbers(model.coef[:, mark]),
                "markCentre": 0.0 if mark is None else float(model.centre[mark]),
                "middle": None if design.centre is None else float(design.centre[i]),
            }
        )
    factors, at = [], len(design.numbers)
    for factor in design.factors:
        columns = slice(at, at + factor.width)
        coef, centre = model.coef[:, columns], model.centre[columns]
        size = design.schema.columns[factor.column].size
        table = np.repeat(-(coef @ centre)[:, None], size + 2, axis=1)
        table[:, list(factor.levels)] += coef[:, : len(factor.levels)]
        if factor.gap:
            table[:, -1] += coef[:, -1]
        factors.append({"column": factor.column, "table": numbers(table)})
        at += factor.width
    first = model.coef.shape[1] - len(design.squares)
    products = [
        {
            "of": list(pair),
            "coef": numbers(model.coef[:, first + p]),
            "centre": float(model.centre[first + p]),
        }
        for p, pair in enumerate(design.squares)
    ]
    return {
        "kind": "linear",
        "level": numbers(model.level),
        "numbers": found,
        "factors": factors,
        "products": products,
        "gaps": design.fill is not None,
    }


# -- rows and columns ---------------------------------------------------------------------------------


def column_json(schema: Schema, j: int) -> dict[str, Any]:
    """What the page knows of a column: name, kind and levels."""
    column: Column = schema.columns[j]
    levels = column.levels
    return {
        "place": j,
        "name": printable(column.name),
        "kind": column.kind,
        "levels": None if levels is None else [printable(level) for level in levels],
        "whole": column.storage == "integer" or column.kind == "count",
    }


def cells_of(schema: Schema, used: list[int], dataset: Dataset) -> list[list[Any]]:
    """The cells of rows by column: numbers, codes of levels (the number of levels for a new one), texts."""
    found: list[list[Any]] = []
    for j in used:
        column: Column = schema.columns[j]
        found.append(_column_cells(column, j, dataset))
    return found


def _column_cells(column: Column, j: int, dataset: Dataset) -> list[Any]:
    def texts(chunk: Chunk) -> AnyArray:
        return np.asarray(chunk.texts((j,))[:, 0])

    def codes(chunk: Chunk) -> AnyArray:
        return np.asarray(chunk.codes((j,)).array[:, 0])

    def values(chunk: Chunk) -> AnyArray:
        return np.array(chunk.values((j,))[:, 0])

    if column.kind == "text":
        found = dataset.map(texts, dense=1)
        return [None if text is None else printable(str(text)[:WORDS_SHOWN]) for text in found]
    if column.levels is not None:
        return [None if code < 0 else int(code) for code in dataset.map(codes, dense=1)]
    return [None if np.isnan(value) else float(value) for value in dataset.map(values, dense=1)]


def _fixed(found: RowTerms) -> dict[str, Any]:
    return {str(j): numbers(terms) for j, terms in found.fixed.items()}
