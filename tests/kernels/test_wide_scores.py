"""Scores of many classes, normalized row by row, are those of the reference; products of matrices too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from posterior import LDA, GaussianNB, LogisticRegression, threads
from posterior.kernels import WideScores, best, posteriors, row_linear_scores
from posterior.kernels.choice import using


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 20),
    n_classes=st.integers(48, 200),
    size=st.sampled_from([1.0, 30.0, 400.0, 1e5]),
    impossible=st.sampled_from([0.0, 0.3]),
)
def test_many_classes_are_normalized_as_by_the_reference(seed, n, n_classes, size, impossible):
    rng = np.random.default_rng(seed)
    joint = rng.normal(size=(n, n_classes)) * size
    joint[rng.random(joint.shape) < impossible] = -np.inf
    joint[0] = joint[0, 0]  # equals, or a row that no class can have
    prior = np.log(rng.dirichlet(np.ones(n_classes)))
    for logs in (False, True):
        want, found = joint.copy(), joint.copy()
        with using("reference"):
            fine = posteriors(want, prior, logs=logs)
        with using("compiled"):
            assert posteriors(found, prior, logs=logs) == fine == bool(np.isfinite(joint).all())
        assert_allclose(found, want, rtol=1e-14 if not logs else 1e-13, atol=1e-318)
    before, code = joint.copy(), {}
    joint.flags.writeable = False
    for mode in ("reference", "compiled"):
        code[mode] = np.empty(n, np.int64)
        with using(mode):
            best(joint if mode == "compiled" else joint.copy(), prior, code[mode])
    assert_array_equal(code["compiled"], code["reference"])
    assert_array_equal(joint, before)


def test_posteriors_of_many_classes_reach_the_smallest_numbers_there_are():
    joint = np.zeros((64, 50))
    joint[:, 1:] = -np.linspace(600, 800, 64)[:, None]
    found = joint.copy()
    with using("compiled"):
        posteriors(found, np.zeros(50), logs=False)
    assert_allclose(found[:, 1:], np.exp(joint[:, 1:]), rtol=1e-13, atol=1e-323)


def wide(d, n_classes, offset=0.0):
    rng = np.random.default_rng(0)
    coef, level, pivot = rng.normal(size=(d, n_classes)), rng.normal(size=n_classes), np.full(d, offset)
    return WideScores(coef, level, pivot, np.zeros(d)), row_linear_scores(coef, level, pivot, np.zeros(d))


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "K"), [(70, 11, 53), (300, 520, 64), (1, 300, 9), (129, 8, 8)])
def test_answers_of_a_product_are_those_of_sums_in_registers(n, d, K, offset, layout, kind):
    product, sums = wide(d, K, offset)
    X = layout(np.random.default_rng(1).normal(size=(n, d)).round(3) + offset)
    prior = np.full(K, -np.log(K))
    for answer in ("posteriors", "log posteriors", "scores", "best"):
        outs = [np.empty(n, np.int64) if answer == "best" else np.empty((n, K), kind) for _ in range(2)]
        with using("compiled"):
            for scores, out in zip((product, sums), outs, strict=True):
                assert not len(scores.answer(X, prior, out, answer))
        rtol = 1e-9 if kind == np.float64 else 1e-5
        assert_allclose(*outs, rtol=rtol, atol=rtol)


def test_rows_of_a_product_that_are_not_finite_are_odd_and_no_others():
    X, out = np.random.default_rng(2).normal(size=(40, 11)), np.empty((40, 53))
    X[3, 1], X[17, 0], X[39, 10] = np.nan, np.inf, -np.inf
    with using("compiled"):
        odd = wide(11, 53)[0].answer(X, np.zeros(53), out, "posteriors")
    assert_array_equal(np.flatnonzero(odd), [3, 17, 39])


def test_a_class_that_no_row_can_be_of_is_left_to_the_reference():
    prior = np.zeros(53)
    prior[4] = -np.inf
    with using("compiled"):
        assert wide(11, 53)[0].answer(np.zeros((5, 11)), prior, np.empty((5, 53)), "posteriors") is None


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = np.arange(1300) % 60
    return rng.normal(size=(60, 30))[y] + rng.normal(size=(1300, 30)), y


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_wide_models_answer_rows_as_narrow_ones_do(table, offset, monkeypatch):
    X, y = table[0] + offset, table[1]
    methods = ("predict_proba", "predict_log_proba", "predict", "decision_function")
    with using("compiled"):
        model = LDA().fit(X, y)
        X = X.copy()
        X[[5, 700], 2] = np.nan
        want = [getattr(model, method)(X) for method in methods]
        monkeypatch.setattr("posterior.kernels.MOST_COEFFICIENTS", 0)
        monkeypatch.setattr("posterior.kernels.wide_scores.MOST_COEFFICIENTS", 0)
        model = LDA().fit(table[0] + offset, y)
        assert isinstance(model.model_.distributions[0][1].row_scores, WideScores)
        found = {n: [] for n in (1, 3)}
        for n, answers in found.items():
            with threads(n):
                answers += [getattr(model, method)(X) for method in methods]
    for one, three, truth in zip(found[1], found[3], want, strict=True):
        assert_array_equal(one, three)
        assert_allclose(one, truth, rtol=1e-6, atol=1e-6 if offset else 1e-9)


def test_many_classes_of_other_models_have_the_posteriors_of_the_reference(table):
    model = GaussianNB().fit(*table)
    with using("reference"):
        want = model.predict_proba(table[0])
    with using("compiled"):
        assert_allclose(model.predict_proba(table[0]), want, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_linear_models_of_many_classes_answer_as_those_of_few(table, kind, monkeypatch):
    X, y = table[0].astype(kind), table[1]
    methods = ("predict_proba", "predict_log_proba", "predict", "decision_function")
    found = []
    with using("compiled"):
        for most in (1 << 15, 0):
            monkeypatch.setattr("posterior.kernels.wide_scores.MOST_COEFFICIENTS", most)
            model = LogisticRegression(C=1e-3).fit(table[0], y)
            found.append([getattr(model, method)(X) for method in methods])
    for rows, product in zip(*found, strict=True):
        assert rows.dtype == product.dtype
        assert_allclose(
            product,
            rows,
            rtol=1e-9 if kind == np.float64 else 2e-5,
            atol=1e-5 if kind == np.float32 else 1e-9,
        )
