"""Distributions of scipy.stats as families."""

import numpy as np
import pytest
from scipy import stats

from posterior import GenerativeClassifier, NaiveBayes, load, save
from posterior.families import FromScipy, FromScipyDistribution, Gamma

RNG = np.random.default_rng(0)
Y = np.tile([0, 1, 2], 30)
POSITIVE = RNG.gamma(2.0, size=90) * (1 + Y) + 0.1
SAMPLES = {
    "norm": (stats.norm, RNG.normal(3, 2, 90), {}),
    "gamma": (stats.gamma, POSITIVE, {"loc": 0.0}),
    "weibull_min": (stats.weibull_min, POSITIVE, {"loc": 0.0}),
    "lognorm": (stats.lognorm, POSITIVE, {"loc": 0.0}),
    "logistic": (stats.logistic, RNG.normal(3, 2, 90), {}),
    "gumbel_r": (stats.gumbel_r, RNG.gumbel(3, 2, 90), {}),
    "beta": (stats.beta, RNG.beta(2, 3, 90), {"loc": 0.0, "scale": 1.0}),
}


def fitted(family, x, n_classes=1, y=None):
    y = np.zeros(len(x), dtype=int) if y is None else y
    return family.estimate(family.summarize(np.asarray(x, dtype=float)[:, None], y, None, n_classes))


@pytest.mark.parametrize("name", SAMPLES)
def test_no_parameters_that_scipy_finds_are_more_likely(name):
    rv, x, fixed = SAMPLES[name]
    found = fitted(FromScipy(rv, fixed, alpha=0), x)
    theirs = rv.fit(x, **{f"f{key}": value for key, value in fixed.items()})
    own = rv.logpdf(x, *found.values[0, 0]).sum()
    assert own >= rv.logpdf(x, *theirs).sum() - 1e-5
    np.testing.assert_allclose(found.log_density(x[:, None]).sum(), own, rtol=1e-12)
    again = fitted(FromScipy(name, fixed, alpha=0), x)
    np.testing.assert_array_equal(again.values, found.values)


@pytest.mark.parametrize(
    ("rv", "x", "truth"),
    [
        (stats.poisson, stats.poisson(3.0).rvs(200, random_state=0), (3.0,)),
        (stats.geom, stats.geom(0.3).rvs(200, random_state=0), (0.3,)),
        (stats.nbinom, stats.nbinom(4, 0.4).rvs(400, random_state=0), (4.0, 0.4)),
    ],
    ids=["poisson", "geom", "nbinom"],
)
def test_discrete_distributions_are_fitted_too(rv, x, truth):
    found = fitted(FromScipy(rv, alpha=0), x)
    assert rv.logpmf(x, *found.values[0, 0]).sum() >= rv.logpmf(x, *truth).sum()
    assert found.values[0, 0, -1] == 0
    with pytest.raises(ValueError, match=r"takes whole numbers, found 0\.5"):
        GenerativeClassifier([(0, FromScipy(rv))]).fit([[0.5], [1.0]], [0, 1])


def test_it_is_the_family_of_that_name():
    ours = fitted(Gamma(), POSITIVE)
    theirs = fitted(FromScipy(stats.gamma, {"loc": 0.0}, alpha=0), POSITIVE)
    probe = np.linspace(0.2, 9, 20)[:, None]
    np.testing.assert_allclose(theirs.log_density(probe), ours.log_density(probe), atol=1e-5)
    assert theirs.n_parameters == ours.n_parameters == 2


def test_no_class_rules_out_a_value_that_another_has():
    x = np.concatenate([RNG.uniform(0, 1, 30), RNG.uniform(5, 6, 30)])
    y = np.repeat([0, 1], 30)
    lent = fitted(FromScipy("uniform"), x, 2, y).log_density(x[:, None])
    alone = fitted(FromScipy("uniform", alpha=0), x, 2, y).log_density(x[:, None])
    assert np.isfinite(lent).all()
    assert np.isneginf(alone[:30, 1]).all()


def test_a_distribution_of_scipy_may_be_given_as_it_is():
    X = POSITIVE[:, None]
    plain = NaiveBayes(families={0: stats.gamma}, tied=False, weights=1.0).fit(X, Y)
    told = NaiveBayes(families={0: FromScipy(stats.gamma)}, tied=False, weights=1.0).fit(X, Y)
    np.testing.assert_array_equal(plain.predict_proba(X), told.predict_proba(X))
    composed = GenerativeClassifier([(0, stats.gamma)]).fit(X, Y)
    np.testing.assert_allclose(composed.predict_proba(X), told.predict_proba(X))


def test_files_hold_the_name_and_loading_gives_the_same_model(tmp_path):
    model = NaiveBayes(families={0: FromScipy(stats.gamma, {"loc": 0.0})}, tied=False, weights=1.0).fit(
        POSITIVE[:, None], Y
    )
    save(model, tmp_path / "model.pst")
    again = load(tmp_path / "model.pst")
    np.testing.assert_array_equal(
        again.predict_proba(POSITIVE[:, None]), model.predict_proba(POSITIVE[:, None])
    )
    assert again.families == model.families


class Tilted(stats.rv_continuous):
    """A density 2x between 0 and 1."""

    def _pdf(self, x):
        return 2 * x


def test_distributions_of_users_are_fitted_and_not_saved(tmp_path):
    x = np.sqrt(RNG.random(90))
    model = NaiveBayes(families={0: FromScipy(Tilted(0, 1, name="tilted"))}, tied=False, weights=1.0).fit(
        x[:, None], Y
    )
    assert np.isfinite(model.predict_proba(x[:, None])).all()
    with pytest.raises(ValueError, match=r"FromScipy\(tilted\) cannot be in a model file"):
        save(model, tmp_path / "model.pst")
    with pytest.raises(ValueError, match="cannot be in a model file"):
        FromScipy(Tilted(0, 1, name="norm")).to_parts()


@pytest.mark.parametrize("name", ["__import__", "rv_continuous", "fit", "os", "norm.__class__", ""])
def test_names_of_files_are_those_of_distributions_and_nothing_else(name):
    with pytest.raises(ValueError, match=r"no distribution of scipy\.stats"):
        FromScipyDistribution(name, [[[0.0, 1.0]]])
    with pytest.raises(ValueError, match=r"no distribution of scipy\.stats"):
        FromScipy.from_parts({"distribution": name, "fixed": (), "alpha": 1.0})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"distribution": stats.norm(0, 1)}, "must be one of scipy.stats"),
        ({"distribution": 3}, "must be one of scipy.stats"),
        ({"distribution": "norm", "fixed": {"shape": 1}}, "the parameters of norm are loc, scale"),
        ({"distribution": "norm", "alpha": -1}, "alpha must be a number"),
    ],
)
def test_settings_are_checked(settings, said):
    with pytest.raises(ValueError, match=said):
        FromScipy(**settings)


def test_parameters_that_scipy_does_not_take_are_refused():
    with pytest.raises(ValueError, match="that gamma does not have"):
        FromScipyDistribution("gamma", [[[-1.0, 0.0, 1.0]]])
    with pytest.raises(ValueError, match="n_columns, 2"):
        FromScipyDistribution("norm", [[[-1.0, 0.0, 1.0]]])


def test_numbers_without_a_density_are_told():
    with pytest.raises(ValueError, match="no parameters of gamma give every number"):
        fitted(FromScipy("gamma", {"loc": 5.0}), [1.0, 2.0, 7.0])
