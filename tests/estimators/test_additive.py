"""AdditiveClassifier: curves, pairs, strengths, bands."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import posterior
from posterior import AdditiveClassifier, LogisticRegression
from posterior.datasets import load_penguins
from posterior.plot import EffectDisplay


def curved(n=1500, seed=0):
    """Two columns that bend, one that is straight, one that says nothing, and a category."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["bent", "step", "straight", "idle"])
    X["city"] = rng.choice(["a", "b", "c"], n)
    score = 2 * np.cos(1.5 * X.bent) + 2.0 * (X.step > 0) + X.straight + (X.city == "b") - 1.0
    return X, np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-score)), "yes", "no"), score


def test_curves_are_found_where_lines_fail():
    X, y, _ = curved()
    new, labels, _ = curved(seed=1)
    curves = AdditiveClassifier().fit(X, y)
    lines = LogisticRegression(C="auto").fit(X, y)
    best = log_loss(labels == "yes", 1 / (1 + np.exp(-curved(seed=1)[2])))
    assert log_loss(labels, curves.predict_proba(new)) < best + 0.03
    assert log_loss(labels, lines.predict_proba(new)) > best + 0.1


def test_what_says_nothing_is_mostly_left_out():
    idle = []
    for seed in range(6):
        X, y, _ = curved(1000, seed)
        model = AdditiveClassifier().fit(X, y)
        left_out = {name for name, strength in model.strengths_.items() if np.isinf(strength)}
        assert not left_out & {"bent (curve)", "step", "straight", "city"}
        idle += [name in left_out for name in ("idle", "idle (curve)", "straight (curve)")]
        paired = any("idle" in pair for pair in model.pairs_)
        if {"idle", "idle (curve)"} <= left_out and not paired:
            assert np.array_equal(model.predict_proba(X), model.predict_proba(X.assign(idle=0.0)))
    assert np.mean(idle) > 0.5


def test_straight_log_odds_stay_nearly_straight():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 3))
    y = rng.uniform(size=3000) < 1 / (1 + np.exp(-X @ [1.0, -1.0, 0.5]))
    curves, lines = AdditiveClassifier().fit(X, y), LogisticRegression(C=np.inf).fit(X, y)
    apart = curves.decision_function(X) - lines.decision_function(X)
    assert np.sqrt((apart**2).mean()) < 0.15
    assert curves.pairs_ == []


def test_a_pair_is_found_that_no_single_column_shows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=800), "b": rng.normal(size=800), "c": rng.normal(size=800)})
    X["kind"] = rng.choice(["x", "y"], 800)
    y = rng.uniform(size=800) < 1 / (1 + np.exp(-2 * X.a * np.where(X.kind == "x", 1, -1)))
    model = AdditiveClassifier().fit(X, y)
    assert ("a", "kind") in model.pairs_
    assert (
        log_loss(y, model.predict_proba(X))
        < log_loss(y, AdditiveClassifier(pairs=0).fit(X, y).predict_proba(X)) - 0.1
    )


def test_pairs_are_rare_where_there_are_none():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 6))
        y = rng.uniform(size=300) < 1 / (1 + np.exp(-X[:, 0]))
        found += bool(AdditiveClassifier().fit(X, y).pairs_)
    assert found <= 4  # 5 % of 20 is one; 5 or more has a chance of 0.3 %


def test_weights_are_repetitions():
    X, y, _ = curved(400)
    weight = np.random.default_rng(0).integers(0, 3, 400)
    repeated = np.repeat(np.arange(400), weight)
    a = AdditiveClassifier().fit(X, y, sample_weight=weight)
    b = AdditiveClassifier().fit(X.iloc[repeated], y[repeated])
    assert np.allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize(("offset", "unit"), [(1e6, 1.0), (0.0, 1e-6), (5.0, 1e6)])
def test_offset_and_unit_change_nothing(offset, unit):
    X, y, _ = curved(500)
    moved = X.assign(bent=offset + unit * X.bent)
    a, b = AdditiveClassifier().fit(X, y), AdditiveClassifier().fit(moved, y)
    assert np.allclose(a.predict_proba(X), b.predict_proba(moved), atol=1e-4)


def test_contributions_add_up_and_gaps_are_a_level():
    found = load_penguins()
    model = AdditiveClassifier().fit(found.X, found.y)
    some = found.X.iloc[[3, 99]]
    told = model.contributions(some, of="Adelie", against="Gentoo")
    odds = model.predict_log_proba(some)
    assert np.allclose(told.values.sum(axis=1), odds[:, 0] - odds[:, 2], atol=1e-8)


def test_many_classes_and_few_rows_by_blocks_of_the_hessian():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = rng.integers(0, 12, 200)
    model = AdditiveClassifier().fit(X, y)
    assert model.fit_.solution.theta.size > 1_200
    prior = np.bincount(y) / len(y)
    new = rng.integers(0, 12, 200)
    # Noise is found to be noise: the posteriors are about as good as the priors.
    assert log_loss(new, model.predict_proba(X)) < log_loss(new, np.tile(prior, (200, 1))) + 0.05


def test_optimum_is_certified():
    X, y, _ = curved(500)
    model = AdditiveClassifier().fit(X, y)
    assert model.converged_
    assert model.certificate_.proven
    assert model.certificate_.gap < 1e-6


def test_smoothness_by_hand():
    X, y, _ = curved(500)
    loose, stiff = (AdditiveClassifier(smoothness=s, pairs=0).fit(X, y) for s in (0.1, 100.0))
    assert set(loose.strengths_.values()) == {0.1}
    assert stiff.n_parameters_ < loose.n_parameters_
    assert np.ptp(stiff.decision_function(X)) < np.ptp(loose.decision_function(X))
    with pytest.raises(ValueError, match="smoothness must be a number above 0"):
        AdditiveClassifier(smoothness=0).fit(X, y)
    with pytest.raises(ValueError, match="pairs must be a whole number"):
        AdditiveClassifier(pairs=-1).fit(X, y)


def test_bands_cover_the_truth():
    """Two standard errors about the curve of `bent` hold the true curve nearly everywhere."""
    inside = []
    for seed in range(8):
        X, y, _ = curved(800, seed)
        model = AdditiveClassifier(pairs=0).fit(X, y)
        grid = X.iloc[:80].assign(step=0.0, straight=0.0, idle=0.0, city="a")
        names = list(X.columns)
        told = model.contributions(grid, of="yes", against="no")
        effect = np.asarray(told.values)[:, list(told.terms).index("bent")]
        error = model.effect_errors(grid)[:, names.index("bent"), 0]
        truth = 2 * np.cos(1.5 * grid.bent.to_numpy())
        off = effect - truth
        off -= off.mean()  # the baseline has the level
        inside.append((np.abs(off) < 2 * error).mean())
    assert np.mean(inside) > 0.85


def test_picture_has_bands_and_rows():
    X, y, _ = curved(300)
    model = AdditiveClassifier().fit(X, y)
    display = EffectDisplay.from_estimator(model, X).plot()
    by_name = {effect.name: effect for effect in display.effects}
    assert by_name["bent"].error.shape == by_name["bent"].log_odds.shape
    assert 250 < by_name["bent"].counts.sum() <= 300
    assert by_name["city"].error.shape == (3, 1)
    assert len(display.figure_.axes[0].collections) == 1  # the band


def test_saved_and_loaded_is_the_same(tmp_path):
    X, y, _ = curved(300)
    model = AdditiveClassifier().fit(X, y)
    posterior.save(model, tmp_path / "curves.posterior")
    again = posterior.load(tmp_path / "curves.posterior")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.strengths_ == model.strengths_
    assert again.pairs_ == model.pairs_
    assert np.array_equal(again.effect_errors(X), model.effect_errors(X))


def test_sparse_tables_and_texts_are_refused_with_a_remedy():
    from scipy import sparse

    with pytest.raises(ValueError, match="pass a dense one"):
        AdditiveClassifier().fit(sparse.random(50, 4, 0.5, format="csr", random_state=0), np.arange(50) % 2)


def test_what_keeps_time_with_the_rows_of_a_large_table_is_learnt():
    rng = np.random.default_rng(0)
    n = 40_000
    y = np.arange(n) % 2
    shifted = (rng.normal(size=n) + 2 * y)[:, None]
    assert AdditiveClassifier(pairs=0).fit(shifted, y).score(shifted, y) > 0.8
    side = np.arange(n) % 2
    y = np.where(rng.random(n) < 0.9, side, 1 - side)
    X = np.column_stack([rng.normal(size=n), side])
    assert AdditiveClassifier(pairs=0).fit(X, y).score(X, y) > 0.88


def test_a_column_whose_terms_do_not_count_has_no_error():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = np.column_stack([x, np.ones(400)])
    y = (x + rng.logistic(size=400) > 0).astype(int)
    model = AdditiveClassifier().fit(X, y)
    errors = model.effect_errors(X[:5])
    assert (errors[:, 0] > 0).all()
    assert (errors[:, 1] == 0).all()
    assert not any("x1" in term for term in model.terms_)


@pytest.mark.parametrize("form", ["linear_form", "quadratic_form", "decision_points"])
def test_curves_have_no_equation_of_a_line_or_a_conic(form):
    X, y, _ = curved(400)
    model = AdditiveClassifier().fit(X[["bent"]], y)
    with pytest.raises(ValueError, match="curves have no equation"):
        getattr(model, form)(*(["yes", "no"] if form == "quadratic_form" else []))
