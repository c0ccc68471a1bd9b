"""Laws of probabilities, for every estimator, kind of table, weights and gaps, and numbers of any size.

Probabilities are finite, sum to one, belong to the class that is predicted, and are those of the row alone.
Where that cannot be computed, the row and the column are named with a remedy.
"""

import re
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

import hostile_tables as hostile
from posterior import LDA, DecisionClassifier, GaussianDiscriminantAnalysis, NaiveBayes, OutlierRule

CLASSIFIERS = {
    name: model
    for name, model in hostile.ESTIMATORS.items()
    if is_classifier(model) and not isinstance(model, OutlierRule) and name != "LeastSquaresClassifier"
}
DISCRETE = ("BernoulliNB", "MultinomialNB", "CategoricalNB", "Poisson", "NegativeBinomial", "Multinomial")
NO_GAPS = "contains NaN|NaN in|gaps in a joint|is fitted to complete|missing values"
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)

N = 40
RNG = np.random.default_rng(11)
Y = np.concatenate([[0, 1, 2], RNG.integers(0, 3, N - 3)])
COUNTS = RNG.poisson(2 + Y[:, None], (N, 3)).astype(float)
NUMBERS = np.exp(0.5 * RNG.normal(size=(N, 3)) + 0.4 * Y[:, None])
HALF = RNG.random((N, 3)) < 0.5
LABELS = np.array(["ash", "birch", "cedar"])
TABLES = {
    "array": lambda X: X,
    "Fortran array": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "frame": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
    "nullable frame": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]).convert_dtypes(),
    "sparse": sparse.csr_array,
}
WEIGHTS = {
    "none": None,
    "whole": RNG.integers(1, 4, N),
    "posteriors": 10.0 ** -RNG.choice([0.0, 3.0, 200.0, 320.0], N),
    "heavy": 1e40 * RNG.random(N),
    "light": 1e-40 * RNG.random(N),
}


def rows_for(name):
    if name == "Beta":
        return NUMBERS / (1 + NUMBERS)  # shares
    return COUNTS if name in DISCRETE else NUMBERS


def quietly(work):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        return work()


def refusal(work):
    """Why something was refused with a ValueError; nothing where it was done."""
    try:
        quietly(work)
    except ValueError as error:
        return str(error)
    return ""


def one_row(X, i):
    return X.iloc[[i]] if isinstance(X, pd.DataFrame) else X[[i]]


def hold_to_the_law(model, X):
    """Finite, summing to one, of the class predicted, and the same for a row alone.

    Sums of three probabilities round by no more than a few units of 1e-16, or of 6e-8 in single precision. A
    row alone and one among others may be worked through by different code, in another order of
    sums: scores differ by their rounding, 1e-13 of the largest term.
    """
    proba, logs = quietly(lambda: model.predict_proba(X)), quietly(lambda: model.predict_log_proba(X))
    assert np.isfinite(proba).all()
    assert not np.isnan(logs).any()
    single = proba.dtype == np.float32
    little, share = (3e-7, 1e-5) if single else (1e-12, 1e-9)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=little)
    np.testing.assert_allclose(np.exp(logs), proba, rtol=share, atol=little)
    if not isinstance(model, DecisionClassifier):
        predicted = quietly(lambda: model.predict(X))
        best = proba.max(axis=1) - proba[np.arange(len(proba)), np.searchsorted(model.classes_, predicted)]
        assert (best <= little).all()
    for i in (0, len(proba) // 2, len(proba) - 1):
        alone = quietly(lambda: model.predict_proba(one_row(X, i)))[0]
        slack = little + 1e-13 * quietly(lambda: hostile._size(model, one_row(X, i)))
        np.testing.assert_allclose(alone, proba[i], rtol=0, atol=slack)


@pytest.mark.crossed
@every_classifier
@pytest.mark.parametrize("table", TABLES)
def test_every_kind_of_table_gives_probabilities(name, table):
    X = TABLES[table](rows_for(name))
    model = clone(CLASSIFIERS[name])
    if table == "sparse" and ("degree 2" in name or name == "AdditiveClassifier"):
        with pytest.raises(ValueError, match=r"(degree=2|curves) would fill a sparse table"):
            model.fit(X, LABELS[Y])
        return
    hold_to_the_law(quietly(lambda: model.fit(X, LABELS[Y])), X)


@pytest.mark.crossed
@every_classifier
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_kind_of_weights_gives_probabilities(name, weights):
    X, weight = rows_for(name), WEIGHTS[weights]
    model = clone(CLASSIFIERS[name])
    if name == "MixtureOfNormals" and weights not in ("none", "whole"):
        with pytest.raises(ValueError, match=r"takes whole numbers|repeats rows"):
            model.fit(X, Y, sample_weight=weight)
        return
    hold_to_the_law(quietly(lambda: model.fit(X, Y, sample_weight=weight)), X)


@pytest.mark.crossed
@every_classifier
@pytest.mark.parametrize("place", ["one cell", "a column", "a row", "half"])
def test_gaps_give_probabilities_or_a_refusal_that_says_so(name, place):
    X = rows_for(name).copy()
    places = {"one cell": (3, 1), "a column": (slice(None), 1), "a row": 3, "half": HALF}
    X[places[place]] = np.nan
    model = clone(CLASSIFIERS[name])
    why = refusal(lambda: model.fit(X, Y))
    if why:
        assert re.search(NO_GAPS, why), why
        quietly(lambda: model.fit(rows_for(name), Y))
    why = refusal(lambda: hold_to_the_law(model, X))
    assert not why or re.search(NO_GAPS, why), why


SIZES = [1e-300, 1e-155, 1e-100, 1e-40, 1e40, 1e100, 1e155, 1.7e308 / 8]


@pytest.mark.crossed(each=2)
@every_classifier
@pytest.mark.parametrize("size", SIZES)
def test_numbers_of_any_size_give_probabilities_or_a_refusal_with_row_column_and_remedy(name, size):
    plain = rows_for(name) / rows_for(name).max() * 8
    one_row_of_it = np.where(np.arange(N)[:, None] == 7, size, 1.0) * plain
    for training, later in ((plain, one_row_of_it), (plain * size, plain * size), (one_row_of_it, plain)):
        model = clone(CLASSIFIERS[name])
        why = refusal(lambda: model.fit(training, Y)) or refusal(lambda: hold_to_the_law(model, later))
        assert not why or re.search(r"columns? '?x\d", why), why
        assert not why or re.search("rescale|StandardScaler|missing|another", why), why
        assert not why or re.search(r"row \d+|columns |takes", why), why


@every_classifier
def test_a_row_that_is_refused_among_others_is_refused_alone_and_no_other_is(name):
    model = quietly(lambda: clone(CLASSIFIERS[name]).fit(rows_for(name), Y))
    X = rows_for(name).copy()
    X[5, 1] = 1.7e308
    why = refusal(lambda: model.predict_proba(X))
    if why:
        assert re.search("'x1(\\^2)?'.* row 5|x0 x1", why), why
        assert "row 0" in refusal(lambda: model.predict_proba(X[[5]]))
        X = np.delete(X, 5, axis=0)
    hold_to_the_law(model, X)


LINEAR = {
    "NaiveBayes tied": NaiveBayes(tied=True, weights=1.0),
    "LDA": LDA(),
    "GDA diagonal": GaussianDiscriminantAnalysis(tied=1.0, shape="diagonal"),
}


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("far", [1e2, 1e6, 1e10, 1e14])
@pytest.mark.parametrize("name", LINEAR)
def test_log_odds_of_classes_that_share_their_variance_keep_their_digits_far_out(name, far, offset):
    """Their squares cancel: ln odds = ((x − m₀)² − (x − m₁)²) / 2s², here in fractions."""
    x = offset + RNG.normal(size=40) + np.repeat([0.0, 1.0], 20)
    y = np.repeat([0, 1], 20)
    exact = [Fraction(value) for value in x.tolist()]
    means = [sum(exact[:20]) / 20, sum(exact[20:]) / 20]
    variance = sum((value - means[k]) ** 2 for value, k in zip(exact, y, strict=True)) / 40
    model = clone(LINEAR[name]).fit(x[:, None], y)
    low, high = model.predict_log_proba([[far]] * 20)[0].tolist()
    odds = ((Fraction(far) - means[0]) ** 2 - (Fraction(far) - means[1]) ** 2) / (2 * variance)
    assert high - low == pytest.approx(float(odds), rel=1e-13)


@every_classifier
def test_every_classifier_has_a_decision_function_that_agrees_with_its_probabilities(name):
    if name == "MultinomialNB":
        assert not hasattr(CLASSIFIERS[name], "decision_function")
        return
    for labels in (Y, np.minimum(Y, 1)):
        model = clone(CLASSIFIERS[name])
        quietly(lambda model=model, labels=labels: model.fit(rows_for(name), labels))
        scores = quietly(lambda model=model: model.decision_function(rows_for(name)))
        logs = quietly(lambda model=model: model.predict_log_proba(rows_for(name)))
        if logs.shape[1] == 2:
            np.testing.assert_allclose(scores, logs[:, 1] - logs[:, 0], rtol=1e-9, atol=1e-9)
        else:  # up to a term of the row
            apart = scores - scores[:, :1] - (logs - logs[:, :1])
            np.testing.assert_allclose(apart / (1 + np.abs(scores).max()), 0.0, atol=1e-9)
