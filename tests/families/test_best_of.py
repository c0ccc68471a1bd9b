"""For each column the family that predicts best."""

import numpy as np
import pandas as pd
import pytest

from posterior import NaiveBayes
from posterior.families import (
    BestOf,
    BestOfDistribution,
    Exponential,
    Gamma,
    Histogram,
    MultivariateNormal,
    Normal,
    NormalDistribution,
    Poisson,
)
from posterior.families.best_of import CANDIDATES, _losses, _parts


def columns(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "shifted": rng.normal(size=n) + y,
            "wider": rng.normal(size=n) * (1 + 3 * y),
            "hole": np.where(y == 1, rng.choice([-4.0, 4.0], n), 0) + rng.normal(size=n),
            "counts": rng.poisson(2 + 2 * y, n).astype(float),
        }
    ), y


def test_each_column_gets_the_family_that_it_was_drawn_from_or_one_that_can_be_it():
    X, y = columns()
    model = NaiveBayes(families="auto", tied=False, weights=1.0).fit(X, y)
    found = model.families_
    assert found["shifted"] == found["wider"] == "Normal"
    assert found["hole"] in ("Histogram", "KernelDensity")
    assert found["counts"] in ("Poisson", "NegativeBinomial", "Normal")


def test_what_is_chosen_has_the_smallest_loss_of_values_held_out():
    X, y = columns()
    rows = BestOf().summarize(X.to_numpy(), y, None, 2)
    members = BestOf().estimate(rows).members
    for x, table, member in zip(rows.values, rows.tables, members, strict=True):
        whole = (x == np.floor(x)).all()
        tried = [f for f in CANDIDATES if (x > 0).all() or type(f) is not Gamma]
        tried = [f for f in tried if type(f).__name__ not in ("LogNormal", "Gamma")]
        tried = [f for f in tried if whole or type(f).__name__ not in ("Poisson", "NegativeBinomial")]
        losses = {f: _losses(f, x, table, _parts(table)) for f in tried}
        smallest = min(losses, key=lambda f: losses[f].sum())
        for f in tried:
            more = (losses[f] - losses[smallest])[table > 0]
            by_row = np.repeat(more / table[table > 0], table[table > 0].astype(int))
            if by_row.mean() <= by_row.std() / np.sqrt(len(by_row)) + 1e-9:
                break
        assert type(member).__name__ == f"{type(f).__name__}Distribution"


def test_parts_that_are_held_out_are_of_equal_size_and_add_up():
    table = np.array([[1.0, 1, 1, 1, 1, 12, 2], [0, 3, 0, 1, 1, 0, 50]])
    parts = _parts(table)
    np.testing.assert_allclose(parts.sum(axis=0), table)
    assert parts.sum(axis=(1, 2)).min() > 10


def test_the_model_is_that_of_the_families_given_by_name():
    X, y = columns()
    chosen = BestOf((Normal(), Poisson()))
    auto = NaiveBayes(families=dict.fromkeys(X.columns, chosen), tied=False, weights=1.0).fit(X, y)
    given = {"shifted": Normal(), "wider": Normal(), "hole": Normal()}
    counts = Poisson() if auto.families_["counts"] == "Poisson" else Normal()
    plain = NaiveBayes(families={**given, "counts": counts}, tied=False, weights=1.0).fit(X, y)
    np.testing.assert_allclose(auto.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def test_families_that_the_values_rule_out_are_passed_over():
    X = np.array([[-1.0], [0.5], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    family = BestOf((Gamma(), Exponential(), Normal()))
    assert isinstance(family.estimate(family.summarize(X, y, None, 2)).members[0], NormalDistribution)
    with pytest.raises(
        ValueError, match="none of the candidates takes the numbers of a column, from -1 to 3"
    ):
        BestOf((Gamma(),)).estimate(BestOf().summarize(X, y, None, 2))


def test_other_kinds_of_columns_keep_their_families():
    X, y = columns()
    X["colour"] = np.where(y == 1, "red", "blue")
    model = NaiveBayes(families="auto", tied=False, weights=1.0).fit(X, y)
    assert model.families_["colour"] in ("Categorical", "Bernoulli")


@pytest.mark.parametrize(
    "candidates", [(), (3,), (MultivariateNormal(),), (Normal(tied="auto"),), (Histogram(alpha="auto"),)]
)
def test_candidates_that_cannot_be_are_refused(candidates):
    with pytest.raises(ValueError, match="candidates must"):
        BestOf(candidates)


def test_members_that_do_not_go_together_are_refused():
    one, two = NormalDistribution([[0.0]], [[1.0]]), NormalDistribution([[0.0], [1.0]], [[1.0], [1.0]])
    with pytest.raises(ValueError, match="same classes"):
        BestOfDistribution([one, two])
    with pytest.raises(ValueError, match="one column each"):
        BestOfDistribution([NormalDistribution([[0.0, 1.0]], [[1.0, 1.0]])])


def test_a_word_that_is_not_auto_is_refused():
    with pytest.raises(ValueError, match="families must be 'auto' or a mapping"):
        NaiveBayes(families="best", tied=False, weights=1.0).fit([[0.0], [1.0]], [0, 1])
