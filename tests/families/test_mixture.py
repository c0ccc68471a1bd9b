"""Mixtures of normals against scikit-learn, scipy and simpler models; gaps, weights, odd columns, notes."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

import posterior
from posterior import GenerativeClassifier
from posterior.families import (
    Categorical,
    MixtureOfNormals,
    MixtureOfNormalsDistribution,
    MultivariateNormal,
    Normal,
)
from posterior.notices import DataWarning

SHAPES = ["full", "tied", "diagonal", "spherical"]
EVERY = slice(None)


def two_modes(n=600, seed=0):
    """Two classes with two humps each, at opposite corners of a square."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    side = rng.choice([-2.0, 2.0], n)
    centre = np.stack([side, np.where(y == 0, side, -side)], axis=1)
    return centre + rng.normal(size=(n, 2)) @ [[1.0, 0.3], [0.0, 0.8]], y


def interleaved(n=600, seed=0):
    """Two classes whose humps take turns along the first column: −3 and 1 against −1 and 3."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.choice([-3.0, 1.0], n) + 2.0 * y + 0.5 * rng.normal(size=n)
    return np.column_stack([x, 0.5 * x + rng.normal(size=n)]), y


def fit_family(family, X, y, weight=None):
    return family.estimate(family.summarize(X, y, weight, int(y.max()) + 1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_components", [2, 3])
def test_each_class_is_scikit_learns_mixture_of_its_standardised_rows(shape, n_components):
    X, y = two_modes()
    X = X * [3.0, 1e-4] + [100.0, 5.0]
    ours = fit_family(MixtureOfNormals(n_components, shape=shape), X, y)
    kind = {"diagonal": "diag"}.get(shape, shape)
    for k in range(2):
        rows = X[y == k]
        rows = rows[np.lexsort(rows.T[::-1])]
        sd = rows.std(axis=0)
        if shape == "spherical":
            sd = np.full(2, np.sqrt((sd**2).mean()))
        z = (rows - rows.mean(axis=0)) / sd
        theirs = GaussianMixture(
            n_components, covariance_type=kind, n_init=3, max_iter=500, tol=1e-5, random_state=0
        )
        with threadpool_limits(limits=1):
            theirs.fit(z)
        expected = theirs.score_samples((X - rows.mean(axis=0)) / sd) - np.log(sd).sum()
        np.testing.assert_allclose(ours.log_density(X)[:, k], expected, rtol=1e-8, atol=1e-8)
        order = np.lexsort(theirs.means_.T[::-1])
        np.testing.assert_allclose(ours.weight[ours.owner == k], theirs.weights_[order], atol=1e-10)


@pytest.mark.parametrize("shape", ["full", "diagonal", "spherical"])
def test_one_component_is_the_multivariate_normal(shape):
    X, y = two_modes()
    one = fit_family(MixtureOfNormals(1, shape=shape), X, y)
    normal = fit_family(MultivariateNormal(shape=shape), X, y)
    np.testing.assert_allclose(one.log_density(X), normal.log_density(X), rtol=1e-13)
    assert one.n_parameters == normal.n_parameters


def test_tied_with_one_component_is_the_multivariate_normal_too():
    X, y = two_modes()
    one = fit_family(MixtureOfNormals(1, shape="tied"), X, y)
    np.testing.assert_allclose(one.log_density(X), fit_family(MultivariateNormal(), X, y).log_density(X))


def test_two_humps_in_a_class_are_told_apart_where_one_normal_cannot():
    X, y = interleaved()
    new, truth = interleaved(5_000, seed=1)
    loss = {
        family: log_loss(truth, GenerativeClassifier([(EVERY, family)]).fit(X, y).predict_proba(new))
        for family in (MixtureOfNormals(2), MultivariateNormal(), Normal())
    }
    mixture, normal, naive = loss.values()
    assert mixture < 0.5 * min(normal, naive)


def test_log_densities_are_those_of_scipy():
    X, _ = two_modes(50)
    covariance = np.array([[[1.0, 0.3], [0.3, 2.0]], [[0.5, 0.0], [0.0, 0.5]], [[2.0, -1.0], [-1.0, 1.0]]])
    given = MixtureOfNormalsDistribution([0.3, 1.0, 0.7], [[0, 0], [1, 1], [4, -2]], covariance, [1, 0, 1])
    first, second, third = (
        stats.multivariate_normal(m, c).pdf(X)
        for m, c in zip([[0, 0], [1, 1], [4, -2]], covariance, strict=True)
    )
    expected = np.log(np.stack([second, 0.3 * first + 0.7 * third], axis=1))
    np.testing.assert_allclose(given.log_density(X), expected, rtol=1e-12)
    assert given.n_components.tolist() == [1, 2]
    assert given.owner.tolist() == [0, 1, 1]


def test_far_out_the_log_density_is_that_of_the_nearest_component():
    given = MixtureOfNormalsDistribution([0.5, 0.5, 1.0], [[0.0], [10.0], [3.0]], [[1.0]], [0, 0, 1])
    x = np.array([[1e4], [-1e4], [1e100]])
    expected = stats.norm([10.0, 0.0, 10.0], 1).logpdf(x.ravel()) + np.log(0.5)
    np.testing.assert_allclose(given.log_density(x)[:, 0], expected, rtol=1e-14)


def test_beyond_the_largest_numbers_there_is_no_density_and_no_guess():
    X, y = two_modes(100)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(2))]).fit(0.01 * X, y)
    for huge in ([1e308, 0.0], [-1e308, 1e308], [1e308, np.nan]):
        with pytest.raises(ValueError, match=r"column 'x0' holds -?1e\+308 in row 0, .* rescale the column"):
            model.predict_proba(np.array([huge]))


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_units_in_which_squares_vanish_or_overflow_are_refused(scale):
    X, y = two_modes(200)
    with pytest.raises(ValueError, match="rescale the column"):
        GenerativeClassifier([(EVERY, MixtureOfNormals(2))]).fit(scale * X, y)


@pytest.mark.parametrize("scale", [1e-100, 1e-40, 1e40, 1e100])
def test_extreme_units_change_no_posterior(scale):
    X, y = two_modes(200)
    a, b = (GenerativeClassifier([(EVERY, MixtureOfNormals(2))]).fit(x, y) for x in (X, scale * X))
    np.testing.assert_allclose(b.predict_log_proba(scale * X), a.predict_log_proba(X), rtol=1e-8, atol=1e-8)


def test_gaps_in_prediction_are_the_model_of_fewer_columns():
    X, y = two_modes()
    X = np.column_stack([X, X[:, 0] ** 2])
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(2))]).fit(X, y)
    fitted = model.model_.blocks[0].distribution
    probe = X[:40].copy()
    probe[::2, 1] = np.nan
    probe[::3, 0] = np.nan
    probe[7] = np.nan
    for row, density in zip(probe, model.class_log_density(probe), strict=True):
        there = np.flatnonzero(~np.isnan(row)).tolist()
        expected = fitted.marginal(there).log_density(row[None, there])[0] if there else np.zeros(2)
        np.testing.assert_allclose(density, expected, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(probe[[7]])[0], np.bincount(y) / len(y), atol=1e-12)


def test_contributions_of_a_diagonal_mixture_of_one_are_those_of_naive_bayes():
    X, y = two_modes()
    one = fit_family(MixtureOfNormals(1, shape="diagonal"), X, y)
    np.testing.assert_allclose(one.log_terms(X), fit_family(Normal(), X, y).log_terms(X), rtol=1e-10)


def test_the_order_of_rows_does_not_change_a_bit():
    X, y = two_modes()
    order = np.random.default_rng(5).permutation(len(y))
    a, b = (fit_family(MixtureOfNormals(3), X[o], y[o]) for o in (slice(None), order))
    assert (a.log_density(X) == b.log_density(X)).all()


def test_the_number_of_threads_does_not_change_a_bit():
    X, y = two_modes(40_000)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(3, n_init=1, tol=1e-4))])
    probe = X[:1000]
    found = []
    for n in (1, 2, 8):
        with posterior.threads(n), threadpool_limits(limits=n):
            found.append(clone(model).fit(X, y).predict_log_proba(probe))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_a_random_state_is_used():
    X, y = two_modes(80)
    families = [MixtureOfNormals(5, n_init=1, shape="spherical", random_state=s) for s in (0, 0, 1)]
    a, b, c = (fit_family(f, X, y).log_density(X) for f in families)
    assert (a == b).all()
    assert not np.allclose(a, c)


def test_whole_weights_are_repetitions_and_others_are_refused():
    X, y = two_modes(200)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(2))])
    weight = np.arange(200) % 3
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), atol=1e-9)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-12)
    with pytest.raises(
        ValueError, match=r"whole numbers as sample_weight.*found 0\.5; leave the weights out"
    ):
        clone(model).fit(X, y, sample_weight=np.full(200, 0.5))


def test_gaps_in_training_are_refused_by_name():
    X, y = two_modes(100)
    table = pd.DataFrame(X, columns=["height", "width"])
    table.loc[3, "width"] = np.nan
    with pytest.raises(ValueError, match=r"column 'width': it is trained on complete rows only; leave"):
        GenerativeClassifier([(["height", "width"], MixtureOfNormals())]).fit(table, y)


def test_parts_cannot_be_added_and_the_error_says_what_to_do():
    X, y = two_modes(100)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(2))])
    with pytest.raises(ValueError, match=r"mixtures of parts do not add up.*fit all rows at once, or use"):
        clone(model).partial_fit(X, y)
    fitted = clone(model).fit(X, y)
    with pytest.raises(ValueError, match=r"'x0', 'x1'.*mixtures of parts do not add up"):
        _ = fitted + clone(model).fit(X, y)


def test_a_class_with_few_rows_gets_fewer_components_and_a_note():
    X, y = two_modes(100)
    y = np.where(np.arange(100) < 3, 2, y)
    with pytest.warns(DataWarning, match=r"the mixture of class 2 has 3 distinct rows.*1 of 2 components"):
        model = GenerativeClassifier([(EVERY, MixtureOfNormals(2))]).fit(X, y)
    assert model.model_.blocks[0].distribution.n_components.tolist() == [2, 2, 1]
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_a_class_of_one_row_is_given_the_covariance_of_the_others():
    X, y = two_modes(100)
    y = np.where(np.arange(100) == 7, 2, y)
    fitted = fit_family(MixtureOfNormals(2), X, y)
    normal = fit_family(MultivariateNormal(), X, y)
    np.testing.assert_allclose(fitted.covariance[fitted.owner == 2][0], normal.covariance[2], rtol=1e-12)
    assert np.isfinite(fitted.log_density(X)).all()


def test_a_class_without_rows_has_a_density_all_the_same():
    X, y = two_modes(100)
    family = MixtureOfNormals(2)
    fitted = family.estimate(family.summarize(X, y, None, 3))
    assert fitted.n_components.tolist() == [2, 2, 1]
    assert np.isfinite(fitted.log_density(X)).all()


def test_iterations_that_end_early_are_a_note_and_no_foreign_warning():
    X, y = two_modes(300)
    told = r"the mixture of class 0 had not converged.*stopped after 2 iterations; raise max_iter or tol"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GenerativeClassifier([(EVERY, MixtureOfNormals(4, max_iter=2))]).fit(X, y)
    assert [w.category for w in caught] == [DataWarning]
    with pytest.warns(DataWarning, match=told):
        GenerativeClassifier([(EVERY, MixtureOfNormals(4, max_iter=2))]).fit(X, y)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("value", [0.0, 1e8])
def test_a_column_that_is_constant_in_a_class_has_a_finite_density(shape, value):
    X, y = two_modes(200)
    X = np.column_stack([X, np.where(y == 0, value, value + np.arange(200) % 7)])
    fitted = fit_family(MixtureOfNormals(2, shape=shape), X, y)
    assert np.isfinite(fitted.log_density(X)).all()
    if shape != "spherical":
        assert any(r.class_index == 0 and r.columns == (2,) for r in fitted.repairs)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_column_that_is_constant_in_every_class_separates_them(shape):
    X, y = two_modes(200)
    X = np.column_stack([X, 5.0 * y])
    fitted = fit_family(MixtureOfNormals(2, shape=shape), X, y)
    log_density = fitted.log_density(X)
    assert np.isfinite(log_density).all()
    assert (log_density.argmax(axis=1) == y).all()


def test_a_column_that_combines_others_is_left_out_as_for_any_gaussian():
    X, y = two_modes(200)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 0] - 2 * X[:, 1]})
    with pytest.warns(DataWarning, match=r"'c' is a linear combination of 'a', 'b': left out"):
        model = GenerativeClassifier([(["a", "b", "c"], MixtureOfNormals(2))]).fit(table, y)
    small = GenerativeClassifier([(["a", "b"], MixtureOfNormals(2))]).fit(table[["a", "b"]], y)
    assert (model.predict_log_proba(table) == small.predict_log_proba(table[["a", "b"]])).all()
    drawn, _ = model.sample(20, random_state=0)
    np.testing.assert_allclose(drawn["c"], drawn["a"] - 2 * drawn["b"], atol=1e-12)


def test_a_column_that_repeats_another_in_one_class_has_a_finite_density():
    X, y = two_modes(200)
    X = np.column_stack([X, np.where(y == 0, X[:, 0], np.arange(200) % 9)])
    fitted = fit_family(MixtureOfNormals(2), X, y)
    assert np.isfinite(fitted.log_density(X)).all()
    shrunk = [r for r in fitted.repairs if r.parameter == "covariance of a component"]
    assert [(r.class_index, r.columns) for r in shrunk] == [(0, (0, 2))]


def test_rows_that_come_in_heaps_of_equal_ones_have_a_finite_density():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [4.0, 4.0]], 25, axis=0)
    y = np.arange(100) % 2
    fitted = fit_family(MixtureOfNormals(2), X, y)
    assert np.isfinite(fitted.log_density(X)).all()
    assert fitted.repairs


def test_it_stands_beside_categories_in_a_frame_of_any_kind():
    X, y = two_modes(400)
    rng = np.random.default_rng(3)
    colour = np.where(rng.random(400) < 0.3 + 0.4 * y, "red", "blue")
    columns = {"a": X[:, 0], "b": X[:, 1], "colour": colour}
    model = GenerativeClassifier([(["a", "b"], MixtureOfNormals(2)), ("colour", Categorical())])
    found = [
        clone(model).fit(frame, y).predict_log_proba(frame)
        for frame in (pd.DataFrame(columns), pl.DataFrame(columns))
    ]
    assert (found[0] == found[1]).all()
    alone = GenerativeClassifier([(["a", "b"], MixtureOfNormals(2))]).fit(pd.DataFrame(columns), y)
    fitted = clone(model).fit(pd.DataFrame(columns), y)
    assert fitted.n_parameters_ == alone.n_parameters_ + 2
    extra = fitted.class_log_density(pd.DataFrame(columns)) - alone.class_log_density(pd.DataFrame(columns))
    assert len(np.unique(extra.round(9), axis=0)) == 2
    drawn, classes = fitted.sample(5, random_state=0)
    assert list(drawn.columns) == ["a", "b", "colour"]
    assert len(classes) == 5


def test_models_are_pickled_and_cloned():
    X, y = two_modes(200)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(2, shape="tied"))]).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict_log_proba(X) == model.predict_log_proba(X)).all()
    assert clone(model).get_params()["features"][0][1] == MixtureOfNormals(2, shape="tied")


def test_contributions_add_up_in_a_model():
    X, y = two_modes(200)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(2))]).fit(X, y)
    names, terms = model.model_.log_terms(model._dataset(X))
    assert names == ("prior", "x0", "x1")
    np.testing.assert_allclose(terms.sum(axis=1), model.predict_joint_log_proba(X), atol=1e-10)


def test_boundaries_are_refused():
    X, y = two_modes(200)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals(2))]).fit(X, y)
    with pytest.raises(ValueError, match=r"column 'x0', 'x1'.*not quadratic in x"):
        model.quadratic_form(0, 1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"n_components": 0}, r"n_components must be a whole number, at least 1, found 0"),
        ({"n_components": 2.5}, r"n_components must be a whole number, at least 1, found 2\.5"),
        ({"shape": "diag"}, r"shape must be one of .*'diagonal'.*found 'diag'"),
        ({"random_state": None}, r"random_state must be a whole number, at least 0, found None"),
        ({"max_iter": 0}, r"max_iter must be a whole number"),
        ({"tol": -1.0}, r"tol must not be negative"),
        ({"floor": 0.0}, r"floor must be positive"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given, told):
    with pytest.raises(ValueError, match=told):
        MixtureOfNormals(**given)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"weight": [0.5, 0.4, 1.0]}, r"the weights of class 0 add up to 0\.9; divide them by that"),
        ({"weight": [1.0, 0.0, 1.0]}, r"weight of a component must be positive"),
        ({"weight": [1.0, 1.0]}, r"a number for each component"),
        ({"owner": [0, 0, 2]}, r"every class having at least one; found \[0, 0, 2\]"),
        ({"owner": [0.0, 0.0, 1.0]}, r"owner must give the class"),
        ({"mean": [0.0, 1.0, 2.0]}, r"mean a row"),
        ({"mean": [[0.0], [np.nan], [2.0]]}, r"finite numbers"),
        ({"covariance": [[-1.0]]}, r"positive definite"),
    ],
)
def test_parameters_that_make_no_mixture_are_refused(changed, told):
    good = {
        "weight": [0.5, 0.5, 1.0],
        "mean": [[0.0], [1.0], [2.0]],
        "covariance": [[1.0]],
        "owner": [0, 0, 1],
    }
    MixtureOfNormalsDistribution(**good)
    with pytest.raises(ValueError, match=told):
        MixtureOfNormalsDistribution(**{**good, **changed})


def test_the_number_of_components_is_chosen_by_cross_validation():
    X, y = interleaved(300)
    model = GenerativeClassifier([(EVERY, MixtureOfNormals("auto", n_init=1))]).fit(X, y)
    assert model.model_.blocks[0].distribution.n_components.tolist() == [2, 2]
    same = GenerativeClassifier([(EVERY, MixtureOfNormals(2, n_init=1))]).fit(X, y)
    assert (model.predict_log_proba(X) == same.predict_log_proba(X)).all()
    family = MixtureOfNormals("auto")
    with pytest.raises(ValueError, match=r"chosen by cross-validation.*set n_components to one of"):
        family.estimate(family.summarize(X, y, None, 2))
