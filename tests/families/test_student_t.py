"""Student's t: numbers of which some are far from the others."""

import numpy as np
import pytest
from scipy import optimize, stats

from posterior import NaiveBayes
from posterior.families import Normal, StudentT


def fitted(x, **settings):
    x = np.asarray(x, dtype=float)
    family = StudentT(**settings)
    return family.estimate(family.summarize(x[:, None], np.zeros(len(x), dtype=int), None, 1))


def likelihood(found, x):
    return stats.t(found.degrees[0, 0], found.location.value[0, 0], found.scale[0, 0]).logpdf(x).sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("degrees", [1.3, 3.0, 12.0])
def test_no_other_parameters_are_more_likely(degrees, seed):
    x = 100 + 5 * stats.t(degrees).rvs(150, random_state=seed)
    found = fitted(x, scale_rows=0)
    start = [found.location.value[0, 0], np.log(found.scale[0, 0]), np.log(found.degrees[0, 0])]

    def loss(theta):
        return -stats.t(np.exp(theta[2]), theta[0], np.exp(theta[1])).logpdf(x).sum()

    bounds = [(None, None), (None, None), (0.0, np.log(200.0))]
    for shift in ([0, 0, 0], [1, 0.5, 0.2], [-2, -0.5, 0.5]):
        theirs = optimize.minimize(loss, np.add(start, shift), bounds=bounds, method="L-BFGS-B")
        assert likelihood(found, x) >= -theirs.fun - 1e-6


def test_numbers_with_lighter_tails_than_normal_get_the_most_degrees_that_there_are():
    x = np.linspace(-1, 1, 50)
    found = fitted(x)
    assert found.degrees[0, 0] == pytest.approx(200)
    assert found.scale[0, 0] == pytest.approx(x.std(), rel=0.02)


def test_wild_values_do_not_move_the_middle():
    x = np.concatenate([np.random.default_rng(0).normal(5, 1, 60), [1e6, -1e7]])
    found = fitted(x)
    assert found.location.value[0, 0] == pytest.approx(5, abs=0.5)
    assert found.scale[0, 0] < 3


def test_a_value_that_most_rows_share_stays_a_density():
    x = np.concatenate([np.zeros(70), np.random.default_rng(0).normal(3, 1, 30)])
    found = fitted(x, floor=1e-3)
    unit = np.sqrt(np.pi / 2) * np.abs(x).mean()
    assert found.location.value[0, 0] == pytest.approx(0, abs=1e-6)
    assert found.scale[0, 0] == pytest.approx(1e-3 * unit, rel=1e-9)
    constant = fitted([7.0, 7.0, 7.0])
    assert (constant.location.value[0, 0], constant.degrees[0, 0]) == (7.0, pytest.approx(200))


def test_a_class_of_one_row_has_about_the_scale_of_the_others():
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(0, 2, 200), 9.0)
    y = np.append(rng.integers(0, 2, 200), 2)
    found = StudentT().estimate(StudentT().summarize(x[:, None], y, None, 3))
    assert found.location.value[2, 0] == pytest.approx(9)
    assert found.scale[2, 0] == pytest.approx(2, rel=0.2)
    alone = StudentT(scale_rows=0).estimate(StudentT().summarize(x[:, None], y, None, 3))
    assert alone.scale[2, 0] < 0.15


def test_a_class_without_values_is_described_as_all_rows_are():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 1)), np.repeat([0, 2], 25)
    found = StudentT().estimate(StudentT().summarize(x, y, None, 3))
    pooled = StudentT().estimate(StudentT().summarize(x, np.zeros(50, dtype=int), None, 1))
    assert found.location.value[1] == pytest.approx(pooled.location.value[0])


def test_far_values_say_little_where_a_normal_density_is_certain():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = (rng.standard_t(2, 300) + 2 * y)[:, None]
    heavy, light = (
        NaiveBayes(families={0: family}, tied=False, weights=1.0).fit(X, y)
        for family in (StudentT(), Normal())
    )
    far = np.array([[-300.0]])
    assert heavy.predict_proba(far).min() > 0.01
    assert light.predict_proba(far).min() < 1e-6


def test_a_row_of_no_weight_to_speak_of_does_not_overflow():
    family = StudentT()
    rows = family.summarize(
        np.array([[0.0], [1e16], [0.0]]), np.array([0, 1, 1]), np.array([1, 1e-320, 1]), 2
    )
    found = family.estimate(rows)
    assert np.isfinite(found.scale).all()
    assert np.isfinite(found.log_density(np.array([[0.0], [1e16]]))).all()


def test_settings_are_checked():
    with pytest.raises(ValueError, match="floor must be positive"):
        StudentT(floor=0)
    with pytest.raises(ValueError, match="scale_rows must not be negative"):
        StudentT(scale_rows=-1)
