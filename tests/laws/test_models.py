"""Laws of whole models: offsets and scales change nothing, impossible rows have a defined answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import few_examples
from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
)
from posterior.families import Categorical, Exponential, LogNormal, MultivariateNormal, Normal, Poisson
from posterior.notices import OutsideSupportWarning

GAUSSIAN = {
    "lda": LDA(),
    "qda": QDA(),
    "nb": GaussianNB(var_smoothing=0),  # what it adds otherwise depends on the units of the columns
    "tied nb": NaiveBayes(tied=True, weights=1.0),
    "rda": GaussianDiscriminantAnalysis(tied=0.4, shrinkage="oas"),
    "ledoit-wolf": GaussianDiscriminantAnalysis(shrinkage="ledoit-wolf"),
}
every_gaussian = pytest.mark.parametrize("model", GAUSSIAN.values(), ids=GAUSSIAN.keys())
seeds = st.integers(0, 2**32 - 1)


def table(seed, n=300, d=4, K=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    mix = 0.4 * rng.normal(size=(d, d)) + 2 * np.eye(d)
    X = rng.normal(size=(n, d)) @ mix * (1 + 0.2 * y[:, None]) + rng.normal(size=(K, d))[y]
    return np.round(X * 2**20) / 2**20, y


@every_gaussian
@given(seed=seeds)
@few_examples
def test_a_column_at_mean_1e8_gives_the_posteriors_of_the_column_at_zero(model, seed):
    X, y = table(seed)
    offset = np.array([2.0**27, 0, -(2.0**27), 2.0**26])
    plain = model.fit(X, y).predict_log_proba(X)
    moved = model.fit(X + offset, y).predict_log_proba(X + offset)
    assert (np.abs(moved - plain) <= 1e-6 * (1 + np.abs(plain))).all()


@every_gaussian
@given(seed=seeds)
@few_examples
def test_offsets_of_1e8_for_each_class_leave_the_densities_of_the_own_class(model, seed):
    X, y = table(seed)
    offset = np.outer([0, 1, -1], [2.0**27, 2.0**26, -(2.0**27), 0])
    own = np.arange(len(y)), y
    plain = model.fit(X, y).class_log_density(X)[own]
    moved = model.fit(X + offset[y], y)
    assert np.abs(moved.class_log_density(X + offset[y])[own] - plain).max() < 1e-6
    logs = moved.predict_log_proba(X + offset[y])
    assert np.isfinite(logs).all()
    assert (moved.predict(X + offset[y]) == y).all()


@every_gaussian
@given(seed=seeds)
@few_examples
def test_two_classes_apart_from_a_third_by_1e8_keep_their_log_odds(model, seed):
    """The third class sits far away; the other two must be told apart as if it did not exist."""
    X, y = table(seed)
    far = np.where((y == 2)[:, None], 2.0**27, 0.0) * np.array([1, 0, 0, 0])
    near = y < 2
    shared = getattr(model, "tied", 0) or isinstance(model, LDA)
    if shared:
        plain = model.fit(X, y).predict_joint_log_proba(X[near])
    else:
        plain = model.fit(X[near], y[near]).predict_joint_log_proba(X[near])
    moved = model.fit(X + far, y).predict_joint_log_proba(X[near])
    odds, expected = moved[:, 1] - moved[:, 0], plain[:, 1] - plain[:, 0]
    assert (np.abs(odds - expected) <= 1e-6 * (1 + np.abs(expected))).all()
    form = model.quadratic_form(1, 0)(X[near])
    assert (np.abs(form - expected) <= 1e-6 * (1 + np.abs(expected))).all()


@every_gaussian
@given(seed=seeds)
@few_examples
def test_scales_of_1e8_and_1e_minus_8_change_no_posterior(model, seed):
    X, y = table(seed)
    scale = np.array([1e8, 1e-8, 1.0, 1e4])
    plain = model.fit(X, y).predict_log_proba(X)
    scaled = model.fit(X * scale, y).predict_log_proba(X * scale)
    assert (np.abs(scaled - plain) <= 1e-8 * (1 + np.abs(plain))).all()


@every_gaussian
def test_the_posterior_is_the_joint_divided_by_the_evidence(model):
    X, y = table(5)
    model.fit(X, y)
    expected = model.predict_joint_log_proba(X) - model.score_samples(X)[:, None]
    assert model.predict_log_proba(X) == pytest.approx(expected, abs=1e-10)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(y)), abs=1e-13)
    best = model.predict_joint_log_proba(X).argmax(axis=1)
    assert (model.predict(X) == model.classes_[best]).all()


@every_gaussian
@given(seed=seeds)
@few_examples
def test_contributions_add_up_to_the_log_odds(model, seed):
    X, y = table(seed)
    X = X[:60].copy(), y[:60]
    model.fit(*X)
    rows = X[0].copy()
    rows[np.random.default_rng(seed).random(rows.shape) < 0.2] = np.nan
    parts = model.contributions(rows)
    joint = model.predict_joint_log_proba(rows)
    code = {c: i for i, c in enumerate(model.classes_)}
    of, against = [code[c] for c in parts.of], [code[c] for c in parts.against]
    lines = np.arange(len(rows))
    assert parts.total == pytest.approx(joint[lines, of] - joint[lines, against], abs=1e-9)
    lead = (
        ("prior",)
        if "nb" in str(type(model)).lower() or isinstance(model, NaiveBayes)
        else ("prior", "baseline")
    )
    assert parts.terms == (*lead, "x0", "x1", "x2", "x3")
    assert parts.values.sum(axis=1) == pytest.approx(parts.total, abs=1e-9)
    chosen = model.contributions(rows, of=2, against=0)
    assert chosen.total == pytest.approx(joint[:, 2] - joint[:, 0], abs=1e-9)


def test_a_probability_of_zero_is_minus_infinity_and_the_posterior_still_sums_to_one():
    X, y = [["a", "x"], ["a", "y"], ["b", "y"]], [0, 0, 1]
    model = CategoricalNB(alpha=0).fit(X, y)
    logs = model.predict_log_proba([["a", "y"], ["b", "y"]])
    assert logs.tolist() == [[0.0, -np.inf], [-np.inf, 0.0]]


@pytest.mark.parametrize(
    ("model", "X", "row"),
    [
        (CategoricalNB(alpha=0), [["a", "x"], ["a", "x"], ["b", "y"]], [["a", "y"]]),
        (BernoulliNB(alpha=0), [[1, 0], [1, 0], [0, 1]], [[1, 1]]),
        (MultinomialNB(alpha=0), [[1, 0], [1, 0], [0, 1]], [[1, 1]]),
        (GenerativeClassifier([(0, Exponential())]), [[1.0], [2.0], [3.0]], [[-1.0]]),
        (GenerativeClassifier([(0, LogNormal())]), [[1.0], [2.0], [3.0]], [[0.0]]),
    ],
)
@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
def test_a_row_impossible_under_every_class_gets_the_priors(model, X, row):
    model.fit(X, [0, 0, 1])
    assert model.predict_proba(row)[0] == pytest.approx([2 / 3, 1 / 3])
    assert model.score_samples(row)[0] == -np.inf
    assert model.predict_proba(row, priors=[0.1, 0.9])[0] == pytest.approx([0.1, 0.9])


def test_a_value_that_no_class_can_have_is_left_out_of_the_posterior_and_counted():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.c_[rng.normal(3.0 * y), np.exp(rng.normal(size=60)), rng.poisson(2, 60)]
    model = GenerativeClassifier([(0, Normal()), (1, LogNormal()), (2, Poisson())]).fit(X, y)
    row, gap = np.array([[3.0, -1.0, 2.5]]), np.array([[3.0, np.nan, np.nan]])
    with pytest.warns(OutsideSupportWarning, match="column 'x1': 1 rows.*column 'x2': 1 rows.*left out"):
        logs = model.predict_log_proba(row)
    assert logs == pytest.approx(model.predict_log_proba(gap), abs=1e-12)
    with pytest.warns(OutsideSupportWarning):
        assert model.score_samples(row)[0] == -np.inf


def test_a_narrow_class_beside_a_wide_one_keeps_its_own_variance():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 1000)
    X = np.where(y[:, None] == 0, rng.normal(size=(2000, 2)), 1e7 * rng.normal(size=(2000, 2)))
    assert QDA().fit(X, y).covariance_[0] == pytest.approx(np.cov(X[y == 0].T, bias=True), rel=1e-9)
    variance = (
        NaiveBayes(tied=False, weights=1.0, variance_rows=0).fit(X, y).model_.distributions[0][1].variance
    )
    assert variance[0] == pytest.approx(X[y == 0].var(axis=0), rel=1e-9)


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_tying_a_little_changes_a_little_even_with_a_class_of_one_row():
    rng = np.random.default_rng(0)
    y = np.array([0] * 40 + [1])
    X = rng.normal(size=(41, 2)) + 3 * y[:, None]
    rows = rng.normal(size=(50, 2)) + 1.5
    own = GaussianDiscriminantAnalysis(tied=0).fit(X, y).predict_log_proba(rows)
    nearly = GaussianDiscriminantAnalysis(tied=1e-9).fit(X, y).predict_log_proba(rows)
    assert nearly == pytest.approx(own, abs=1e-6)


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_a_redundant_column_in_single_precision_changes_nothing():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    parts = (rng.normal(50, 5, size=(300, 3)) + y[:, None]).astype(np.float32)
    whole = np.c_[parts, parts.sum(axis=1, dtype=np.float32)]
    for model in (LDA(), QDA()):
        without = model.fit(parts, y).predict_log_proba(parts)
        assert model.fit(whole, y).predict_log_proba(whole) == pytest.approx(without, abs=1e-9)
        assert [note.columns for note in model.notes_] == [("x3",)]


def test_a_class_that_never_shows_a_column_borrows_its_overall_mean():
    nan = np.nan
    with pytest.warns(match=r"density of class 0 has no value to go by \(columns 'x0'\)"):
        model = GaussianNB().fit([[nan, 1], [2, 3], [nan, 5], [4, 9]], [0, 1, 0, 1])
    assert model.theta_[0, 0] == pytest.approx(3.0)
    assert model.class_log_density([[3.0, nan], [2.0, nan]])[0, 0] == pytest.approx(
        model.class_log_density([[3.0, nan]])[0, 1]
    )


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_dividing_by_less_inflates_a_shrunk_covariance_by_just_that(shrinkage):
    X, y = table(2)
    plain = LDA(shrinkage=shrinkage).fit(X, y).covariance_
    unbiased = LDA(shrinkage=shrinkage, bias=False).fit(X, y).covariance_
    if shrinkage == 0.0:
        assert unbiased == pytest.approx(LDA(bias=False).fit(X, y).covariance_, rel=1e-12)
    for tied in (0.0, 1.0):
        a = GaussianDiscriminantAnalysis(shrinkage="ledoit-wolf", tied=tied).fit(X, y).covariance_
        b = GaussianDiscriminantAnalysis(shrinkage="ledoit-wolf", tied=tied, bias=False).fit(X, y).covariance_
        ratio = b / a
        assert ratio == pytest.approx(np.broadcast_to(ratio[:, :1, :1], ratio.shape), rel=1e-10)
    assert (np.diagonal(unbiased) > np.diagonal(plain)).all()


def test_quarters_at_a_large_offset_are_no_rounding():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    a = rng.normal(size=400)
    X = np.round(np.c_[a, 0.9 * a + 0.4 * rng.normal(size=400)] * 8) / 4 + 4e6
    model = LDA().fit(X, y)
    assert model.notes_ == ()


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_sums_of_models_are_symmetric_to_the_last_bit():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    X = np.round(X)
    both = sum(QDA().fit(X[i::3], y[i::3]) for i in range(3))
    assert both.predict_log_proba(X) == pytest.approx(QDA().fit(X, y).predict_log_proba(X), abs=1e-9)


def test_an_attribute_that_a_model_cannot_have_is_absent_and_the_html_shows_all_the_same():
    X, y = table(2)
    model = GaussianDiscriminantAnalysis(shrinkage=0.1).fit(X, y)
    assert not hasattr(model, "n_parameters_")
    assert not hasattr(model, "bic_")
    assert "GaussianDiscriminantAnalysis" in model._repr_html_()


def test_the_likelihood_is_refused_where_rows_had_to_be_left_out():
    X = [["a", "x"], ["a", None], ["b", "y"], ["b", "x"]]
    model = GenerativeClassifier([([0, 1], Categorical(joint=True))]).fit(X, [0, 0, 1, 1])
    with pytest.raises(AttributeError, match="1 rows have gaps in a joint block"):
        _ = model.log_likelihood_


def test_a_perfect_separator_within_classes_is_kept_and_named():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    a, b = rng.normal(size=(2, 90))
    X = np.c_[a, b, a + b + y]
    with pytest.warns(match=r"shared by the classes is singular within every class.*'x2'.*kept"):
        model = LDA().fit(X, y)
    assert (model.predict(X) == y).all()
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@pytest.mark.parametrize("d", [1, 2, 10, 40])
@pytest.mark.parametrize("model", [QDA(), LDA(), GaussianNB(), GaussianDiscriminantAnalysis(shrinkage="oas")])
def test_tiny_classes_and_more_columns_than_rows_give_finite_answers(model, d):
    rng = np.random.default_rng(d)
    y = np.array([0] * 20 + [1] * 3 + [2])
    X = rng.normal(size=(24, d)) + y[:, None]
    logs = model.fit(X, y).predict_log_proba(rng.normal(size=(50, d)))
    assert np.isfinite(logs).all()
    assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(50))


def test_blocks_that_are_independent_add_up():
    X, y = table(3)
    blocks = [([0, 1], MultivariateNormal()), ([2, 3], Normal())]
    model = GenerativeClassifier(blocks).fit(X, y)
    separate = QDA().fit(X[:, :2], y).class_log_density(X[:, :2]) + GaussianNB(var_smoothing=0).fit(
        X[:, 2:], y
    ).class_log_density(X[:, 2:])
    assert model.class_log_density(X) == pytest.approx(separate, abs=1e-10)
    assert model.quadratic_form(0, 1)(X) == pytest.approx(
        np.subtract(*model.predict_joint_log_proba(X)[:, [0, 1]].T), abs=1e-9
    )


def test_priors_at_prediction_equal_a_refit_with_them():
    X, y = table(4)
    for model in (LDA(), QDA(), GaussianNB()):
        expected = type(model)(priors=[0.2, 0.3, 0.5]).fit(X, y).predict_log_proba(X)
        got = model.fit(X, y).predict_log_proba(X, priors={2: 0.5, 0: 0.2, 1: 0.3})
        assert got == pytest.approx(expected, abs=1e-12)
