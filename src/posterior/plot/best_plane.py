"""Which two columns of a table tell the classes apart best."""

import warnings
from itertools import combinations
from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.comparison.sampling import rows_to_show
from posterior.estimators.discriminant import GaussianDiscriminantAnalysis
from posterior.estimators.target import read_labels
from posterior.notices import PosteriorWarning
from posterior.plot.rows import continuous_columns, table_read_by
from posterior.schema import LabelledTable, read_table
from posterior.schema.classes import encode_labels

# Columns of which all pairs are tried, and rows that they are tried on.
MOST_COLUMNS = 10
MOST_ROWS = 5000
# Nats that a single row can cost at most: one row does not decide.
WORST = 20.0


def best_plane(X: Any, y: Any, *, estimator: Any = None) -> tuple[str, str]:
    """The two continuous columns that predict the class best, by leave-one-out log loss.

    Every pair is described by a Gaussian for each class, with its own covariance or one for all, whichever
    has the smaller leave-one-out log loss. A row with a gap in a pair is told nothing by it and costs what
    the priors cost. Of many columns only those that do best alone are paired, of many rows some. With an
    `estimator` the columns are those that it uses, read as it reads them. Columns without names are called
    x0, x1, ….

    >>> from sklearn.datasets import load_iris
    >>> best_plane(*load_iris(return_X_y=True))
    ('x2', 'x3')
    """
    source = read_table(X)
    labels = read_labels(y, source.n_rows, "best_plane")
    rows = LabelledTable.of(source, labels) if estimator is None else table_read_by(estimator, source)
    codes = encode_labels(labels)[1]
    a, b = best_pair(rows, continuous_columns(estimator, rows.schema), codes)
    return rows.schema.names[a], rows.schema.names[b]


def best_pair(rows: LabelledTable, columns: tuple[int, ...], codes: Ints) -> tuple[int, int]:
    """Positions of the best two of some continuous columns, in their order."""
    some = rows_to_show(codes, MOST_ROWS)
    values, codes = rows.values(columns)[some], encode_labels(codes[some])[1]
    places = [c for c, cells in enumerate(values.T) if len(np.unique(cells[~np.isnan(cells)])) > 1]
    if len(places) < 2:
        raise ValueError(
            f"a plane needs two continuous columns that are not constant, found {len(places)}; "
            "a DensityDisplay shows one, a ClassPanelDisplay columns of any kind"
        )
    if len(places) > MOST_COLUMNS:
        alone = {c: _log_loss(values[:, [c]], codes) for c in places}
        places = sorted(sorted(places, key=alone.__getitem__)[:MOST_COLUMNS])
    pairs = list(combinations(places, 2))
    losses = [_log_loss(values[:, pair], codes) for pair in pairs] if len(pairs) > 1 else [0.0]
    a, b = pairs[int(np.argmin(losses))]
    return columns[a], columns[b]


def _log_loss(values: Floats, codes: Ints) -> float:
    """Log loss of rows left out of Gaussians of these columns; rows with gaps cost what the priors cost."""
    priors = np.bincount(codes) / len(codes)
    losses = -np.log(priors[codes])
    there = np.flatnonzero(~np.isnan(values).any(axis=1))
    known, present = encode_labels(codes[there])
    if len(known) < 2:
        return float(losses.mean())
    X, rows = values[there], np.arange(len(there))
    tried = []
    for tied in (0.0, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PosteriorWarning)  # of columns that are a pair only here
            model = GaussianDiscriminantAnalysis(tied=tied).fit(X, present)
            logs = model.leave_one_out_log_proba(X, present)
        tried.append(np.minimum(-logs[rows, present], WORST))
    losses[there] = min(tried, key=np.sum)
    return float(losses.mean())
