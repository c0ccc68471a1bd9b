"""Rows that are answered in one pass: from any layout, however wide, and without memory that grows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from posterior import (
    QDA,
    BernoulliNB,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    families,
    threads,
)
from posterior.estimators.precision import in_double
from posterior.kernels import memory, row_scores
from posterior.kernels.choice import using


def posteriors(d, table):
    rng = np.random.default_rng(0)
    shift = rng.normal(size=(2, d))
    scores = row_scores.normal_scores(np.ones((2, d)), shift, np.zeros((2, d)), np.zeros(d), np.zeros(d))
    out = np.zeros((len(table), 2))
    with using("compiled"):
        scores.answer(table, np.log([0.5, 0.5]), out, "log posteriors")
    return out


def test_a_copy_too_large_to_be_kept_lives_until_its_rows_are_answered(monkeypatch):
    monkeypatch.setattr(memory, "LARGEST", 1 << 15)
    d = 5000
    rows = np.random.default_rng(1).normal(size=(64, d))
    apart = np.repeat(rows, 2, axis=1)[:, ::2]  # neither by rows nor by columns
    np.testing.assert_array_equal(posteriors(d, apart), posteriors(d, rows))


def test_tables_of_many_lengths_leave_little_behind():
    rows = np.random.default_rng(2).normal(size=(300, 3))
    for n in range(1, 300):
        posteriors(3, np.asfortranarray(rows[:n]))
    assert row_scores._places.cache_info().currsize <= 64


@pytest.mark.parametrize("model", [GaussianNB, QDA])
def test_columns_too_small_for_factors_of_single_precision(model):
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=500)
    X = (1e-42 * (rng.normal(size=(500, 3)) * 100 + 100 * y[:, None])).astype(np.float32)
    fitted = model().fit(X, y)
    with using("compiled"):
        found = fitted.predict_log_proba(X)
    with in_double(), using("reference"):
        np.testing.assert_allclose(found, fitted.predict_log_proba(X), rtol=1e-5, atol=1e-5)


def rows_with_gaps(kind, far):
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=700)
    X = rng.normal(size=(700, 6)) * [1, 1, 1e3, 1e-3, 1, 1] + 1e4 * np.arange(6)
    X[:, 0] += far * y
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:5] = np.nan
    return X.astype(kind), y


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("far", [1.0, 1e3])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("kind", "close"), [(np.float64, 1e-10), (np.float32, 2e-5)])
def test_missing_cells_of_independent_columns_are_left_out(order, far, tied, n_classes, kind, close):
    X, y = rows_with_gaps(kind, far)
    some = y < n_classes
    X, y = np.asarray(X[some], order=order), y[some]
    model = NaiveBayes(tied=tied, weights=1.0).fit(X, y)
    X = X.copy(order)
    X[7, 1], X[100, 2] = np.inf, -np.inf
    asked = model.predict_proba, model.predict_log_proba, model.predict
    for ask in asked:
        with using("compiled"), np.errstate(invalid="ignore"):
            found = ask(np.delete(X, [7, 100], axis=0))
        with using("reference"), in_double():
            expected = ask(np.delete(X, [7, 100], axis=0))
        if ask == model.predict:
            assert (found == expected).all()
        else:
            np.testing.assert_allclose(found, expected, rtol=close, atol=close)
    with using("compiled"), pytest.raises(ValueError, match="inf"):
        model.predict_proba(X)


def test_rows_with_gaps_are_answered_where_they_are_read():
    X, y = rows_with_gaps(np.float64, 1.0)
    model = NaiveBayes(tied=False, weights=1.0).fit(X, y)
    scores = model.model_.distributions[0][1].row_scores
    out = np.zeros((len(X), 3))
    with using("compiled"):
        parts = scores.answers_of_parts(np.ascontiguousarray(X), np.zeros(3), out, "posteriors", 256)
        parts.run(2)
        far = replace(scores, absent=scores.absent * 1e9)
        left = far.answers_of_parts(np.ascontiguousarray(X), np.zeros(3), out, "posteriors", 256)
        left.run(2)
    assert parts.odd_parts() == []
    assert left.odd_parts() == [0, 1, 2]
    np.testing.assert_allclose(out.sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("d", "far"), [(1, 60.0), (12, 60.0), (20, 10.0), (20, 900.0), (200, 4.0)])
def test_no_digits_are_lost_where_nearly_all_of_a_row_is_missing(d, far, tied):
    rng = np.random.default_rng(6)
    y = rng.integers(3, size=3_000)
    X = rng.normal(size=(len(y), d + 1)) + 1e3 + y[:, None] * np.append(0.3, np.full(d, far))
    model = NaiveBayes(tied=tied, weights=1.0).fit(X, y)
    X[:, 1:] = np.nan
    with using("compiled"):
        found = model.predict_log_proba(X)
    with using("reference"):
        np.testing.assert_allclose(found, model.predict_log_proba(X), rtol=2e-12, atol=2e-12)


DISCRETE = {
    "on or off": families.Bernoulli(threshold=0.5),
    "amount": families.Multinomial(),
    "count": families.Poisson(),
    "without smoothing": families.Poisson(alpha=0),
    "never on": families.Bernoulli(threshold=0.5, alpha=0),
}


def discrete_rows(n_classes, kind):
    rng = np.random.default_rng(7)
    y = np.arange(1_000) % n_classes
    X = rng.poisson(0.2 + rng.random((n_classes, 11))[y] * 2.0).astype(kind)
    X[y == 0, 3] = 0.0  # an event that the first class never has
    return X, y


def discrete_model(name):
    everything = list(range(11))
    # Declared so, since a column of counts refuses other numbers when it is read.
    kinds = [(everything, "continuous")]
    return GenerativeClassifier([(everything, DISCRETE[name])], kinds=kinds)


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_classes", [2, 3, 12])
@pytest.mark.parametrize(("kind", "close"), [(np.float64, 1e-12), (np.float32, 3e-7)])
@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@pytest.mark.filterwarnings("ignore::posterior.notices.OutsideSupportWarning")
def test_discrete_cells_are_what_they_mean(name, order, n_classes, kind, close):
    X, y = discrete_rows(n_classes, kind)
    model = discrete_model(name).fit(X, y)
    rng = np.random.default_rng(8)
    X = np.asarray(X, order=order)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[5:300:50, 2], X[6:300:50, 4] = -3.0, 0.75  # no counts, but some an amount or on
    X[400:470, 1] = np.nan  # more than a few rows of a tile
    for ask in (model.predict_proba, model.predict_log_proba, model.predict):
        with using("compiled"):
            found = ask(X)
        with using("reference"), in_double():
            expected = ask(X)
        assert found.dtype == (kind if found.ndim == 2 else y.dtype)
        np.testing.assert_allclose(found, expected, rtol=close, atol=close)
    for infinite in (np.inf, -np.inf):
        X[77, 5] = infinite
        with using("compiled"), pytest.raises(ValueError, match="inf"):
            model.predict_proba(X)


def test_rows_in_single_precision_with_gaps_are_answered_in_double_precision():
    X, y = rows_with_gaps(np.float32, 1.0)
    scores = NaiveBayes(tied=False, weights=1.0).fit(X, y).model_.distributions[0][1].row_scores
    out = np.full((len(X), 3), np.nan, np.float32)
    with using("compiled"):
        assert scores.answer(X, np.zeros(3), out, "posteriors").any()
        odd = scores.answer_with_gaps(X, np.zeros(3), out, "posteriors")
    assert odd is not None
    assert not odd.any()
    np.testing.assert_allclose(out.sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, csr_array])
@pytest.mark.parametrize("mode", ["reference", "compiled"])
@pytest.mark.parametrize(
    "family", [families.Poisson(), families.Multinomial()], ids=lambda f: type(f).__name__
)
@pytest.mark.parametrize(("rate", "d"), [(10.0, 20), (1e3, 100), (1e5, 250), (1e7, 250)])
def test_large_counts_of_classes_that_are_almost_alike_lose_no_digits(rate, d, family, mode, layout):
    rng = np.random.default_rng(0)
    n = 400
    y = np.arange(n) % 2
    rates = rate * (1.0 + np.array([[0.0], [1.0]]) * rng.normal(size=d) * 0.1 / np.sqrt(rate))
    X = rng.poisson(rates[y]).astype(np.float64)
    model = GenerativeClassifier([(list(range(d)), family)]).fit(X, y)
    ((_, distribution),) = model.model_.distributions
    is_poisson = isinstance(family, families.Poisson)
    a, b = (distribution.rate if is_poisson else distribution.probability).astype(np.longdouble)
    odds = X.astype(np.longdouble) @ np.log1p((b - a) / a) - ((b - a).sum() if is_poisson else 0.0)
    with using(mode):
        logs = model.predict_log_proba(layout(X))
    likely = logs.min(axis=1) > -20.0  # of which both have all their digits
    assert likely.sum() > 100
    # Of a sum of terms x · (λ₂ − λ₁) / λ₁, of either sign, the last digits.
    digits = np.finfo(np.float64).eps * np.sqrt(rate) * d
    np.testing.assert_allclose(
        (logs[:, 1] - logs[:, 0])[likely], odds[likely].astype(float), rtol=0, atol=digits
    )


@pytest.mark.parametrize("alpha", [1.0, 1e-10, 1e-300])
def test_features_that_are_nearly_always_on_lose_no_digits(alpha):
    rng = np.random.default_rng(9)
    X = (rng.random((3_000, 256)) < 0.998).astype(float)
    X[:3] = 1.0
    model = BernoulliNB(alpha=alpha).fit(X, np.arange(3_000) % 3)
    logs = np.stack([model.model_.distributions[0][1].log_off, model.feature_log_prob_]).astype(np.longdouble)
    joint = X @ (logs[1] - logs[0]).T + logs[0].sum(axis=1) + model.class_log_prior_
    with using("compiled"):
        found = model.predict_joint_log_proba(X), model.predict_log_proba(X)
    peak = joint.max(axis=1, keepdims=True)
    exact = joint - peak - np.log(np.exp(joint - peak).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found[0].astype(np.longdouble), joint, rtol=1e-13, atol=2e-12)
    np.testing.assert_allclose(found[1].astype(np.longdouble), exact, rtol=1e-13, atol=2e-12)


@pytest.mark.parametrize(("n_classes", "d"), [(64, 256), (65, 256), (64, 257)])
def test_many_classes_or_columns_are_products_of_matrices(n_classes, d):
    scores = row_scores.discrete_scores(np.zeros((n_classes, d)), np.zeros(n_classes), "amount")
    assert (scores is None) == (n_classes > 64 or d > 256)


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
@pytest.mark.parametrize("model", [MultinomialNB(), discrete_model("count")])
def test_an_infinite_number_is_an_error_and_nothing_is_said_of_values_that_no_class_can_have(model, infinite):
    X, y = discrete_rows(3, np.float64)
    model.fit(X, y)
    X[5, 2] = infinite
    for mode in ("compiled", "reference"):
        with using(mode), pytest.raises(ValueError, match="contains infinity"):
            model.predict(X)  # a warning would be another error here


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("order", ["C", "F"])
def test_discrete_cells_have_the_same_bits_for_any_threads(name, order):
    X, y = discrete_rows(3, np.float32)
    model = discrete_model(name).fit(X, y)
    rows = np.asarray(np.tile(X, (90, 1)), order=order)
    with threads(1):
        expected = model.predict_log_proba(np.tile(X, (90, 1)))
    with threads(3):
        np.testing.assert_array_equal(model.predict_log_proba(rows), expected)
