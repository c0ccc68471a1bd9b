"""Two classes told apart by one linear score have the answers of two scores, from any layout."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from posterior import LinearDiscriminantAnalysis, LogisticRegression, threads
from posterior.kernels import SeparateColumns, row_scores
from posterior.kernels.choice import using

PRIOR = np.log([0.3, 0.7])
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "some columns of rows": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "single": lambda X: X.astype(np.float32),
    "single columns": lambda X: np.asfortranarray(X.astype(np.float32)),
    "columns apart": lambda X: SeparateColumns.of(list(np.asfortranarray(X).T)),
    "single columns apart": lambda X: SeparateColumns.of(list(np.asfortranarray(X.astype(np.float32)).T)),
}


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32).astype(np.float64)


def answered(scores, X, answer, out):
    with using("compiled"):
        return scores.answer(X, PRIOR if out.ndim == 1 or out.shape[1] == 2 else np.zeros(1), out, answer)


def forms(d, size=1.0):
    rng = np.random.default_rng(d)
    coef, level, pivot = size * rng.normal(size=(d, 2)), rng.normal(size=2), rng.normal(size=d)
    return coef, level, pivot, row_scores.row_linear_scores(coef, level, pivot, np.full(d, 1e-17))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 7, 8, 9, 20])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 200, 512, 600, 1100])
def test_answers_are_those_of_both_scores(n, d, layout):
    X, (coef, level, pivot, scores) = rows(n, d), forms(d)
    both = (X - pivot) @ coef + level + PRIOR
    logs = both - np.logaddexp(both[:, :1], both[:, 1:])
    table = LAYOUTS[layout](X)
    for dtype, rtol in ((np.float64, 1e-12), (np.float32, 1e-6)):
        out = np.empty((n, 2), dtype)
        assert not len(answered(scores, table, "posteriors", out))
        assert_allclose(out, np.exp(logs), rtol=10 * rtol)
        answered(scores, table, "log posteriors", out)
        assert_allclose(out, logs, rtol=rtol, atol=rtol)
    best = np.empty(n, np.int64)
    answered(scores, table, "best", best)
    assert_array_equal(best, both.argmax(axis=1))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("d", [3, 4, 17])
def test_a_row_has_the_same_bits_among_few_rows_as_among_many(d, kind):
    X, (coef, level, pivot, _) = rows(600, d).astype(kind), forms(d)
    alone = row_scores.row_linear_scores(coef[:, :1], level[:1], pivot, np.zeros(d))
    of_all = np.empty((600, 1))
    answered(alone, X, "scores", of_all)
    for n in (1, 3, 7, 8, 9, 513, 519):
        for some in (slice(0, n), slice(600 - n, 600)):
            out = np.empty((n, 1))
            answered(alone, X[some], "scores", out)
            assert_array_equal(out, of_all[some])


@pytest.mark.parametrize("d", [2, 20])
def test_one_score_is_written_as_it_is(d):
    X, (coef, level, pivot, _) = rows(130, d), forms(d)
    alone, out = row_scores.row_linear_scores(coef[:, :1], level[:1], pivot, np.zeros(d)), np.empty((130, 1))
    answered(alone, X, "scores", out)
    assert_allclose(out[:, 0], (X - pivot) @ coef[:, 0] + level[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("d", [0, 1, 2, 3, 4, 5, 6, 7, 8, 20])
def test_few_rows_answered_without_compiled_code_have_the_answers_of_compiled_code(d, offset):
    X, (coef, level, pivot, _) = rows(100, d) + offset, forms(d)
    scores = row_scores.row_linear_scores(coef, level, pivot + offset, np.full(d, 1e-17))
    for answer, out in (
        ("posteriors", np.empty((100, 2))),
        ("log posteriors", np.empty((100, 2))),
        ("best", np.empty(100, np.int64)),
    ):
        assert not len(answered(scores, X, answer, out))
        by_numpy = np.empty_like(out)
        with using("reference"):
            assert not len(scores.answer(X, PRIOR, by_numpy, answer))
        assert_allclose(by_numpy, out, rtol=1e-12, atol=1e-13)


def test_few_rows_that_are_not_finite_are_odd_and_no_others():
    X, scores, out = rows(9, 5), forms(5)[3], np.empty((9, 2))
    X[2, 1], X[3, 0], X[8, 2] = np.nan, np.inf, -np.inf
    with using("reference"):
        odd = scores.answer(X, PRIOR, out, "posteriors")
    assert_array_equal(np.flatnonzero(odd), [2, 3, 8])


def test_rows_that_are_not_finite_are_odd_and_no_others():
    X, scores = rows(1300, 3), forms(3)[3]
    X[70, 1], X[71, 0], X[299, 2], X[1299, 1] = np.nan, np.inf, -np.inf, np.nan
    for out in (np.empty((1300, 2)), np.empty(1300, np.int64)):
        odd = answered(scores, X, "best" if out.ndim == 1 else "posteriors", out)
        assert_array_equal(np.flatnonzero(odd), [70, 71, 299, 1299])


@pytest.mark.parametrize(("n_rows", "begun"), [(1_000, 1), (100_000, 1), (2_000_000, 2)])
def test_threads_begin_only_where_there_is_enough_to_do(n_rows, begun, monkeypatch):
    monkeypatch.setattr(row_scores, "THREAD_NUMBERS", 1 << 20)
    scores, X, asked = forms(2)[3], np.zeros((n_rows, 2)), []
    with using("compiled"):
        parts = scores.answers_of_parts(X, PRIOR, np.empty(n_rows, np.int64), "best", 1024)
        team = row_scores.compiled("team", row_scores.FROM_CELLS)
        monkeypatch.setattr(team, "share_out", lambda *rest: asked.append(rest[-1]))
        parts.run(2)
    assert asked == [begun]


def test_posteriors_are_right_down_to_the_smallest_numbers():
    one = row_scores.row_linear_scores(np.array([[0.0, 1.0]]), np.zeros(2), np.zeros(1), np.zeros(1))
    x = np.linspace(-740.0, 740.0, 149)
    out = np.empty((149, 2))
    with using("compiled"):
        one.answer(x[:, None], np.zeros(2), out, "posteriors")
        assert_allclose(out[:, 1], np.exp(-np.logaddexp(0.0, -x)), rtol=1e-12, atol=1e-323)
        assert_allclose(out[:, 0], out[::-1, 1], rtol=1e-15)
        one.answer(x[:, None], np.zeros(2), out, "log posteriors")
        assert_allclose(out[:, 1], -np.logaddexp(0.0, -x), rtol=1e-14)


def test_the_first_of_equals_is_the_answer():
    one = row_scores.row_linear_scores(np.array([[1.0, -1.0]]), np.zeros(2), np.zeros(1), np.zeros(1))
    best = np.ones(70, np.int64)
    with using("compiled"):
        one.answer(np.zeros((70, 1)), np.zeros(2), best, "best")
    assert not best.any()


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), LogisticRegression()], ids=str)
@pytest.mark.parametrize("gaps", [False, True])
def test_rows_that_threads_share_out_have_the_answers_of_the_reference(model, gaps):
    X = rows(40_000, 3)
    y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 0, "yes", "no")
    model.fit(X, y)
    if gaps and isinstance(model, LinearDiscriminantAnalysis):
        X[[5, 20_000, 39_999], 1] = np.nan
    methods = ("decision_function", "predict_proba", "predict_log_proba", "predict")
    with using("reference"):
        want = [getattr(model, method)(X) for method in methods]
    found = {}
    for n in (1, 3):
        with using("compiled"), threads(n):
            found[n] = [getattr(model, method)(X) for method in methods]
    for one, several, truth in zip(found[1], found[3], want, strict=True):
        assert_array_equal(one, several)
        if truth.dtype.kind == "f":
            assert_allclose(one, truth, rtol=1e-10, atol=1e-12)
        else:
            assert_array_equal(one, truth)
