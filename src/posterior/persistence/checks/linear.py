"""What must hold of linear models: coefficients are of columns that the table has."""

from typing import Any

import numpy as np

from posterior import kernels
from posterior.linear import Design
from posterior.linear.design import Factor
from posterior.linear.incremental import IncrementalFit
from posterior.linear.summary import Summary
from posterior.persistence.arrays import LARGEST_COEF, LARGEST_VALUE
from posterior.persistence.checks import are_places, refuse_unless
from posterior.persistence.checks.tables import LEVELS, check_classes, columns_at
from posterior.schema import Column

NAMES = ("term", "class")
MOST_ROWS = 2**53


def check_design(design: Design) -> None:
    """Numbers and factors are columns of the right kind, each used once; gaps and products are of numbers."""
    n, schema = len(design.numbers), design.schema
    used = (*design.numbers, *(factor.column for factor in design.factors))
    refuse_unless(used and are_places(used, len(schema)), "a column that is used twice, or not there")
    for column in columns_at(schema, design.numbers):
        number = column.categories is None and column.kind != "text" and not column.ignored
        refuse_unless(number, "a column that is read as a number and is none")
    for factor in design.factors:
        _check_factor(factor, schema.columns[factor.column])
        refuse_unless(design.fill is not None or not factor.gap, "gaps that nobody fills in")
    refuse_unless(are_places(design.gaps, n), "gaps of numbers that are not there")
    refuse_unless(design.fill is not None or not design.gaps, "gaps that nobody fills in")
    refuse_unless(design.fill is None or len(design.fill) == n, "other means than numbers")
    refuse_unless(all(0 <= i < n for pair in design.squares for i in pair), "products of what is not there")
    refuse_unless(design.centre is None or len(design.centre) == n, "other centres than numbers")
    refuse_unless(design.centre is not None or not design.squares, "products without a centre")


def _check_factor(factor: Factor, column: Column) -> None:
    codes = list(factor.seen)
    refuse_unless(column.categories is not None and not column.ignored, "a column without categories")
    refuse_unless(
        codes == sorted(set(codes)) and are_places(codes, column.size), "a category that is not there"
    )


def check_stream(stream: IncrementalFit) -> None:
    """There is a coefficient for each score and column, and perhaps a level; what is remembered fits it."""
    scores, d, state = stream.loss.n_scores, stream.n_features, stream.progress
    refuse_unless(stream.loss.n_classes > 1 and not stream.loss.symmetric and d >= 0, "scores of no classes")
    refuse_unless(len(stream.theta) in (scores * d, scores * (d + 1)), "other coefficients than columns")
    refuse_unless(0 <= stream.weight < np.inf, "rows of no weight")
    if state is not None:
        same = state.average is None or len(state.average) == len(stream.theta)
        sizes = (state.squares, state.longest)
        refuse_unless(same and all(0 <= size < np.inf for size in sizes), "an average of other coefficients")
        refuse_unless(
            all(0 <= n <= MOST_ROWS for n in (state.steps, state.rows)), "more rows than there can be"
        )


def check_summary(summary: Summary) -> None:
    """Every column of the table has a number, or a name, for each coefficient, and a title to be printed."""
    n = len(summary.covariance)
    refuse_unless("term" in summary.columns and summary.covariance.shape == (n, n), "a summary of nothing")
    refuse_unless(all(name.isprintable() for name in summary.figures), "figures that cannot be printed")
    for name, values in summary.columns.items():
        refuse_unless(values.shape == (n,), "a summary of other coefficients")
        refuse_unless(values.dtype == (object if name in NAMES else np.float64), "a summary without numbers")
        plain = name not in NAMES or all(isinstance(value, (*LEVELS, np.generic)) for value in values)
        refuse_unless(plain, "a summary of what is neither a term nor a class")


def check_coefficients(estimator: Any, n_scores: int) -> None:
    """Coefficients are finite, one for each score and column, both those that are used and those shown."""
    model, n_features = estimator.model_, estimator.design_.n_features
    refuse_unless(model.coef.shape == (n_scores, n_features), "other coefficients than columns or classes")
    shown = estimator.coef_ if estimator.coef_.ndim == 2 else estimator.coef_[None]
    refuse_unless(shown.shape == model.coef.shape, "two different sets of coefficients")
    refuse_unless(np.size(estimator.intercept_) == n_scores, "other intercepts than classes")
    numbers = shown.toarray() if kernels.is_sparse(shown) else shown
    for each in (numbers, estimator.intercept_, model.intercept):
        refuse_unless((np.abs(each) <= LARGEST_COEF).all(), "a coefficient that is not finite")
    fit = vars(estimator).get("fit_")
    refuse_unless(fit is None or fit.model.coef.shape == model.coef.shape, "a fit of other coefficients")


def check_logistic(estimator: Any) -> None:
    """One score for two classes, else one for each."""
    n_classes = len(estimator.classes_)
    _check_classifier(estimator, 1 if n_classes == 2 else n_classes)
    stream, weight = vars(estimator).get("stream_"), vars(estimator).get("weight_", 0.0)
    refuse_unless(stream is not None or 0 < weight < np.inf, "rows of no weight")
    if stream is not None:
        same = stream.loss.n_classes == n_classes and stream.n_features == estimator.design_.n_features
        refuse_unless(same, "a stream of other classes or columns")


def check_least_squares(estimator: Any) -> None:
    """One score for each class."""
    _check_classifier(estimator, len(estimator.classes_))


def _check_classifier(estimator: Any, n_scores: int) -> None:
    check_classes(estimator.classes_)
    refuse_unless(len(estimator.classes_) > 1, "one class only")
    refuse_unless(estimator.intercept_.ndim == 1 and estimator.coef_.ndim == 2, "coefficients of no classes")
    check_coefficients(estimator, n_scores)


def check_regression(estimator: Any) -> None:
    """One score, and noise of some size."""
    refuse_unless(estimator.coef_.ndim == 1, "coefficients of several scores")
    check_coefficients(estimator, 1)
    known = isinstance(estimator.noise, str) or estimator.noise.noise is not None
    scale = estimator.noise_scale_
    refuse_unless(0 <= scale <= LARGEST_VALUE if known else np.isnan(scale), "noise of no size")
    refuse_unless(0 < estimator.weight_ < np.inf, "rows of no weight")
