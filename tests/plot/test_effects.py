"""What the values of a column add to the log odds: exact for sums, a mean over rows for all else."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from posterior import LDA, QDA, DecisionClassifier, LogisticRegression, NaiveBayes
from posterior.plot import EffectDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def drawn(n=150, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "state": np.array(["a", "b", "c"])[np.where(rng.random(n) < 0.5, y % 3, rng.integers(3, size=n))],
            "weight": rng.normal(size=n) - 0.5 * y,
            "flag": rng.random(n) < 0.3 + 0.2 * (y == 1),
        }
    )
    X.loc[::7, "size"] = np.nan
    X.loc[3::11, "state"] = None
    return X, np.array(["no", "yes", "perhaps"])[y]


ADDITIVE = {
    "naive Bayes": NaiveBayes(),
    "logistic": LogisticRegression(missing="indicator"),
    "decision": DecisionClassifier(NaiveBayes()),
}


@pytest.mark.parametrize("estimator", ADDITIVE.values(), ids=ADDITIVE)
def test_the_effect_is_the_column_of_contributions_where_log_odds_are_sums(estimator):
    X, y = drawn()
    model = estimator.fit(X, y)
    display = EffectDisplay.from_estimator(model, X, positive="no")
    inner = getattr(model, "estimator_", model)
    parts = inner.contributions(X, of="no", against="yes")
    assert [effect.name for effect in display.effects] == list(X)
    for effect in display.effects:
        own = parts.values[:, parts.terms.index(effect.name)]
        own = own - own.mean()
        if effect.levels is None:
            expected = [own[np.flatnonzero(X[effect.name] == value)[0]] for value in effect.values]
        else:
            expected = [
                own[np.flatnonzero(X[effect.name].astype(str) == level)[0]] for level in effect.levels
            ]
        np.testing.assert_allclose(effect.log_odds[:, 0], expected, atol=1e-9)
        gaps = X[effect.name].isna().to_numpy()
        assert (effect.missing is not None) == gaps.any()
        if effect.missing is not None:
            assert effect.missing[0] == pytest.approx(own[gaps][0], abs=1e-9)


def test_lines_of_lda_are_straight_and_those_of_qda_are_parabolas():
    X, y = drawn(n_classes=3)
    X = X[["size", "weight"]].fillna(0.0)
    straight = EffectDisplay.from_estimator(LDA().fit(X, y), X)
    curved = EffectDisplay.from_estimator(QDA().fit(X, y), X)
    for display, degree in ((straight, 1), (curved, 2)):
        for effect in display.effects:
            for line in effect.log_odds.T:
                fit = np.polynomial.Polynomial.fit(effect.values, line, degree)
                np.testing.assert_allclose(fit(effect.values), line, atol=1e-8)
    np.testing.assert_allclose(straight.effects[0].log_odds.sum(axis=1), 0.0, atol=1e-9)
    assert straight.classes == tuple(sorted(set(y)))


def test_the_mean_over_the_rows_is_zero_for_sums_and_the_other_class_has_the_other_sign():
    X, y = drawn()
    model = NaiveBayes().fit(X, y)
    yes, no = (EffectDisplay.from_estimator(model, X, ["state"], positive=p) for p in ("yes", "no"))
    np.testing.assert_allclose(yes.effects[0].log_odds, -no.effects[0].log_odds, atol=1e-12)
    counts = X["state"].value_counts().reindex(yes.effects[0].levels).to_numpy()
    total = counts @ yes.effects[0].log_odds[:, 0] + X["state"].isna().sum() * yes.effects[0].missing[0]
    assert total == pytest.approx(0.0, abs=1e-9)


def test_a_forest_with_posteriors_of_zero_has_finite_effects():
    X, y = drawn()
    numbers = X[["size", "weight"]].fillna(0.0)
    model = RandomForestClassifier(10, random_state=0).fit(numbers, y)
    assert (model.predict_proba(numbers) == 0).any()
    display = EffectDisplay.from_estimator(model, numbers).plot()
    assert all(np.isfinite(effect.log_odds).all() for effect in display.effects)


def test_sparse_and_dense_tables_have_the_same_effects():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(80, 4)).astype(float)
    y = np.arange(80) % 2
    model = LogisticRegression().fit(X, y)
    thin = LogisticRegression().fit(sparse.csr_array(X), y)
    a = EffectDisplay.from_estimator(model, X).effects
    b = EffectDisplay.from_estimator(thin, sparse.csr_array(X)).effects
    for first, second in zip(a, b, strict=True):
        np.testing.assert_allclose(first.log_odds, second.log_odds, atol=1e-6)


def test_the_commonest_levels_are_drawn_and_the_others_counted():
    rng = np.random.default_rng(0)
    codes = np.minimum(rng.geometric(0.2, size=400), 15)
    X = pd.DataFrame({"city": [f"c{k:02d}" for k in codes], "x": rng.normal(size=400)})
    model = NaiveBayes().fit(X, rng.integers(2, size=400))
    (effect,) = EffectDisplay.from_estimator(model, X, ["city"]).effects
    counts = X["city"].value_counts()
    assert len(effect.levels) == 8
    assert counts[list(effect.levels)].min() >= counts.drop(list(effect.levels)).max()
    assert effect.unshown == X["city"].nunique() - 8


def test_what_is_drawn_is_what_was_found_and_names_are_no_mathematics():
    X, y = drawn()
    X = X.rename(columns={"size": "$size", "state": "_state"})
    display = EffectDisplay.from_estimator(NaiveBayes().fit(X, y), X).plot()
    display.figure_.canvas.draw()
    numbers, levels = display.figure_.axes[:2]
    effect = display.effects[0]
    np.testing.assert_array_equal(numbers.lines[1].get_ydata(), effect.log_odds[:, 0])
    np.testing.assert_array_equal(levels.lines[1].get_xdata(), display.effects[1].log_odds[:, 0])
    assert numbers.get_title(loc="left") == r"\$size"
    assert numbers.get_ylim() == display.limits == levels.get_xlim()


def test_columns_that_cannot_be_drawn_are_refused():
    X, y = drawn()
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="column 'nothing' is a text, is empty or is not there"):
        EffectDisplay.from_estimator(model, X, ["nothing"])
    with pytest.raises(ValueError, match="'maybe' is not a class"):
        EffectDisplay.from_estimator(model, X, positive="maybe")
