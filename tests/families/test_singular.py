"""Covariances that the rows do not determine: redundant columns, separators, tiny classes."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from posterior import LDA, QDA, GaussianDiscriminantAnalysis, GaussianNB, NaiveBayes

GAUSSIANS = {
    "lda": LDA(),
    "qda": QDA(),
    "between": GaussianDiscriminantAnalysis(tied=0.5),
    "unbiased": GaussianDiscriminantAnalysis(tied=0.5, bias=False),
}
by_name = pytest.mark.parametrize("model", GAUSSIANS.values(), ids=GAUSSIANS)


def table(n=300, d=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, d)) * (1 + y[:, None]) + rng.normal(size=(n_classes, d))[y], y


def told(model, X, y):
    """Everything that fitting warned of; it must be one warning at most."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert len(caught) <= 1
    return str(caught[0].message) if caught else ""


# -- redundant over the whole table -------------------------------------------------------------------


@by_name
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_total_is_named_and_left_out_and_changes_nothing(model, dtype):
    X, y = table()
    X = X.astype(dtype)
    with_total = np.column_stack([X, X @ np.array([1, 2, -0.5], dtype)])
    assert "'x3' is a linear combination of 'x0', 'x1', 'x2': left out" in told(model, with_total, y)
    found = model.predict_log_proba(with_total)
    density = model.score_samples(with_total)
    np.testing.assert_allclose(found, model.fit(X, y).predict_log_proba(X), atol=1e-9)
    np.testing.assert_allclose(density, model.score_samples(X), atol=1e-9)


@by_name
def test_a_row_that_breaks_the_sum_is_impossible_but_keeps_its_posterior(model):
    X, y = table()
    X = np.column_stack([X, 5 + X.sum(axis=1)])
    told(model, X, y)
    broken = X.copy()
    broken[7, 3] += 0.01
    broken[8, 0] = np.nan
    broken[9, 3] = np.nan
    score = model.score_samples(broken)
    assert np.isneginf(score[7])
    assert np.isfinite(np.delete(score, 7)).all()
    assert np.isneginf(model.predict_joint_log_proba(broken)[7]).all()
    np.testing.assert_array_equal(model.predict_log_proba(broken)[7], model.predict_log_proba(X)[7])
    np.testing.assert_array_equal(model.decision_function(broken)[7], model.decision_function(X)[7])
    assert np.isfinite(model.score_samples(X * 3 - np.array([0, 0, 0, 10]))).all()


@by_name
def test_a_repeated_column_is_left_out(model):
    X, y = table()
    assert "'x3' is a linear combination of 'x1'" in told(model, np.column_stack([X, X[:, 1]]), y)
    found = model.predict_log_proba(np.column_stack([X, X[:, 1]]))
    np.testing.assert_allclose(found, model.fit(X, y).predict_log_proba(X), atol=1e-9)


@by_name
def test_means_and_samples_keep_the_columns_that_were_left_out(model):
    X, y = table()
    X = np.column_stack([X, 5 + X.sum(axis=1), np.full(len(X), 7.0)])
    told(model, X, y)
    np.testing.assert_allclose(model.means_, [X[y == k].mean(axis=0) for k in range(3)], atol=1e-9)
    drawn, _ = model.sample(20, random_state=0)
    np.testing.assert_allclose(drawn[:, 3], 5 + drawn[:, :3].sum(axis=1))
    assert (drawn[:, 4] == 7.0).all()
    assert np.isfinite(model.score_samples(drawn)).all()


# -- redundant within classes only ---------------------------------------------------------------------


@by_name
@pytest.mark.parametrize("width", [1.0, 1e4])
def test_a_combination_that_holds_within_classes_only_separates_them(model, width):
    X, y = table(n=600)
    X *= width
    X[:, 2] = X[:, 0] + X[:, 1] + y
    message = told(model, X, y)
    assert "perfect separators (columns 'x2'): kept" in message
    assert model.score(X, y) == 1
    fresh, labels = table(n=200, seed=9)
    fresh *= width
    fresh[:, 2] = fresh[:, 0] + fresh[:, 1] + labels
    assert model.score(fresh, labels) == 1
    proba = np.sort(model.predict_log_proba(fresh), axis=1)
    assert (proba[:, -1] > -1e-30).all()
    assert (proba[:, :-1] < -100).all()
    assert np.isfinite(proba).all()


@by_name
def test_a_column_that_is_constant_within_classes_separates_them(model):
    X, y = table()
    X[:, 2] = y
    assert "'x2'" in told(model, X, y)
    assert model.score(X, y) == 1


# -- too few rows --------------------------------------------------------------------------------------


def tiny(seed=0):
    """Two large classes, one of three rows and one of a single row, in six columns."""
    rng = np.random.default_rng(seed)
    y = np.array([0] * 60 + [1] * 60 + [2] * 3 + [3])
    return rng.normal(size=(len(y), 6)) + 3 * rng.normal(size=(4, 6))[y], y


def test_a_tiny_class_leans_on_the_pooled_covariance():
    X, y = tiny()
    message = told(QDA(), X, y)
    assert "the covariance of class 2 is not determined by its 3 rows, too few for 6 columns" in message
    assert "blended with the pooled covariance, weight 0.667" in message
    model = QDA()
    told(model, X, y)
    pooled = LDA().fit(X, y).covariance_
    np.testing.assert_allclose(model.covariance_[3], pooled, rtol=1e-10)
    own = np.cov(X[y == 2].T, bias=True)
    np.testing.assert_allclose(model.covariance_[2], own / 3 + 2 / 3 * pooled, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.covariance_[0], np.cov(X[y == 0].T, bias=True), rtol=1e-9, atol=1e-12)
    assert [note.label for note in model.notes_] == [2, 3]
    assert model.notes_[0].columns == ("x2", "x3", "x4", "x5")


def test_a_tiny_class_may_take_the_pooled_covariance():
    X, y = tiny()
    for model in (QDA(on_singular="pool"), GaussianDiscriminantAnalysis(on_singular="pool")):
        assert "class 2" in told(model, X, y)
        pooled = LDA().fit(X, y).covariance_
        np.testing.assert_allclose(model.covariance_[2], pooled, rtol=1e-10)
        np.testing.assert_allclose(model.covariance_[3], pooled, rtol=1e-10)


def test_a_tiny_class_may_be_refused():
    X, y = tiny()
    model = QDA(on_singular="error").fit(X[:120], y[:120])
    before = model.predict_log_proba(X)
    with pytest.raises(
        ValueError, match=r"class 2 is not determined by its 3 rows, .*\(columns 'x2'.*on_singular"
    ):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict_log_proba(X), before)
    with pytest.raises(ValueError, match="shared by the classes"):
        LDA(on_singular="error").fit(X[:4], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"on_singular must be .*found 'shrug'"):
        QDA(on_singular="shrug").fit(X, y)


@by_name
@pytest.mark.parametrize(("n", "d"), [(4, 2), (4, 6), (10, 40), (6, 1)])
def test_fewer_rows_than_columns_give_a_finite_answer_that_does_not_depend_on_units(model, n, d):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 2
    unit = np.logspace(-4, 4, d)
    told(model, X, y)
    found = model.predict_log_proba(X)
    assert np.isfinite(found).all()
    assert np.isfinite(model.score_samples(rng.normal(size=(5, d)))).all()
    told(model, X * unit, y)
    np.testing.assert_allclose(model.predict_log_proba(X * unit), found, atol=1e-6)


@by_name
def test_two_rows_a_class(model):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 7.0]])
    message = told(model, X, [0, 0, 1, 1])
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.score(X, [0, 0, 1, 1]) == 1
    if model.get_params().get("tied", 1 if isinstance(model, LDA) else 0) < 1:
        assert "class 0" in message


@by_name
def test_rows_all_alike_within_each_class(model):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    y = np.repeat([0, 1], 5)
    told(model, X, y)
    assert model.score(X, y) == 1
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_the_share_of_a_direction_is_known_where_its_variance_is_beyond_all_numbers():
    X = np.array([[np.nan], [np.nan], [np.nan], [0.003], [-0.24]])
    weight = [0.1, 1e-150, 0.1, 1.0, 1e-320]
    with pytest.warns(UserWarning, match="not determined"):
        model = LDA().fit(X, ["b", "a", "b", "a", "b"], sample_weight=weight)
    assert model.explained_variance_ratio_ == pytest.approx([1.0])


# -- variances of naive Bayes ---------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 5, 10, 1000])
def test_every_class_is_lent_rows_with_the_variance_within_classes(rows):
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [3, 8, 40])
    X = rng.normal(size=(51, 2)) * (1 + y[:, None])
    (_, found), *_ = NaiveBayes(variance_rows=rows, tied=False, weights=1.0).fit(X, y).model_.distributions
    count = np.array([[3], [8], [40]])
    squares = count * np.array([X[y == k].var(axis=0) for k in range(3)])
    expected = (squares + rows * squares.sum(axis=0) / 51) / (count + rows)
    np.testing.assert_allclose(found.variance, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@pytest.mark.parametrize(
    "model",
    [NaiveBayes(tied=False, weights=1.0), NaiveBayes(variance_rows=0, tied=False, weights=1.0), GaussianNB()],
    ids=str,
)
@pytest.mark.parametrize("alone", [[25.0], [25.0] * 4], ids=["one row", "no spread"])
def test_a_class_without_spread_is_no_spike(model, alone):
    X = np.array([20.0, 21.0, 22.0, 23.0, 22.5, *alone])[:, None]
    y = np.repeat([0, 1], [5, len(alone)])
    p = model.fit(X, y).predict_proba([[24.5], [25.0], [25.001], [25.5]])[:, 1]
    assert (p > 0.5).all()
    assert abs(p[1] - p[2]) < 1e-3


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@pytest.mark.parametrize("tied", [False, True])
def test_classes_of_one_row_each_share_the_spread_of_the_column(tied):
    """No variance within classes: that of the column, lent by ten rows, or by one to the shared variance."""
    (_, found), *_ = NaiveBayes(tied=tied, weights=1.0).fit([[0.0], [2.0]], [0, 1]).model_.distributions
    np.testing.assert_allclose(found.variance, 1 / 3 if tied else 10 / 11)


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_digits_are_told_apart_no_worse_than_by_scikit_learn():
    X, y = load_digits(return_X_y=True)
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    theirs = TheirGaussianNB().fit(X[train], y[train])
    for model in (GaussianNB(), NaiveBayes(tied=False, weights=1.0)):
        model.fit(X[train], y[train])
        assert model.score(X[test], y[test]) > theirs.score(X[test], y[test])
        ours, other = (m.predict_log_proba(X[test])[np.arange(test.sum()), y[test]] for m in (model, theirs))
        assert ours.mean() > other.mean()


@pytest.mark.parametrize("given", [-1.0, np.inf, np.nan])
def test_a_prior_that_is_no_number_of_rows_is_refused(given):
    with pytest.raises(ValueError, match="variance_rows is a number of rows, 0 or more"):
        NaiveBayes(variance_rows=given, tied=False, weights=1.0).fit(*table())
