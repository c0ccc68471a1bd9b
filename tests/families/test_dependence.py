"""One-dependence models against their definition, written out with loops over rows, levels and columns."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from examples import few_examples
from posterior import NaiveBayes, OneDependence, TreeAugmented, families
from posterior.families.levels import NumberLevels
from posterior.families.spanning_tree import best_tree, shared_information, stays_best
from posterior.kernels.choice import using
from posterior.schema import Codes
from posterior.stats import LevelPairs

SIZES = (3, 2, 4)
K = 2
BOTH = pytest.mark.parametrize("family", [families.OneDependence(), families.TreeAugmented()], ids=str)


def rows_of(seed, n=40, gaps=0.2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    first = rng.integers(0, 3, n)
    codes = np.stack([first, (first + y + rng.integers(0, 2, n)) % 2, rng.integers(0, 4, n)], axis=1)
    return np.where(rng.random(codes.shape) < gaps, -1, codes).astype(np.int32), y, rng


class Definition:
    """Counts and probabilities of levels, one at a time, by loops over the rows."""

    def __init__(self, codes, y, weight, a, m):
        self.codes, self.y, self.w, self.a, self.m = codes, y, weight, a, m

    def rows(self, k=None, **levels):
        """Weight of the rows of a class that have levels: j3=1 is level 1 of column 3, j3=None any level."""
        total = 0.0
        for row, label, w in zip(self.codes, self.y, self.w, strict=True):
            has = [row[int(j[1:])] >= 0 if v is None else row[int(j[1:])] == v for j, v in levels.items()]
            total += w * all(has) * (k is None or label == k)
        return total

    def overall(self, j, v):
        return (self.rows(**{f"j{j}": v}) + 1 / SIZES[j]) / (self.rows(**{f"j{j}": None}) + 1)

    def single(self, k, j, v):
        top = self.rows(k, **{f"j{j}": v}) + self.a * self.overall(j, v)
        return top / (self.rows(k, **{f"j{j}": None}) + self.a)

    def given(self, k, j, v, i, u):
        towards = self.overall(j, v) if k is None else self.given(None, j, v, i, u)
        top = self.rows(k, **{f"j{i}": u, f"j{j}": v}) + self.m * towards
        return top / (self.rows(k, **{f"j{i}": u, f"j{j}": None}) + self.m)

    def one_dependence(self, k, row):
        parts = []
        for i in range(3):
            others = [self.given(k, j, row[j], i, row[i]) for j in range(3) if j != i]
            parts.append(self.single(k, i, row[i]) * np.prod(others))
        return np.mean(parts)

    def tree(self, k, row, parent):
        own = [
            self.single(k, j, row[j]) if i < 0 else self.given(k, j, row[j], i, row[i])
            for j, i in enumerate(parent)
        ]
        return np.prod(own)


@pytest.mark.parametrize("mode", ["reference", "compiled"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [families.OneDependence, families.TreeAugmented])
def test_densities_are_those_of_the_definition(kind, weighted, mode):
    codes, y, rng = rows_of(1)
    weight = rng.random(len(y)) + 0.5 if weighted else None
    family = kind(class_rows=1.7, pair_rows=0.6)
    with using(mode):
        found = family.estimate(family.summarize(Codes(codes, SIZES), y, weight, K))
        cells = np.array(list(product(*map(range, SIZES))))
        log_density = found.log_density(cells)
    slow = Definition(codes, y, np.ones(len(y)) if weight is None else weight, 1.7, 0.6)
    for cell, logs in zip(cells, log_density, strict=True):
        for k in range(K):
            tree = kind is families.TreeAugmented
            p = slow.tree(k, cell, found.parent) if tree else slow.one_dependence(k, cell)
            assert logs[k] == pytest.approx(np.log(p), rel=1e-10)


@BOTH
@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_a_gap_is_the_sum_over_all_levels(family, mode):
    codes, y, _ = rows_of(2)
    with using(mode):
        found = family.estimate(family.summarize(Codes(codes, SIZES), y, None, K))
        cells = np.array(list(product(*map(range, SIZES))))
        p = np.exp(found.log_density(cells)).reshape(*SIZES, K)
        for gone in [c for r in range(4) for c in combinations(range(3), r)]:
            probe = cells.copy()
            probe[:, list(gone)] = -1
            summed = np.broadcast_to(p.sum(axis=gone, keepdims=True), p.shape).reshape(-1, K)
            np.testing.assert_allclose(np.exp(found.log_density(probe)), summed, rtol=1e-10)
            there = [j for j in range(3) if j not in gone]
            part = found.marginal(there).log_density(cells[:, there])
            np.testing.assert_allclose(np.exp(part), summed, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_are_counted_as_by_loops(weighted):
    codes, y, rng = rows_of(3)
    weight = rng.random(len(y)) + 0.5 if weighted else None
    slow = Definition(codes, y, np.ones(len(y)) if weight is None else weight, 1, 1)
    for mode in ("reference", "compiled"):
        with using(mode):
            counts = LevelPairs.of(codes, SIZES, y, weight, K).counts
        starts = np.cumsum([0, *SIZES])
        for (i, j), k in product(product(range(3), repeat=2), range(K)):
            for u, v in product(range(SIZES[i]), range(SIZES[j])):
                expected = (u == v) * slow.rows(k, **{f"j{i}": u}) if i == j else None
                expected = slow.rows(k, **{f"j{i}": u, f"j{j}": v}) if expected is None else expected
                assert counts[k, starts[i] + u, starts[j] + v] == pytest.approx(expected, rel=1e-12)


SHAPES = [(1, 1, 1), (2, 3, 2), (65, 5, 4), (300, 12, 17), (700, 1, 3)]


@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_compiled_code_counts_and_scores_as_the_reference(n, d, n_classes, gaps):
    rng = np.random.default_rng(n)
    sizes = tuple(rng.integers(1, 6, d).tolist())
    codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
    codes = np.where(rng.random(codes.shape) < gaps, -1, codes).astype(np.int32)
    y, weight = rng.integers(0, n_classes, n), rng.integers(1, 4, n).astype(float)
    family = families.OneDependence()
    found = []
    for mode in ("reference", "compiled"):
        with using(mode):
            for cells in (codes, np.asfortranarray(codes), codes.astype(np.int64)):
                sums = family.summarize(Codes(cells, sizes), y, weight, n_classes)
                found.append((sums.counts, family.estimate(sums).log_density(Codes(cells, sizes))))
    for counts, log_density in found[1:]:
        np.testing.assert_array_equal(counts, found[0][0])
        np.testing.assert_allclose(log_density, found[0][1], rtol=1e-11, atol=1e-12)


@BOTH
def test_samples_have_the_frequencies_of_the_density(family):
    codes, y, rng = rows_of(4, gaps=0.0)
    found = family.estimate(family.summarize(Codes(codes, SIZES), y, None, K))
    n = 40_000
    drawn = found.sample(np.ones(n, dtype=int), rng).astype(int)
    counts = np.bincount(np.ravel_multi_index(tuple(drawn.T), SIZES), minlength=24)
    cells = np.array(list(product(*map(range, SIZES))))
    p = np.exp(found.log_density(cells))[:, 1]
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p) + 5).all()


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 6))
@few_examples
def test_no_tree_tells_more_than_the_best_one(seed, d):
    rng = np.random.default_rng(seed)
    information = rng.random((d, d))
    information += information.T
    parent = best_tree(information)
    weight = sum(information[j, i] for j, i in enumerate(parent) if i >= 0)
    for other in product(range(-1, d), repeat=d):
        links = [(j, i) for j, i in enumerate(other) if i >= 0]
        joined = {0}
        for _ in range(d):
            joined |= {j for pair in links if joined & set(pair) for j in pair}
        if other.count(-1) == 1 and len(joined) == d and d <= 4:
            assert sum(information[j, i] for j, i in links) <= weight + 1e-12
    assert stays_best(information[None], parent).all()
    if d > 2:  # a weakest link that is beaten
        weaker = information.copy()
        j = next(j for j, i in enumerate(parent) if i >= 0)
        weaker[j, parent[j]] = weaker[parent[j], j] = 0.0
        assert not stays_best(weaker[None], parent).any()


def test_information_is_that_of_the_definition():
    codes, y, _ = rows_of(6, gaps=0.0)
    found = shared_information(LevelPairs.of(codes, SIZES, y, None, K))
    for i, j in combinations(range(3), 2):
        total = 0.0
        for k, u, v in product(range(K), range(SIZES[i]), range(SIZES[j])):
            both = ((y == k) & (codes[:, i] == u) & (codes[:, j] == v)).sum()
            one, two = ((y == k) & (codes[:, i] == u)).sum(), ((y == k) & (codes[:, j] == v)).sum()
            total += both * np.log(both * (y == k).sum() / (one * two)) if both else 0.0
        assert found[i, j] == pytest.approx(total, rel=1e-10, abs=1e-10)


# -- the estimators ------------------------------------------------------------------------------------------

MODELS = pytest.mark.parametrize("model", [OneDependence(), TreeAugmented()], ids=str)


def frame(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "height": rng.normal(size=n) + y,
            "rooms": rng.integers(1, 6, n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "old": rng.random(n) < 0.3 + 0.2 * y,
        }
    ), y


@MODELS
def test_numbers_are_cut_at_weighted_quantiles_and_few_values_are_levels(model):
    X, y = frame()
    model.fit(X, y)
    levels = model.model_.spec.blocks[0].family.levels
    assert levels[1].cuts == (1.5, 2.5, 3.5, 4.5)
    assert levels[2:] == (None, None)
    counts = np.bincount(levels[0].of(X["height"].to_numpy()))
    assert counts.tolist() == [24] * 5
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    weighted = type(model)().fit(X, y, sample_weight=weight)
    repeated = type(model)().fit(X.iloc[twice], y[twice])
    assert weighted.model_.spec.blocks == repeated.model_.spec.blocks
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


@MODELS
def test_cuts_that_are_given_are_kept_and_let_models_add_up(model):
    X, y = frame()
    cuts = {"height": [0.0, 1.0], "rooms": [3]}
    whole = type(model)(cuts=cuts).fit(X, y)
    parts = [type(model)(cuts=cuts).fit(X[a:b], y[a:b]) for a, b in ((0, 50), (50, 120))]
    np.testing.assert_allclose((parts[0] + parts[1]).predict_proba(X), whole.predict_proba(X), rtol=1e-10)
    streamed = type(model)(cuts=cuts).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    np.testing.assert_allclose(streamed.predict_proba(X), whole.predict_proba(X), rtol=1e-10)


@MODELS
def test_models_of_other_cuts_are_not_added(model):
    X, y = frame()
    parts = [type(model)().fit(X[a:b], y[a:b]) for a, b in ((0, 50), (50, 120))]
    with pytest.raises(ValueError, match="different families"):
        parts[0] + parts[1]


@MODELS
def test_the_levels_of_the_first_part_stay(model):
    X, y = frame()
    first = type(model)().partial_fit(X[:50], y[:50])
    levels = first.model_.spec.blocks[0].family.levels
    first.partial_fit(X[50:], y[50:])
    assert first.model_.spec.blocks[0].family.levels == levels
    cuts = {"height": levels[0].cuts, "rooms": levels[1].cuts}
    same = type(model)(cuts=cuts).fit(X, y)
    np.testing.assert_allclose(first.predict_proba(X), same.predict_proba(X), rtol=1e-10)


@MODELS
def test_columns_filled_later_and_new_categories_join(model):
    X, y = frame()
    early = X.assign(height=np.nan, colour=X["colour"].replace("blue", "red"))
    streamed = type(model)().partial_fit(early[:50], y[:50]).partial_fit(X[50:], y[50:])
    assert {"height", "colour"} <= set(streamed.model_.schema.names)
    p = streamed.predict_proba(X)
    assert np.isfinite(p).all()
    assert not np.allclose(p, streamed.predict_proba(X.assign(height=np.nan)))


@MODELS
def test_contributions_add_up(model):
    X, y = frame()
    X.loc[::7, "height"] = np.nan
    X.loc[::5, "colour"] = None
    model.fit(X, y)
    found = model.contributions(X, of=1, against=0)
    logs = model.predict_log_proba(X)
    np.testing.assert_allclose(found.values.sum(axis=1), logs[:, 1] - logs[:, 0], rtol=1e-9, atol=1e-9)
    gone = found.values[::7, found.terms.index("height")]
    assert (gone == 0).all()


def test_pairs_tell_what_single_columns_do_not():
    rng = np.random.default_rng(0)
    signs = rng.integers(0, 2, (400, 2))
    X, y = np.array(["down", "up"])[signs], signs[:, 0] ^ signs[:, 1]
    assert NaiveBayes(tied=False, weights=1.0).fit(X, y).score(X, y) < 0.7
    for model in (OneDependence(), TreeAugmented()):
        assert model.fit(X, y).score(X, y) == 1.0


def test_texts_and_long_lists_of_categories_are_beside():
    X, y = frame(n=300)
    rng = np.random.default_rng(0)
    X["town"] = [f"town {i}" for i in rng.integers(0, 150, len(y))]
    X["words"] = ["cheap watches today" if k else "the meeting is at noon" for k in y]
    model = OneDependence(kinds={"words": "text"}).fit(X, y)
    assert [len(b.columns) for b in model.model_.spec.blocks] == [4, 1, 1]
    assert model.score(X, y) > 0.6


def test_a_table_of_too_many_pairs_is_refused_with_the_remedy():
    X = np.random.default_rng(0).normal(size=(30, 900))
    with pytest.raises(ValueError, match=r"fewer columns, fewer bins, or NaiveBayes"):
        OneDependence().fit(X, np.arange(30) % 2)


def test_the_likelihood_is_known_of_trees_without_gaps():
    X, y = frame()
    tree = TreeAugmented().fit(X, y)
    joint = tree.predict_joint_log_proba(X)[np.arange(len(y)), y]
    assert tree.log_likelihood_ == pytest.approx(joint.sum(), rel=1e-10)
    X.loc[::7, "height"] = np.nan
    for model in (OneDependence().fit(X, y), TreeAugmented().fit(X, y)):
        assert not hasattr(model, "aic_")
        with pytest.raises(AttributeError, match="does not follow from counts of pairs"):
            _ = model.log_likelihood_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": 1}, "bins must be a whole number from 2 on, found 1"),
        ({"bins": 2.5}, "bins must be a whole number from 2 on, found 2.5"),
        ({"pair_rows": 0}, "pair_rows must be a positive number or 'auto', found 0"),
        ({"class_rows": "often"}, "class_rows must be a positive number or 'auto', found 'often'"),
        ({"cuts": [1, 2]}, "cuts must be a mapping from columns to rising numbers"),
        ({"cuts": {"height": [2, 1]}}, r"cuts\['height'\] must be rising numbers"),
        ({"cuts": {"height": ["low"]}}, r"cuts\['height'\] must be rising numbers"),
        ({"cuts": {"colour": [1, 2]}}, "column 'colour' is categorical .* only numbers are cut"),
        ({"cuts": {"depth": [1, 2]}}, "depth"),
    ],
)
@MODELS
def test_bad_settings_are_refused(model, settings, message):
    X, y = frame()
    with pytest.raises(ValueError, match=message):
        type(model)(**settings).fit(X, y)


@MODELS
def test_settings_are_chosen_by_folds_and_by_leaving_out_rows(model):
    X, y = frame()
    for cv in (3, "loo"):
        tuned = type(model)(class_rows="auto", pair_rows="auto", cv=cv).fit(X, y)
        table = tuned.tuning_
        assert len(table) == 30
        best = table.loc[table["log_loss"].idxmin()]
        assert tuned.best_params_ == {"class_rows": best["class_rows"], "pair_rows": best["pair_rows"]}


def test_sparse_tables_are_read():
    X = np.random.default_rng(0).poisson(0.7, (60, 4)).astype(float)
    y = np.arange(60) % 2
    dense, thin = OneDependence().fit(X, y), OneDependence().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.predict_proba(X), dense.predict_proba(X), rtol=1e-12)


def test_levels_have_names_and_middles():
    levels = NumberLevels((1.0, 3.0), (0.5, 2.0, 9.0))
    assert levels.names == ("< 1", "1 to 3", ">= 3")
    assert levels.drawn(np.array([2, 0])).tolist() == [9.0, 0.5]
    assert levels.impossible() == ""
    assert NumberLevels((3.0, 1.0)).impossible()
    assert NumberLevels((1.0,), (2.0, 3.0)).impossible()
    assert NumberLevels((float("inf"),)).impossible()
