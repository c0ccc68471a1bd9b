"""Studio pages of many kinds of models and tables, for tests and screenshots."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from posterior import (
    GaussianNB,
    GenerativeClassifier,
    LogisticRegression,
    NaiveBayes,
    SoftmaxRegression,
)
from posterior.datasets import load_penguins, load_pokemon, load_voters
from posterior.families import (
    Bernoulli,
    Beta,
    Categorical,
    Exponential,
    Gamma,
    KernelDensity,
    Laplace,
    LogNormal,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
)
from posterior.studio import Subject, subject_of

SIZES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def _subject(X: Any, y: Any, model: Any, **more: Any) -> Subject:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say of these tables is tested elsewhere
        return subject_of(X, y, model, names={"data": "table", "target": "class"}, **more)


def penguins(model: Any, **more: Any) -> Subject:
    table = load_penguins()
    return _subject(table.X, table.y, model, **more)


def mixed_table(n: int = 600, seed: int = 5) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of many kinds, some with gaps, and two classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n, p=[0.7, 0.3])
    on = y == "yes"
    X = pd.DataFrame(
        {
            "near": rng.normal(on * 0.7, 1 + 0.3 * on),
            "far": 1e6 + rng.normal(on * 0.5, 1.0),
            "wait": rng.exponential(1 + on),
            "size": rng.gamma(2 + on, 1.0),
            "price": rng.lognormal(0.3 * on, 0.6),
            "heavy": rng.standard_t(3, n) + 0.6 * on,
            "edge": rng.laplace(0.4 * on, 1.0),
            "count": rng.poisson(2 + on).astype(float),
            "crowd": rng.poisson(1e9 + 3e4 * on).astype(float),
            "burst": rng.negative_binomial(2, 0.4 - 0.1 * on).astype(float),
            "share": rng.beta(2 + on, 3.0),
            "humps": rng.normal(0.5 * on + 3 * rng.integers(0, 2, n), 1.0),
            "flag": (rng.random(n) < 0.3 + 0.2 * on).astype(float),
            "town": rng.choice(["a", "b", "c"], n, p=[0.2, 0.3, 0.5]),
        }
    )
    for name in ("near", "wait", "count", "town"):
        X.loc[rng.random(n) < 0.08, name] = None
    return X, y


def mixed() -> Subject:
    families = {
        "near": Normal(),
        "far": Normal(tied=True),
        "wait": Exponential(),
        "size": Gamma(),
        "price": LogNormal(),
        "heavy": StudentT(),
        "edge": Laplace(),
        "count": Poisson(),
        "crowd": Poisson(),
        "burst": NegativeBinomial(),
        "share": Beta(),
        "humps": KernelDensity(),  # which the page does not work out itself
        "flag": Bernoulli(),
        "town": Categorical(),
    }
    return _subject(*mixed_table(), NaiveBayes(families=families))


def large(n: int = 100_000, n_classes: int = 3) -> Subject:
    """So many rows, for measuring frames a second."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 4)) + np.eye(4)[y % 4] * 1.5
    return _subject(X, np.array([f"class {k}" for k in range(n_classes)])[y], GaussianNB())


def named_badly() -> Subject:
    """Names and levels that a page must not obey."""
    rng = np.random.default_rng(1)
    y = rng.choice(["</script><script>strange = 1</script>", "<img src=x onerror=strange=1>"], 80)
    X = pd.DataFrame(
        {
            "<script>strange = 1</script>": rng.normal(size=80),
            "\" onclick='strange=1'": rng.choice(["<b>bold</b>", "&lt;", "\u202egpj"], 80),
        }
    )
    return _subject(X, y, "naive-bayes", decision={"outliers": 0.1})


def block() -> Subject:
    model = GenerativeClassifier(
        [(SIZES, MultivariateNormal(tied=0.5)), (["island", "sex"], Categorical()), (["year"], Normal())]
    )
    return penguins(model)


def pokemon(model: str) -> Subject:
    table = load_pokemon()
    return _subject(table.X[::3], table.y[::3], model)


def voters(model: str, **more: Any) -> Subject:
    table = load_voters()
    return _subject(table.X, table.y, model, **more)


def tied() -> Subject:
    """Rows judged by a model to which both classes are the same: posteriors of exactly a half."""
    X = np.tile([-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0], 6)[:, None]
    model = GaussianNB().fit([[-2.0], [0.0], [0.0], [2.0]], ["left", "left", "right", "right"])
    return _subject(X, np.where(np.arange(len(X)) % 3, "left", "right"), model)


def many() -> Subject:
    """Nine classes, one of them rare."""
    rng = np.random.default_rng(9)
    y = np.concatenate([rng.integers(0, 8, 600), np.full(9, 8)])
    X = rng.normal(size=(len(y), 3)) + rng.normal(0, 1.5, (9, 3))[y]
    names = np.array([f"kind {k}" for k in range(9)])
    return _subject(pd.DataFrame(X, columns=["x0", "x1", "x2"]), names[y], GaussianNB())


def blobs(n_classes: int, n: int, n_columns: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(n_classes + n_columns)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, n_columns)) + rng.normal(0, 1, (n_classes, n_columns))[y]
    columns = [f"x{j}" for j in range(n_columns)]
    return pd.DataFrame(X, columns=columns), np.array([f"class {k}" for k in range(n_classes)])[y]


ODD_NAMES = (
    "<script>alert(1)</script>",
    "quo\"te's",
    "日本語クラス",
    "a" * 120,
    "right\u202eleft",
    " spaces ",
)
ODD_NAMES += ("a,b:c=d", "&amp;", "emoji 😀", "new\nline")


def oddly_named() -> Subject:
    X, y = blobs(10, 300, 2)
    return _subject(X, np.array(ODD_NAMES)[[int(name.split()[1]) for name in y]], "naive-bayes")


def with_gaps() -> Subject:
    X, y = blobs(3, 200, 4)
    rng = np.random.default_rng(0)
    X = X.mask(rng.random(X.shape) < 0.4).assign(nothing=np.nan, town=rng.choice(["a", "b", None], 200))
    return _subject(X, y, "naive-bayes")


def with_words() -> Subject:
    X, y = blobs(2, 200, 1)
    rng, words = np.random.default_rng(0), (["good", "fine"], ["bad", "poor"])
    said = [" ".join(rng.choice([*words[name == "class 1"], "the", "of"], 12)) for name in y]
    return _subject(X.assign(said=said), y, "naive-bayes")


ODD_PAGES: dict[str, Callable[[], Subject]] = {
    "thirty classes": lambda: _subject(*blobs(30, 900, 3), "naive-bayes"),
    "thirty classes, no rows": lambda: _subject(*blobs(30, 900, 3), "naive-bayes", rows=False),
    "odd names": oddly_named,
    "gaps": with_gaps,
    "one column": lambda: _subject(*blobs(3, 150, 1), "naive-bayes"),
    "wide": lambda: _subject(*blobs(2, 120, 300), "naive-bayes"),
    "words": with_words,
}

STUDIO_PAGES: dict[str, Callable[[], Subject]] = {
    "penguins": lambda: penguins("naive-bayes"),
    "voters": lambda: voters("naive-bayes"),
    "mixed": mixed,
    "lda": lambda: penguins("lda"),
    "qda": lambda: penguins("qda"),
    "block": block,
    "pokemon": lambda: pokemon("qda"),
    "logistic": lambda: _subject(*mixed_table(300), LogisticRegression(missing="indicator")),
    "softmax": lambda: penguins(SoftmaxRegression(missing="indicator")),
    "tied": tied,
    "many": many,
    "quadratic": lambda: penguins(LogisticRegression(missing="indicator", degree=2, C=1.0)),
}
