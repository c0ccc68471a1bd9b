"""Changed class priors from unlabelled rows (M31): optima, laws, tests and what is refused."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax
from scipy.stats import chi2, chi2_contingency

from examples import few_examples
from posterior import LDA
from posterior.decision import proportions as solver
from posterior.decision import shares
from posterior.decision.priors import shift_priors
from posterior.decision.proportions import proportions
from posterior.decision.shares import WeightedPosteriors, resampled, same_counts, same_means
from posterior.decision.shift import estimate_priors

TRAINING = np.array([0.5, 0.3, 0.2])
CENTRES = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]])


def gaussians(rng, n, priors, centres=CENTRES):
    y = rng.choice(len(priors), n, p=priors)
    return rng.normal(size=(n, centres.shape[1])) + centres[y], y


def exact(X, priors, centres=CENTRES):
    """True log posteriors of the Gaussians."""
    distance = ((X[:, None, :] - centres) ** 2).sum(axis=2)
    return log_softmax(np.log(priors) - distance / 2, axis=1)


def case(seed, n=300, m=400, new=(0.1, 0.3, 0.6)):
    """Unlabelled log posteriors, and held-out ones with their classes."""
    rng = np.random.default_rng(seed)
    U, _ = gaussians(rng, n, np.array(new))
    X, y = gaussians(rng, m, TRAINING)
    return exact(U, TRAINING), (exact(X, TRAINING), y)


def mean_log_likelihood(logs, old, q, weight=None):
    ratio = np.exp(logs) / old
    return np.average(np.log(ratio @ q), weights=weight)


@st.composite
def posteriors(draw, max_classes=5):
    """Log posteriors that overlap little or much, and the priors in them."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, K = draw(st.integers(2, 60)), draw(st.integers(2, max_classes))
    old = rng.dirichlet(np.ones(K)) * 0.9 + 0.1 / K
    logs = log_softmax(draw(st.sampled_from([0.5, 2.0, 8.0])) * rng.normal(size=(n, K)) + np.log(old), axis=1)
    return logs, old / old.sum()


def plainly(logs, old, **settings):
    return estimate_priors(logs, old, n_bootstrap=0, **settings)


# --- the optimum ---


@given(posteriors())
def test_em_finds_the_optimum_of_a_general_solver(given_rows):
    logs, old = given_rows
    found = plainly(logs, old)
    ratio = np.exp(logs) / old
    best = minimize(
        lambda q: -np.log(ratio @ q).mean(),
        old,
        jac=lambda q: -(ratio / (ratio @ q)[:, None]).mean(axis=0),
        method="SLSQP",
        bounds=[(0, 1)] * len(old),
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    reached = mean_log_likelihood(logs, old, found.priors)
    assert reached >= mean_log_likelihood(logs, old, best.x / best.x.sum()) - 1e-12
    assert_allclose(found.priors, best.x, atol=2e-3)
    assert_allclose(found.priors.sum(), 1, atol=1e-12)


def test_em_is_the_best_of_a_dense_grid():
    logs, _ = case(1, n=80)
    found = plainly(logs, TRAINING)
    steps = np.linspace(0, 1, 201)
    a, b = (part.ravel() for part in np.meshgrid(steps, steps))
    grid = np.column_stack([a, b, 1 - a - b])[a + b <= 1]
    level = np.log(np.exp(logs) / TRAINING @ grid.T).mean(axis=0)
    assert mean_log_likelihood(logs, TRAINING, found.priors) >= level.max()
    assert np.abs(grid[level.argmax()] - found.priors).max() <= 0.01


@pytest.mark.parametrize("overlap", [0.3, 1.0, 3.0])
def test_em_of_two_classes_is_the_root_of_one_equation(overlap):
    rng = np.random.default_rng(3)
    old, new = np.array([0.4, 0.6]), np.array([0.7, 0.3])
    centres = np.array([[0.0], [overlap]])
    U, _ = gaussians(rng, 2000, new, centres)
    logs = exact(U, old, centres)
    ratio = np.exp(logs) / old
    root = brentq(lambda q: ((ratio[:, 0] - ratio[:, 1]) / (ratio @ [q, 1 - q])).mean(), 1e-9, 1 - 1e-9)
    assert_allclose(plainly(logs, old).priors, [root, 1 - root], rtol=1e-6)


def test_em_agrees_with_ten_thousand_steps_of_the_textbook_algorithm():
    logs, _ = case(4)
    q = TRAINING.copy()
    for _ in range(10_000):
        weighted = np.exp(logs) / TRAINING * q
        q = (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
    assert_allclose(plainly(logs, TRAINING).priors, q, rtol=1e-7)


@given(posteriors())
def test_the_gap_bounds_what_is_left_to_gain_at_any_shares(given_rows):
    logs, old = given_rows
    found = plainly(logs, old)
    assert 0 <= found.gap <= 1e-10
    best = mean_log_likelihood(logs, old, found.priors)
    ratio = np.exp(logs) / old
    for q in np.random.default_rng(0).dirichlet(np.ones(len(old)), 20):
        bound = (ratio / (ratio @ q)[:, None]).mean(axis=0).max() - 1
        assert best - mean_log_likelihood(logs, old, q) <= bound + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_the_likelihood_never_falls_on_the_way(seed, monkeypatch):
    monkeypatch.setattr(solver, "MAX_ITER", 1)
    rng = np.random.default_rng(seed)
    density = np.exp(rng.choice([1, 10, 100]) * rng.normal(size=(40, 4)))
    weight = rng.multinomial(40, np.full(40, 1 / 40), 3) / 40
    q, levels = np.full((3, 4), 0.25), []
    for _ in range(30):
        levels.append((weight * np.log(np.matmul(density, q[:, :, None])[:, :, 0])).sum(axis=1))
        q = proportions(density, weight, q).share
    assert (np.diff(levels, axis=0) >= -1e-13 * np.abs(levels[0])).all()


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0, 300.0])
def test_few_steps_suffice_however_much_the_classes_overlap(scale):
    rng = np.random.default_rng(0)
    for _ in range(100):
        n, K = int(rng.integers(1, 200)), int(rng.integers(2, 9))
        logs = scale * rng.normal(size=(n, K))
        density = np.exp(logs - logs.max(axis=1, keepdims=True))
        found = proportions(density, np.full((1, n), 1 / n), np.full((1, K), 1 / K))
        assert found.gap[0] <= 1e-10
        assert found.n_iter <= 30


def test_many_samples_at_once_are_each_sample_alone():
    rng = np.random.default_rng(5)
    density, start = rng.exponential(size=(30, 4)), np.full((1, 4), 0.25)
    weight = rng.multinomial(30, np.full(30, 1 / 30), 7) / 30
    together = proportions(density, weight, np.repeat(start, 7, axis=0))
    alone = [proportions(density, one[None], start).share[0] for one in weight]
    repeated = proportions(np.repeat(density[None], 7, axis=0), weight, np.repeat(start, 7, axis=0))
    assert_allclose(together.share, alone, atol=1e-8)
    assert_allclose(repeated.share, together.share, atol=1e-8)


# --- laws ---


def test_posteriors_that_average_to_the_old_priors_give_them_back():
    rows = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.1, 0.8], [0.2, 0.2, 0.6]])
    found = plainly(np.log(rows), rows.mean(axis=0))
    assert_allclose(found.priors, rows.mean(axis=0), atol=1e-9)
    assert_allclose(found.statistic, 0, atol=1e-12)
    assert_allclose(found.p_value, 1)


@few_examples
@given(posteriors(), st.integers(0, 1000))
def test_posteriors_shifted_to_other_priors_tell_the_same(given_rows, seed):
    logs, old = given_rows
    new = np.random.default_rng(seed).dirichlet(np.ones(len(old))) * 0.9 + 0.1 / len(old)
    new /= new.sum()
    before, after = plainly(logs, old), plainly(shift_priors(logs, old, new), new)
    assert_allclose(after.priors, before.priors, atol=1e-6)


@few_examples
@given(posteriors(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_classes_is_irrelevant(given_rows, random):
    logs, old = given_rows
    rows, columns = list(range(len(logs))), list(range(len(old)))
    random.shuffle(rows)
    random.shuffle(columns)
    a, b = plainly(logs, old), plainly(logs[np.ix_(rows, columns)], old[columns])
    assert_allclose(b.priors, a.priors[columns], atol=1e-7)
    assert_allclose(b.statistic, a.statistic, atol=1e-7)


@pytest.mark.parametrize(("method", "with_held_out"), [("em", False), ("em", True), ("confusion", True)])
def test_a_weight_is_a_number_of_repetitions(method, with_held_out):
    logs, (known, y) = case(6, n=120, m=150)
    rng = np.random.default_rng(0)
    w, v = rng.integers(0, 4, 120), rng.integers(1, 4, 150)
    weighted = {"held_out": (known, y, v)} if with_held_out else {}
    repeated = {"held_out": (np.repeat(known, v, axis=0), np.repeat(y, v))} if with_held_out else {}
    a = plainly(logs, TRAINING, method=method, sample_weight=w, **weighted)
    b = plainly(np.repeat(logs, w, axis=0), TRAINING, method=method, **repeated)
    assert_allclose(a.priors, b.priors, atol=1e-8)
    assert_allclose(a.uncorrected, b.uncorrected, atol=1e-8)
    assert_allclose([a.statistic, a.df], [b.statistic, b.df], rtol=1e-8)
    if method == "em":
        assert_allclose(a.p_value, b.p_value, rtol=1e-8)


def test_weights_and_repetitions_have_the_same_intervals_but_for_chance():
    logs, held_out = case(6)
    for settings_ in ({}, {"held_out": held_out}):
        many = {"n_bootstrap": 2000, **settings_}
        a = estimate_priors(logs, TRAINING, sample_weight=np.full(len(logs), 2), **many)
        b = estimate_priors(np.repeat(logs, 2, axis=0), TRAINING, **many)
        assert_allclose(a.low, b.low, atol=0.01)
        assert_allclose(a.high, b.high, atol=0.01)


def test_every_row_twice_changes_no_estimate_and_doubles_the_statistic():
    logs, _ = case(7)
    once, twice = plainly(logs, TRAINING), plainly(np.vstack([logs, logs]), TRAINING)
    assert_allclose(twice.priors, once.priors, atol=1e-9)
    assert_allclose(twice.statistic, 2 * once.statistic, rtol=1e-9)


def test_shifted_priors_are_recovered_from_many_rows():
    rng = np.random.default_rng(8)
    X, y = gaussians(rng, 50_000, TRAINING)
    model = LDA().fit(X, y)
    held_out = (model.leave_one_out_log_proba(X, y), y)
    for new in ([0.1, 0.3, 0.6], [0.9, 0.1, 0.0], [0.0, 0.0, 1.0]):
        U, truth = gaussians(rng, 50_000, np.array(new))
        logs = model.predict_log_proba(U)
        for settings_ in (
            {},
            {"held_out": held_out},
            {"held_out": held_out, "method": "confusion"},
        ):
            found = plainly(logs, model.priors_, **settings_)
            assert_allclose(found.priors, np.bincount(truth, minlength=3) / 50_000, atol=0.02)
            assert found.p_value < 1e-6


def test_held_out_rows_put_wrong_posteriors_right():
    rng = np.random.default_rng(9)
    new = np.array([0.2, 0.2, 0.6])
    (U, _), (X, y) = gaussians(rng, 20_000, new), gaussians(rng, 20_000, TRAINING)
    # Overconfident, as naive Bayes is with features that repeat each other.
    logs, known = (log_softmax(3 * exact(rows, TRAINING), axis=1) for rows in (U, X))
    plain = estimate_priors(logs, TRAINING, n_bootstrap=100)
    corrected = estimate_priors(logs, TRAINING, held_out=(known, y), n_bootstrap=100)
    assert np.abs(plain.priors - new).max() > 0.03
    assert_allclose(corrected.priors, new, atol=0.015)
    assert_allclose(corrected.uncorrected, plain.priors, atol=1e-9)
    assert ((corrected.low <= new) & (new <= corrected.high)).all()


def test_the_correction_finds_what_em_makes_of_held_out_rows_weighted_to_it():
    logs, (known, y) = case(10)
    known = log_softmax(1.7 * known, axis=1)
    logs = log_softmax(1.7 * logs, axis=1)
    found = plainly(logs, TRAINING, held_out=(known, y))
    weight = found.priors[y] / np.bincount(y)[y]
    assert_allclose(plainly(known, TRAINING, sample_weight=weight).priors, found.uncorrected, atol=0.002)


# --- the tail, zeros, single classes ---


def test_a_log_posterior_of_minus_a_hundred_thousand_counts_as_it_is():
    logs = np.array([[0.0, -1e5], [-1e5, 0.0], [np.log(0.5), np.log(0.5)]])
    tiny = 1e-250
    old = np.array([tiny, 1.0])
    found = plainly(logs, [0.5, 0.5])
    assert_allclose(found.priors, [0.5, 0.5], atol=1e-9)
    # Relative to a prior of 1e-250 a posterior of 1e-250 is even odds, and one of e^−1e5 still nothing.
    rows = np.array([[0.0, -1e5], [np.log(tiny), 0.0], [-1e5, 0.0]])
    assert_allclose(plainly(rows, old).priors, [0.5, 0.5], atol=1e-9)


def test_posteriors_of_zero_and_one_count_the_rows():
    y = np.array([0, 0, 1, 2, 0, 1])
    with np.errstate(divide="ignore"):
        logs = np.log(np.eye(3)[y])
    found = estimate_priors(logs, TRAINING, held_out=(logs, y), n_bootstrap=200)
    for estimate in (found, plainly(logs, TRAINING)):
        assert_allclose(estimate.priors, [3 / 6, 2 / 6, 1 / 6], atol=1e-9)


@pytest.mark.parametrize("sharp", [True, False])
def test_rows_of_a_single_class_give_it_all(sharp):
    rng = np.random.default_rng(0)
    U = rng.normal(size=(400, 2)) + CENTRES[1]
    logs = np.tile([-np.inf, 0.0, -np.inf], (5, 1)) if sharp else exact(U, TRAINING)
    found = estimate_priors(logs, TRAINING)
    assert found.priors[1] > 0.95
    assert found.high[1] > 0.99
    if sharp:
        assert_array_equal(found.priors, [0, 1, 0])
        # What five rows of known class leave open: 0.025^(1/5).
        assert_allclose(found.low, [0, 0.025**0.2, 0])
        assert_allclose(found.high, [1 - 0.025**0.2, 1, 1 - 0.025**0.2])


def test_a_class_without_an_old_prior_stays_without():
    logs, (known, y) = case(11)
    wide, wide_known = (np.insert(part, 1, -np.inf, axis=1) for part in (logs, known))
    old = np.insert(TRAINING, 1, 0.0)
    moved = np.where(y > 0, y + 1, 0)
    for settings_, narrow in (
        ({}, {}),
        ({"held_out": (wide_known, moved)}, {"held_out": (known, y)}),
        (
            {"held_out": (wide_known, moved), "method": "confusion"},
            {"held_out": (known, y), "method": "confusion"},
        ),
    ):
        found, same = estimate_priors(wide, old, **settings_), estimate_priors(logs, TRAINING, **narrow)
        for name in ("priors", "low", "high", "uncorrected"):
            assert_allclose(np.delete(getattr(found, name), 1), getattr(same, name), atol=1e-12)
            assert getattr(found, name)[1] == 0
        assert found.p_value == same.p_value
        assert found.df == same.df == 2


def test_intervals_are_no_narrower_than_with_known_classes():
    U = np.random.default_rng(0).normal(size=(300, 2)) + CENTRES[0]
    found = estimate_priors(exact(U, TRAINING), TRAINING)
    assert (found.high >= 1 - 0.025 ** (1 / 300)).all()
    assert (found.low <= 0.025 ** (1 / 300)).all()


def test_one_class_has_a_prior_of_one_and_cannot_change():
    found = estimate_priors(np.zeros((4, 1)), [1.0])
    assert_array_equal([found.priors, found.low, found.high], np.ones((3, 1)))
    assert (found.df, found.p_value) == (0, 1.0)


# --- the confusion table ---


def table_of_counts(known, y):
    return np.array(
        [np.bincount(known[y == k].argmax(axis=1), minlength=3) / (y == k).sum() for k in range(3)]
    ).T


def test_confusion_is_the_inverse_table_times_the_predicted_shares_where_that_is_a_distribution():
    inside = 0
    for seed in range(30):
        logs, (known, y) = case(seed, n=100, m=100, new=(0.1, 0.1, 0.8))
        mean = np.bincount(logs.argmax(axis=1), minlength=3) / len(logs)
        solution = np.linalg.solve(table_of_counts(known, y), mean)
        found = plainly(logs, TRAINING, method="confusion", held_out=(known, y))
        assert_allclose(found.uncorrected, mean)
        if (solution >= 0).all():
            inside += 1
            assert_allclose(found.priors, solution, atol=1e-7)
        else:
            assert (found.priors >= 0).all()
            assert_allclose(found.priors.sum(), 1)
    assert 5 < inside < 30


def test_confusion_knows_nothing_but_the_predicted_classes():
    logs, (known, y) = case(12)
    a = estimate_priors(logs, TRAINING, method="confusion", held_out=(known, y))
    b = estimate_priors(
        log_softmax(4 * logs, axis=1),
        "uniform",
        method="confusion",
        held_out=(log_softmax(2 * known, axis=1), y),
    )
    for name in ("priors", "low", "high", "p_value"):
        assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("method", ["em", "confusion"])
def test_classes_that_held_out_rows_tell_apart_by_chance_only_get_wide_intervals(method):
    rng = np.random.default_rng(13)
    centres = np.array([[0.0], [3.0], [3.0]])
    (U, _), (X, y) = gaussians(rng, 500, TRAINING, centres), gaussians(rng, 500, TRAINING, centres)
    # The scores of the last two classes differ by noise.
    noise = np.array([[0.0, 0.0, 1.0]])
    logs, known = (
        log_softmax(exact(rows, TRAINING, centres) + noise * rng.normal(size=(500, 1)), axis=1)
        for rows in (U, X)
    )
    found = estimate_priors(logs, TRAINING, method=method, held_out=(known, y))
    assert (found.high - found.low > 0.3).tolist() == [False, True, True]


# --- intervals ---


@pytest.mark.parametrize("method", ["em", "confusion"])
def test_intervals_contain_the_estimate_and_widen_with_the_confidence(method):
    logs, held_out = case(14)
    narrow, wide = (
        estimate_priors(logs, TRAINING, method=method, held_out=held_out, confidence=c) for c in (0.5, 0.99)
    )
    assert (narrow.low <= narrow.priors).all()
    assert (narrow.priors <= narrow.high).all()
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()


def test_the_spread_of_the_bootstrap_is_that_of_the_information_matrix():
    logs, _ = case(15, n=1000)
    found = estimate_priors(logs, TRAINING, n_bootstrap=2000)
    ratio = np.exp(logs) / TRAINING
    score = ratio / (ratio @ found.priors)[:, None]
    # Under Σ_k q_k = 1 the last share follows from the others.
    free = score[:, :2] - score[:, 2:]
    deviation = np.sqrt(np.diag(np.linalg.inv(free.T @ free)))
    assert_allclose((found.high - found.low)[:2], 2 * 1.96 * deviation, rtol=0.08)


def test_the_bootstrap_in_small_blocks_has_the_same_law_and_the_same_seed_the_same_bits(monkeypatch):
    logs, held_out = case(16)
    for settings_ in ({}, {"held_out": held_out}, {"held_out": held_out, "method": "confusion"}):
        monkeypatch.undo()
        first = estimate_priors(logs, TRAINING, n_bootstrap=1000, **settings_)
        again = estimate_priors(
            logs, TRAINING, n_bootstrap=1000, random_state=np.random.default_rng(0), **settings_
        )
        other = estimate_priors(logs, TRAINING, n_bootstrap=1000, random_state=1, **settings_)
        monkeypatch.setattr(shares, "BLOCK", 40_000)
        blocks = estimate_priors(logs, TRAINING, n_bootstrap=1000, **settings_)
        assert_array_equal(first.low, again.low)
        assert (first.low != other.low).any()
        for estimate in (other, blocks):
            assert_allclose(estimate.low, first.low, atol=0.012)
            assert_allclose(estimate.high, first.high, atol=0.012)


@pytest.mark.parametrize("weight", [np.ones(5), np.array([1.0, 2.0, 0.5, 1.5, 3.0])])
def test_resampled_rows_are_drawn_in_proportion_to_their_weight(weight):
    drawn = resampled(np.random.default_rng(0), weight, 20_000)
    share, size = weight / weight.sum(), round(weight.sum())
    assert_allclose(drawn.sum(axis=1), 1)
    assert_allclose(drawn.mean(axis=0), share, atol=0.005)
    assert_allclose(drawn.var(axis=0), share * (1 - share) / size, rtol=0.05)


def test_no_bootstrap_samples_give_no_intervals():
    logs, _ = case(0)
    found = plainly(logs, TRAINING)
    assert np.isnan([found.low, found.high]).all()


# --- tests of no change ---


def test_the_likelihood_ratio_is_that_of_the_definition():
    logs, _ = case(17, n=50, new=TRAINING)
    found = plainly(logs, TRAINING)
    ratio = 2 * 50 * mean_log_likelihood(logs, TRAINING, found.priors)  # ℓ(old) = 0: posteriors sum to one
    assert_allclose(found.statistic, ratio, rtol=1e-9)
    assert_allclose(found.p_value, chi2.sf(ratio, 2), rtol=1e-9)


def test_predicted_classes_are_compared_by_pearsons_chi_squared():
    logs, (known, y) = case(18, new=TRAINING)
    found = plainly(logs, TRAINING, method="confusion", held_out=(known, y))
    count = [np.bincount(part.argmax(axis=1), minlength=3) for part in (logs, known)]
    reference = chi2_contingency(count, correction=False)
    assert_allclose([found.statistic, found.df], [reference.statistic, reference.dof], rtol=1e-9)
    assert_allclose(found.p_value, reference.pvalue, rtol=1e-9)


def test_small_counts_are_compared_by_permutation():
    a, b = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 1, 2, 2])
    rows, held_out = (
        WeightedPosteriors(log_softmax(5 * np.eye(3)[k], axis=1), np.ones(len(k))) for k in (a, b)
    )
    found = same_counts(rows, held_out, np.random.default_rng(0))
    pooled, rng = np.concatenate([a, b]), np.random.default_rng(1)

    def distance(order):
        count = [np.bincount(part, minlength=3) for part in (order[:6], order[6:])]
        return chi2_contingency(count, correction=False).statistic

    assert_allclose(found.statistic, distance(pooled), rtol=1e-9)
    drawn = [distance(rng.permutation(pooled)) for _ in range(800)]
    assert_allclose(found.p_value, np.mean(np.array(drawn) >= found.statistic - 1e-9), atol=0.055)
    assert found.p_value != pytest.approx(chi2.sf(found.statistic, 2), rel=1e-3)


def test_mean_posteriors_of_two_classes_are_compared_by_the_two_sample_z_test():
    rng = np.random.default_rng(19)
    a, b = (log_softmax(rng.normal(size=(n, 2)), axis=1) for n in (40, 70))
    found = same_means(
        WeightedPosteriors(a, np.ones(40)), np.exp(a), WeightedPosteriors(b, np.ones(70)), np.exp(b)
    )
    p, q = np.exp(a[:, 0]), np.exp(b[:, 0])
    z = (p.mean() - q.mean()) / np.sqrt(np.concatenate([p, q]).var() * (1 / 40 + 1 / 70))
    assert found.df == 1
    assert_allclose(found.statistic, z**2, rtol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("method", ["em", "confusion"])
def test_without_a_change_the_test_says_so_in_nineteen_of_twenty_samples(method):
    n = 250
    p = [
        plainly(logs, TRAINING, method=method, held_out=held_out).p_value
        for logs, held_out in (case(100 + k, n=200, new=TRAINING) for k in range(n))
    ]
    # Three standard errors.
    assert abs(np.mean(np.array(p) < 0.05) - 0.05) < 3 * np.sqrt(0.05 * 0.95 / n)


@pytest.mark.long
def test_with_exact_posteriors_the_likelihood_ratio_has_its_level():
    p = [plainly(case(600 + k, n=200, m=10, new=TRAINING)[0], TRAINING).p_value for k in range(250)]
    assert abs(np.mean(np.array(p) < 0.05) - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 250)


# --- what a person sees ---


def test_the_table_is_aligned_and_ends_in_a_sentence():
    logs, held_out = case(20)
    names = ["well", "ill", "in doubt"]
    held_out = (held_out[0], np.array(names)[held_out[1]])
    found = estimate_priors(logs, TRAINING, classes=names, held_out=held_out)
    *lines, sentence = str(found).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert [line.split("  ")[0] for line in lines] == ["class", "well", "ill", "in doubt"]
    assert sentence == "class frequencies have changed (p < 0.001)"
    same = str(estimate_priors(case(21, new=TRAINING)[0], TRAINING))
    assert "no sign of a change in class frequencies (p = 0." in same


def test_the_frame_has_a_row_for_each_class():
    logs, _ = case(22)
    old = dict(zip("abc", TRAINING, strict=True))
    found = estimate_priors(logs, old, classes=list("abc"))
    frame = found.frame()
    assert frame.columns.tolist() == ["class", "old", "prior", "low", "high"]
    assert frame["class"].tolist() == ["a", "b", "c"]
    assert_array_equal(frame["prior"], found.priors)
    assert {f.name for f in fields(found)} >= {
        "statistic",
        "df",
        "p_value",
        "method",
        "n_iter",
        "gap",
        "classes",
    }


# --- what is refused ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "magic"}, 'method must be "em" or "confusion", found \'magic\''),
        ({"method": "confusion"}, r"pass held_out=\(log_posterior, y\)"),
        ({"confidence": 95}, "between 0 and 1, found 95"),
        ({"n_bootstrap": -1}, "whole number ≥ 0, found -1"),
        ({"n_bootstrap": 2.5}, "whole number ≥ 0, found 2.5"),
        ({"sample_weight": np.ones(3)}, "sample_weight has 3 entries for 300 rows"),
        ({"sample_weight": -np.ones(300)}, "finite number ≥ 0"),
        ({"sample_weight": np.zeros(300)}, "no row counts"),
        ({"old": [0.5, 0.5]}, "found 2, expected 3"),
        ({"old": [0.5, 0.5, 0.0]}, "class 2 has an old prior of 0, yet a posterior of"),
        ({"held_out": np.zeros((5, 3))}, r"must be \(log_posterior, y\)"),
        ({"held_out": (np.log(np.full((4, 2), 0.5)), [0, 1, 0, 1])}, "2 columns, expected 3"),
        ({"held_out": (np.log(np.full((4, 3), 1 / 3)), [0, 1, 0])}, "has 3 entries for 4 rows"),
        ({"held_out": (np.log(np.full((4, 3), 1 / 3)), [0, 1, 0, 1])}, "no row of class 2"),
        ({"held_out": (np.log(np.full((3, 3), 1 / 3)), [0, 1, 2], [1, 1, 0])}, "no row of class 2"),
        (
            {"held_out": (np.log(np.full((3, 3), 1 / 3)), [0, 1, 2])},
            "of the held-out rows do not distinguish them",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(change, message):
    logs, _ = case(23)
    given_ = {"old": TRAINING, **change}
    with pytest.raises(ValueError, match=message):
        estimate_priors(logs, given_.pop("old"), **given_)


def test_rows_of_a_class_without_a_prior_are_refused():
    logs, (known, y) = case(24)
    wide, wide_known = (np.insert(part, 3, -np.inf, axis=1) for part in (logs, known))
    y[0] = 3
    with pytest.raises(ValueError, match="1 rows of class 3, whose old prior is 0"):
        estimate_priors(wide, [*TRAINING, 0.0], held_out=(wide_known, y))


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="no row counts"):
        estimate_priors(np.empty((0, 2)), "uniform")


def test_posteriors_that_tell_classes_not_apart_are_refused_by_name():
    with pytest.raises(ValueError, match="classes 'a', 'b', 'c' cannot be told apart"):
        estimate_priors(np.log(np.tile(TRAINING, (9, 1))), TRAINING, classes=list("abc"))
    logs, _ = case(25)
    halves = np.column_stack([logs, logs[:, 2]]) - np.log([1, 1, 2, 2])
    with pytest.raises(ValueError, match="classes 'c', 'd' cannot be told apart"):
        estimate_priors(halves, [0.5, 0.3, 0.1, 0.1], classes=list("abcd"))


def test_a_class_that_is_never_predicted_is_refused_with_a_way_out():
    rng = np.random.default_rng(26)
    old, centres = np.array([0.9, 0.1]), np.array([[0.0], [0.5]])
    (U, _), (X, y) = gaussians(rng, 400, np.array([0.5, 0.5]), centres), gaussians(rng, 400, old, centres)
    logs, known = exact(U, old, centres), exact(X, old, centres)
    assert (known.argmax(axis=1) == 0).all()
    with pytest.raises(ValueError, match=r'classes 0, 1 cannot be told apart: .* with old="uniform"'):
        estimate_priors(logs, old, method="confusion", held_out=(known, y))
    level, known = (shift_priors(part, old, "uniform") for part in (logs, known))
    found = estimate_priors(level, "uniform", method="confusion", held_out=(known, y))
    assert found.low[0] <= 0.5 <= found.high[0]


def test_softmax_scores_are_taken_as_log_posteriors():
    scores = np.random.default_rng(27).normal(size=(50, 3))
    found = plainly(np.log(softmax(scores, axis=1)), "uniform")
    assert_allclose(found.old, 1 / 3)
    assert_allclose(found.priors.sum(), 1)
