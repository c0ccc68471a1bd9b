"""Columns ranked by their mutual information with the class, in nats."""

import warnings

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.estimators.generative import GenerativeClassifier
from posterior.families import BagOfWords
from posterior.notices import PosteriorWarning
from posterior.schema import LabelledTable

BINS = 10
# Rows on which texts are tried.
MOST_TEXTS = 3000


def information(rows: LabelledTable, j: int, codes: Ints) -> float:
    """The mutual information of a column and the class, less what chance would show (Miller, 1955).

    Numbers are cut into ten bins of equal weight; a gap is a value of its own. Of a text it is what naive
    Bayes gains on rows held out.
    """
    kind = rows.schema.columns[j].kind
    if kind == "text":
        return _of_texts(rows.texts(j), codes)
    if rows.schema.columns[j].size:
        return mutual_information(rows.levels(j), codes)
    values = rows.values((j,))[:, 0]
    there = ~np.isnan(values)
    cuts = np.unique(np.quantile(values[there], np.arange(1, BINS) / BINS)) if there.any() else np.empty(0)
    return mutual_information(np.where(there, np.searchsorted(cuts, values, side="left"), -1), codes)


def mutual_information(values: AnyArray, codes: Ints) -> float:
    """Mutual information in nats of two columns of codes, less its bias (R−1)(K−1)/2n.

    >>> y = np.arange(1000) % 2
    >>> round(mutual_information(y, y), 3), round(mutual_information(np.zeros(1000), y), 3)
    (0.693, 0.0)
    """
    levels, place = np.unique(values, return_inverse=True)
    classes, of = np.unique(codes, return_inverse=True)
    shape = (len(levels), len(classes))
    joint = np.bincount(place.ravel() * shape[1] + of.ravel(), minlength=shape[0] * shape[1]) / len(codes)
    joint = joint.reshape(shape)
    even = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0
    found = float((joint[seen] * np.log(joint[seen] / even[seen])).sum())
    return found - (shape[0] - 1) * (shape[1] - 1) / (2 * len(codes))


def _of_texts(texts: list[str | None], codes: Ints) -> float:
    step = -(-len(texts) // MOST_TEXTS)
    some, of = as_column(texts[::step]), codes[::step]
    if len(np.unique(of)) < 2 or all(text is None for text in some[:, 0]):
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        model = GenerativeClassifier([(0, BagOfWords())], kinds={"x0": "text"})
        logs = model.k_fold_log_proba(some, of, 5)
    place = np.unique(of, return_inverse=True)[1]
    share = np.bincount(place) / len(of)
    own: Floats = logs[np.arange(len(of)), place]
    return float(np.maximum(own, np.log(1 / len(of))).mean() - share @ np.log(share))


def as_column(texts: list[str | None]) -> AnyArray:
    """Texts as a table of one column."""
    column = np.empty((len(texts), 1), dtype=object)
    column[:, 0] = texts
    return column
