"""Intervals for changed class priors cover them, and the tests of no change have their level."""

import numpy as np
import pytest
from scipy.special import log_softmax

from posterior import LDA, QDA, GaussianNB
from posterior.decision.shift import estimate_priors

pytestmark = pytest.mark.long

TRAINING = np.array([0.5, 0.3, 0.2])
NEW = [np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6]), np.array([0.8, 0.15, 0.05])]
CENTRES = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]])
# Of 100 rows, the model of the true distributions gets about 80, 64 and 72 right.
MODERATE, HARD, SPREAD = 2.0, 1.2, 1.5
N_SIMULATIONS = 200


def gaussians(rng, n, priors, distance, sd=(1.0, 1.0, 1.0)):
    y = rng.choice(3, n, p=priors)
    return rng.normal(size=(n, 2)) * np.array(sd)[y][:, None] + distance * CENTRES[y], y


def echoed(X, rng):
    """Every feature twice, with some noise: naive Bayes counts it twice, and is overconfident."""
    return np.hstack([X, X + 0.3 * rng.normal(size=X.shape)])


def situation(seed, kind):
    """A model of 2,000 rows, their leave-one-out posteriors, and 1,000 rows under each of the new priors."""
    rng = np.random.default_rng([seed, 17])
    distance = {"moderate": MODERATE, "hard": HARD, "spread": SPREAD, "wrong": MODERATE}[kind]
    sd = (1.0, 1.3, 0.8) if kind == "spread" else (1.0, 1.0, 1.0)
    X, y = gaussians(rng, 2000, TRAINING, distance, sd)
    unlabelled = [gaussians(rng, 1000, new, distance, sd)[0] for new in NEW]
    model = {"spread": QDA, "wrong": GaussianNB}.get(kind, LDA)()
    if kind == "wrong":
        X, unlabelled = echoed(X, rng), [echoed(U, rng) for U in unlabelled]
    model.fit(X, y)
    logs = [model.predict_log_proba(U) for U in unlabelled]
    return model.priors_, logs, (model.leave_one_out_log_proba(X, y), y)


def rates(cases):
    """How often the interval of each class covers, for each of the new priors."""
    covered = np.zeros((len(NEW), 3))
    for seed, (old, samples, settings) in enumerate(cases):
        for k, (logs, new) in enumerate(zip(samples, NEW, strict=True)):
            found = estimate_priors(logs, old, random_state=seed, **settings)
            covered[k] += (found.low <= new) & (new <= found.high)
    return covered / N_SIMULATIONS


@pytest.mark.parametrize("method", ["em", "confusion"])
@pytest.mark.parametrize("kind", ["moderate", "hard", "spread", "wrong"])
def test_95_percent_intervals_of_every_class_cover_nine_times_in_ten_or_more(kind, method):
    cases = (situation(seed, kind) for seed in range(N_SIMULATIONS))
    found = rates((old, logs, {"held_out": held_out, "method": method}) for old, logs, held_out in cases)
    print(kind, method, found.min(), found.mean())
    assert found.min() >= 0.9, found


def exactly(seed):
    """True posteriors of rows under each of the new priors."""
    rng = np.random.default_rng([seed, 18])
    for new in NEW:
        U, _ = gaussians(rng, 1000, new, MODERATE)
        distance = ((U[:, None, :] - MODERATE * CENTRES) ** 2).sum(axis=2)
        yield log_softmax(np.log(TRAINING) - distance / 2, axis=1)


def test_where_the_posteriors_are_exact_em_needs_no_held_out_rows():
    found = rates((TRAINING, exactly(seed), {}) for seed in range(N_SIMULATIONS))
    print("exact", found.min(), found.mean())
    assert found.min() >= 0.9, found


def test_where_the_posteriors_are_overconfident_em_alone_covers_too_rarely():
    cases = (situation(seed, "wrong") for seed in range(N_SIMULATIONS))
    found = rates((old, logs, {}) for old, logs, _ in cases)
    print("overconfident", found.min(), found.mean())
    assert found.min() < 0.5, found


@pytest.mark.parametrize("kind", ["moderate", "hard", "wrong"])
def test_without_a_change_the_two_sample_tests_have_their_level(kind):
    n = 1000
    p = []
    for seed in range(n):
        old, (logs, *_), held_out = situation(10_000 + seed, kind)
        p.append(
            [
                estimate_priors(logs, old, held_out=held_out, method=method, n_bootstrap=0).p_value
                for method in ("em", "confusion")
            ]
        )
    level = (np.array(p) < 0.05).mean(axis=0)
    print(kind, level)
    assert (np.abs(level - 0.05) < 3 * np.sqrt(0.05 * 0.95 / n)).all(), level
