"""How often rows like those of training are called outliers: the rate that was promised, or less."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from posterior import LDA, QDA, NaiveBayes
from posterior.estimators.outliers import OutlierRule

pytestmark = pytest.mark.long

DRAWS = 200
CALIBRATION = 500
ALPHAS = (0.01, 0.05, 0.1)


def gaussian(rng, n, priors=(0.5, 0.3, 0.2)):
    """Three Gaussian classes with covariances of their own."""
    y = rng.choice(3, n, p=priors)
    factor = np.array([np.eye(4), 0.5 * np.eye(4) + 0.5, np.diag([2.0, 1.0, 0.5, 1.0])])
    return np.einsum("nij,nj->ni", factor[y], rng.normal(size=(n, 4))) + 1.5 * y[:, None], y


def mixed(rng, n, priors=(0.7, 0.3)):
    """Numbers, categories, counts, true or false, and gaps; dependent, so that naive Bayes is wrong."""
    y = rng.choice(2, n, p=priors)
    x = rng.normal(size=n) + 2 * y
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "twice": 2 * x + rng.normal(size=n),
            "place": np.array(["here", "there", "nowhere"])[(rng.random(n) * (2 + y)).astype(int)],
            "visits": rng.poisson(1 + 3 * y + (x > 2)),
            "member": rng.random(n) < 0.2 + 0.5 * y,
        }
    )
    return frame, y


def rates(draw, fitted, alphas=ALPHAS):
    """False alarms by draw and α, on 1,000 fresh rows for each of 200 draws."""
    out = np.empty((DRAWS, len(alphas)))
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        p = fitted(rng, seed, draw)
        out[seed] = [(p <= alpha).mean() for alpha in alphas]
    return out


def told(what, found):
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    print(what, " ".join(f"{a:g}: {m:.4f} ± {e:.4f}" for a, m, e in zip(ALPHAS, mean, error, strict=True)))
    return mean, error


@pytest.mark.parametrize(
    ("model", "draw"), [(QDA(), gaussian), (LDA(), gaussian), (NaiveBayes(kinds={"visits": "count"}), mixed)]
)
def test_false_alarms_are_alpha_at_most_with_500_calibration_rows(model, draw):
    def fitted(rng, seed, draw):
        X, y = draw(rng, 4 * CALIBRATION)
        rule = OutlierRule(model, calibration=0.25, random_state=seed).fit(X, y)
        assert len(rule.calibration_scores_) == CALIBRATION
        return rule.p_values(draw(rng, 1000)[0])

    mean, error = told(f"{type(model).__name__} {draw.__name__}", rates(draw, fitted))
    assert (mean <= np.array(ALPHAS) + 3 * error).all()
    assert (mean >= np.array(ALPHAS) - 1 / (CALIBRATION + 1) - 3 * error).all()


@pytest.mark.parametrize(
    ("model", "draw", "new"),
    [
        (QDA(), gaussian, (0.1, 0.2, 0.7)),
        (QDA(), gaussian, (0.9, 0.1, 0.0)),
        (NaiveBayes(kinds={"visits": "count"}), mixed, (0.2, 0.8)),
    ],
)
def test_false_alarms_are_alpha_at_most_under_other_priors(model, draw, new):
    without = []

    def fitted(rng, seed, draw):
        X, y = draw(rng, 4 * CALIBRATION)
        rule = OutlierRule(model, random_state=seed).fit(X, y)
        fresh = draw(rng, 1000, new)[0]
        without.append((rule.p_values(fresh) <= 0.1).mean())
        return rule.p_values(fresh, priors=new)

    mean, error = told(f"{type(model).__name__} {draw.__name__} {new}", rates(draw, fitted))
    print("  without priors at 0.1:", np.mean(without).round(4))
    assert (mean <= np.array(ALPHAS) + 3 * error).all()


def test_chi2_false_alarms_come_down_to_alpha_as_training_rows_become_many():
    excess = []
    for n in (100, 400, 6400):

        def fitted(rng, seed, draw):
            X, y = draw(rng, n)
            return OutlierRule(QDA(), method="chi2").fit(X, y).p_values(draw(rng, 1000)[0])

        mean, error = told(f"chi2 QDA, {n} rows", rates(gaussian, fitted))
        excess.append(mean - ALPHAS)
    assert (mean <= np.array(ALPHAS) + 3 * error).all()
    assert (np.diff(excess, axis=0) < 0).all()


def test_rows_from_elsewhere_are_found():
    power = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = gaussian(rng, 2000)
        rule = OutlierRule(QDA(), alpha=0.05, random_state=seed).fit(X, y)
        odd = gaussian(rng, 500)[0] + [4.0, -4.0, 0.0, 0.0]
        power.append((rule.predict(odd) == -1).mean())
    print("power", np.mean(power).round(3))
    assert np.mean(power) > 0.9


def test_few_calibration_rows_keep_the_bound_too():
    found = []
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        X, y = gaussian(rng, 119)
        if len(np.unique(y[:100])) < 3 or np.bincount(y[:100]).min() < 6:
            continue
        rule = OutlierRule(FrozenEstimator(LDA().fit(X[:100], y[:100]))).fit(X[100:])
        found.append((rule.p_values(gaussian(rng, 200)[0]) <= 0.05).mean())
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    print("19 calibration rows:", np.mean(found).round(4), "±", error.round(4))
    assert abs(np.mean(found) - 0.05) <= 3 * error
