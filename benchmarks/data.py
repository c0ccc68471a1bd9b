"""Tables to learn from, drawn with a fixed seed, and the forms in which a user may hold them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

Draw = Callable[[int, int, int], tuple[Any, np.ndarray]]

LEVELS = 8
WORDS_A_ROW = 60
LINKS_A_ROW = 50


def _labels(rng: np.random.Generator, n: int, K: int) -> np.ndarray:
    """Class numbers, each of them at least once where there are enough rows."""
    y = rng.integers(0, K, n)
    y[: min(n, K)] = np.arange(min(n, K))
    return y


def numbers(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, whose means grow with the class; neighbours are one standard deviation apart."""
    rng = np.random.default_rng(0)
    y = _labels(rng, n, K)
    X = rng.normal(size=(n, d))
    X += y[:, None] / np.sqrt(d)
    return X, y


def bits(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Zeros and ones, as floats."""
    rng = np.random.default_rng(0)
    y = _labels(rng, n, K)
    return (rng.random((n, d)) < 0.2 + (0.5 / K) * y[:, None]).astype(np.float64), y


def categories(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes of eight levels; every other class prefers the lower ones."""
    rng = np.random.default_rng(0)
    y = _labels(rng, n, K)
    X = rng.integers(0, LEVELS, size=(n, d))
    return X // (1 + y[:, None] % 2), y


def categorical_columns(d: int) -> range:
    """Which columns of `mixed` are categories: the second half."""
    return range(d // 2, d)


def mixed(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Half the columns normal, half of them codes of categories, in one array of floats."""
    X, y = numbers(n, d, K)
    codes = categorical_columns(d)
    X[:, codes.start :] = categories(n, len(codes), K)[0]
    return X, y


def with_gaps(share: float) -> Draw:
    """`numbers` with some cells missing at random."""

    def draw(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = numbers(n, d, K)
        X[np.random.default_rng(1).random(X.shape) < share] = np.nan
        return X, y

    return draw


def texts(n: int, d: int, K: int) -> tuple[Any, np.ndarray]:
    """Counts of `d` words in CSR form, 60 different ones a row; later classes prefer words further on."""
    rng = np.random.default_rng(0)
    y = _labels(rng, n, K)
    stored = min(WORDS_A_ROW, d)
    power = 3.0 - y / K
    share = rng.random((n, stored)) ** power[:, None]
    words = np.sort((share * (d - stored)).astype(np.int32), axis=1) + np.arange(stored, dtype=np.int32)
    counts = rng.integers(1, 4, n * stored).astype(np.float64)
    bounds = np.arange(0, n * stored + 1, stored, dtype=np.int32)
    return sparse.csr_array((counts, words.ravel(), bounds), shape=(n, d)), y


def easy(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Well-behaved columns for logistic regression: normal classes of one covariance."""
    rng = np.random.default_rng(0)
    y = _labels(rng, n, K)
    return rng.normal(size=(K, d))[y] + rng.normal(size=(n, d)), y


def hard(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns spanning 1e-2…1e3, with t₄ tails, correlated."""
    rng = np.random.default_rng(0)
    Z = rng.standard_t(4, size=(n, d))
    scale = np.logspace(-2, 3, d)
    X = Z @ rng.normal(size=(d, d)) * scale + 5 * scale
    return X, (Z @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)


def links(n: int, d: int, K: int) -> tuple[Any, np.ndarray]:
    """A sparse table of 50 numbers a row, and two classes that depend on all columns."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, d, (n, LINKS_A_ROW), dtype=np.int32), axis=1).ravel()
    bounds = np.arange(0, n * LINKS_A_ROW + 1, LINKS_A_ROW, dtype=np.int32)
    X = sparse.csr_array((rng.random(n * LINKS_A_ROW), columns, bounds), shape=(n, d))
    return X, (X @ rng.normal(size=d) * 3 + rng.logistic(size=n) > 0).astype(int) + 0 * K


def _columns(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "pandas": lambda X: pd.DataFrame(_columns(X)),
    "polars": lambda X: pl.DataFrame(_columns(X)),
    "float32": lambda X: np.ascontiguousarray(X, dtype=np.float32),
}


def nbytes(X: Any) -> int:
    """Bytes that a table takes."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    if isinstance(X, pl.DataFrame):
        return int(X.estimated_size())
    return int(X.memory_usage(index=False).sum()) if isinstance(X, pd.DataFrame) else int(X.nbytes)
