"""Log posteriors as the rules take them: checked once, never repaired."""

from typing import Any

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Floats, Ints
from posterior.math import NOT_ONE


def log_probabilities(probabilities: Any) -> Floats:
    """Check probabilities (n, K) and return their logarithms; a probability of zero is −inf.

    >>> log_probabilities([[0.25, 0.75], [0.0, 1.0]]).round(3)
    array([[-1.386, -0.288],
           [  -inf,  0.   ]])
    """
    proba = _matrix(probabilities, "probabilities")
    _refuse_nan(proba, "probabilities")
    outside = (proba < 0) | (proba > 1 + NOT_ONE)
    if outside.any():
        row, k = np.argwhere(outside)[0].tolist()
        hint = "; these look like logs: pass them as they are" if (proba <= 0).all() else ""
        raise ValueError(
            f"probabilities lie between 0 and 1, found {proba[row, k]:g} in row {row}, column {k}{hint}"
        )
    _refuse_sums(proba)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(proba))


def checked(log_posterior: Any, n_classes: int | None = None) -> Floats:
    """Log posteriors ln p(class | row), (n, K), refused unless every row sums to one within 1e-6.

    A log of −inf is a probability of zero. Nothing is renormalised.
    """
    logs = _matrix(log_posterior, "log posteriors")
    if n_classes is not None and logs.shape[1] != n_classes:
        raise ValueError(
            f"log posteriors have {logs.shape[1]} columns, expected {n_classes}, one for each class"
        )
    # What is nearly always so is asked first and quickly; NaN fails the first question.
    if logs.max(initial=-np.inf) <= NOT_ONE and (np.abs(_sums(np.exp(logs)) - 1.0) <= NOT_ONE).all():
        return logs
    _refuse_nan(logs, "log posteriors")
    if (logs > NOT_ONE).any():
        row, k = np.argwhere(logs > NOT_ONE)[0].tolist()
        raise ValueError(
            f"the log of a probability is not positive, found {logs[row, k]:g} in row {row}, column {k}; "
            "if these are probabilities, pass posterior.decision.log_probabilities(p)"
        )
    _refuse_sums(np.exp(logs))
    return logs


def likeliest(logs: Floats) -> Ints:
    """The position of the largest log posterior of each row, (n,), the first of equals."""
    best = np.empty(len(logs), dtype=np.int64)
    kernels.best(np.ascontiguousarray(logs), np.zeros(logs.shape[1]), best)
    return best


def class_codes(y: Any, n_classes: int, classes: Any = None) -> Ints:
    """Positions of the true classes: of labels among `classes`, or codes 0 … K−1 where none are named."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y holds one class for each row, found an array of shape {labels.shape}")
    if classes is None:
        if labels.dtype.kind not in "iu" or (
            len(labels) and not 0 <= labels.min() <= labels.max() < n_classes
        ):
            raise ValueError(
                f"without `classes`, y holds class codes from 0 to {n_classes - 1}, found "
                f"{_few(labels)}; pass classes=model.classes_ to use labels"
            )
        return labels.astype(np.int64)
    named = class_names(classes, n_classes)
    where = {label: k for k, label in enumerate(named)}
    values, places = labels.tolist(), None
    if labels.dtype.kind != "O":
        distinct, places = np.unique(labels, return_inverse=True)
        values = distinct.tolist()
    unknown = sorted({repr(v) for v in values if v not in where})
    if unknown:
        raise ValueError(f"y holds {', '.join(unknown[:3])}, expected one of the classes {named}")
    codes = np.array([where[v] for v in values], dtype=np.int64)
    return codes if places is None else np.asarray(codes[places])


def class_names(classes: Any, n_classes: int) -> list[Any]:
    """The labels of the classes in the order of the columns; their positions where none are named."""
    if classes is None:
        return list(range(n_classes))
    names = np.asarray(classes).tolist() if isinstance(classes, np.ndarray) else list(classes)
    if len(names) != n_classes or len(set(names)) != n_classes:
        raise ValueError(
            f"classes must name {n_classes} different classes, one for each column, found {names}"
        )
    return names


def same_rows(n_rows: int, **arrays: AnyArray | None) -> None:
    """Refuse arrays that do not have one entry for each row."""
    for name, array in arrays.items():
        if array is not None and len(array) != n_rows:
            raise ValueError(f"{name} has {len(array)} entries for {n_rows} rows; pass one for each row")


def row_weights(sample_weight: Any, n_rows: int) -> Floats:
    """How often each row counts, (n,): once where no weights are given; refused unless some row counts."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight)
    if weight.ndim != 1 or weight.dtype.kind not in "fiub":
        raise ValueError(
            f"sample_weight holds one number for each row, found {weight.dtype} of shape {weight.shape}"
        )
    same_rows(n_rows, sample_weight=weight)
    weight = weight.astype(np.float64)
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"sample_weight: {bad.sum()} of {len(weight)} rows are negative, NaN or infinite, first row "
            f"{row} ({weight[row]:g}); a weight must be finite and not negative: drop the row, or give it 0"
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count")
    return weight


def _matrix(values: Any, what: str) -> Floats:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.shape[1] < 1:
        raise ValueError(
            f"{what} must have shape (rows, classes), also for two classes; found {matrix.shape}"
        )
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"{what} must be numbers, found {matrix.dtype} values")
    return matrix.astype(np.float64, copy=False)


def _refuse_nan(matrix: Floats, what: str) -> None:
    if np.isnan(matrix).any():
        row = int(np.isnan(matrix).any(axis=1).argmax())
        raise ValueError(
            f"{what} must not be NaN: {np.isnan(matrix).any(axis=1).sum()} of {len(matrix)} rows are, "
            f"first row {row}; leave these rows out, or see why the model gives no answer"
        )


def _sums(proba: Floats) -> Floats:
    """Sums of rows; a product is much faster than a sum along short rows."""
    return np.asarray(proba @ np.ones(proba.shape[1]))


def _refuse_sums(proba: Floats) -> None:
    off = np.abs(_sums(proba) - 1.0) > NOT_ONE
    if off.any():
        row = int(off.argmax())
        raise ValueError(
            f"probabilities of a row must sum to 1 (within {NOT_ONE:g}): {off.sum()} of {len(proba)} rows do "
            f"not, first row {row} (sum {proba[row].sum():g}); normalise them first if you mean to, for "
            "logs by posterior.math.log_softmax"
        )


def _few(labels: AnyArray) -> str:
    shown = [repr(v) for v in list(dict.fromkeys(labels.tolist()))[:3]]
    return ", ".join(shown) + (", …" if len(set(labels.tolist())) > 3 else "")
