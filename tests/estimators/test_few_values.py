"""Whole numbers with few values: as categories or as numbers, by held-out rows."""

import numpy as np
import pandas as pd
import pytest

import posterior
from posterior import NaiveBayes
from posterior.families import Categorical, FewValues, Normal
from posterior.notices import DataWarning
from posterior.schema import Codes


def codes_without_order(n=400, seed=0):
    """A number whose odd values belong to one class, one that says nothing, and one of any size."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"kind": rng.integers(1, 5, n), "step": rng.integers(0, 7, n), "size": rng.normal(size=n)}
    )
    y = (X["kind"] % 2 == 1) ^ (rng.random(n) < 0.1)
    return X, np.where(y, "in", "out")


def grades(n=400, seed=1):
    """Numbers that grow with the class, in columns that repeat each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.rint(np.clip(4 + y[:, None] + rng.normal(size=(n, 2)), 0, 9))
    return X, y


def loss(model, X, y):
    p = model.predict_log_proba(X)
    return -p[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean()


def test_values_without_an_order_have_a_probability_each():
    X, y = codes_without_order()
    model, plain = NaiveBayes().fit(X, y), NaiveBayes(few_values=False).fit(X, y)
    assert model.families_ == {"size": "Normal", "kind": "Histogram", "step": "Histogram"}
    assert set(plain.families_.values()) == {"Normal"}
    more, classes = codes_without_order(seed=5)
    assert loss(model, more, classes) < loss(plain, more, classes) - 0.1


def test_held_out_rows_take_numbers_for_numbers_where_that_is_better():
    X, y = grades(60)
    model = NaiveBayes().fit(X, y)
    assert set(model.families_.values()) == {"Normal"}
    assert "discrete" in model.tuning_
    plain = NaiveBayes(few_values=False).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-9)


def test_discrete_is_the_hierarchical_categorical():
    rng = np.random.default_rng(0)
    y, x = rng.integers(0, 3, 80), rng.integers(0, 4, 80)
    few, many = FewValues(alpha=0.7), Categorical(alpha=0.7, hierarchical=True)
    found = few.estimate(few.summarize(x[:, None] * 10.0, y, None, 3)).members[0].share[0]
    wanted = many.estimate(many.summarize(Codes(x[:, None].astype(np.int32), (4,)), y, None, 3))
    np.testing.assert_allclose(found, np.exp(wanted.log_tables[0]), rtol=1e-12)


@pytest.mark.parametrize("tied", [True, False])
def test_a_column_that_is_not_discrete_is_the_normal(tied):
    X, y = grades()
    family, normal = FewValues(tied=tied, variance_rows=3.0, discrete=False), Normal(tied, variance_rows=3.0)
    found = family.estimate(family.summarize(X, y, None, 2))
    wanted = normal.estimate(normal.summarize(X, y, None, 2))
    np.testing.assert_allclose(found.log_density(X), wanted.log_density(X), rtol=1e-11)
    assert found.n_parameters == wanted.n_parameters
    assert found.quadratic().linear == pytest.approx(wanted.quadratic().linear)
    np.testing.assert_allclose(found.squared_distance(X), wanted.squared_distance(X), rtol=1e-9)


@pytest.mark.parametrize("cell", [2.5, -3, 1e6, np.nan])
def test_a_number_between_or_beyond_all_values_is_not_impossible(cell):
    X, y = codes_without_order()
    model = NaiveBayes(few_values=True).fit(X, y)
    row = X[:1].assign(kind=cell)
    assert np.isfinite(model.predict_log_proba(row)).all()
    assert np.isfinite(model.score_samples(row)).all()


def test_a_number_beyond_says_what_the_nearest_value_does():
    X, y = codes_without_order()
    model = NaiveBayes(few_values=True).fit(X, y)
    near, far = (model.predict_proba(X[:5].assign(kind=value)) for value in (4, 9))
    np.testing.assert_allclose(near, far, rtol=1e-12)


def test_parts_with_few_values_add_up_to_parts_with_many():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.repeat([1, 2, 3, 4], 50), rng.integers(0, 5, 200)]).astype(float)
    X[100:, 0] += rng.normal(size=100)
    y = rng.integers(0, 2, 200)
    settings = {"tied": False, "few_values": True, "weights": 1.0}
    a, b = (NaiveBayes(**settings).fit(X[part], y[part]) for part in (slice(100), slice(100, 200)))
    whole = NaiveBayes(**settings).fit(X, y)
    assert a.families_["x0"] == "Normal"  # of two values
    for added in (a + b, b + a, sum([a, b])):
        assert added.families_ == whole.families_
        np.testing.assert_allclose(added.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-10)


def test_a_part_of_few_values_and_one_of_many_add_up():
    rng = np.random.default_rng(4)
    few, many = rng.integers(0, 5, (80, 2)), rng.integers(0, 50, (80, 2))
    many[:, 1] = rng.integers(0, 5, 80)
    y = np.arange(80) % 2
    settings = {"tied": False, "few_values": True, "weights": 1.0}
    added = NaiveBayes(**settings).fit(few, y) + NaiveBayes(**settings).fit(many, y)
    X, both = np.concatenate([few, many]), np.concatenate([y, y])
    whole = NaiveBayes(**settings).fit(X, both)
    assert added.families_ == whole.families_ == {"x0": "Normal", "x1": "Histogram"}
    np.testing.assert_allclose(added.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-10)


def test_later_parts_may_show_more_values():
    rng = np.random.default_rng(5)
    X, y = np.concatenate([rng.integers(0, 5, (60, 1)), rng.normal(size=(60, 1))]), np.arange(120) % 2
    model = NaiveBayes(tied=False, few_values=True, weights=1.0).partial_fit(X[:60], y[:60])
    assert model.families_ == {"x0": "Histogram"}
    model.partial_fit(X[60:], y[60:])
    plain = NaiveBayes(tied=False, weights=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-9)


@pytest.mark.parametrize("few_values", [True, "auto"])
def test_rows_left_out_are_scored_as_if_never_seen(few_values):
    X, y = codes_without_order(40)
    model = NaiveBayes(tied=False, weights=0.5, few_values=few_values).fit(X, y)
    found = model.leave_one_out_log_proba(X, y)
    for i in range(0, 40, 7):
        rest = np.arange(40) != i
        other = NaiveBayes(tied=False, weights=0.5, few_values=few_values).fit(X[rest], y[rest])
        np.testing.assert_allclose(found[i], other.predict_log_proba(X[i : i + 1])[0], rtol=1e-9)


def test_contributions_add_up_and_files_keep_all_of_it(tmp_path):
    X, y = codes_without_order()
    model = NaiveBayes().fit(X, y)
    posterior.save(model, tmp_path / "model")
    again = posterior.load(tmp_path / "model")
    assert (again.predict_log_proba(X) == model.predict_log_proba(X)).all()
    assert again.families_ == model.families_
    found = model.contributions(X[:5], of="in", against="out")
    odds = model.predict_log_proba(X[:5])
    np.testing.assert_allclose(found.values.sum(axis=1), odds[:, 0] - odds[:, 1], atol=1e-9)


def test_what_is_given_stays():
    X, y = codes_without_order()
    for settings in ({"weights": 1.0}, {"kinds": {"kind": "continuous", "step": "continuous"}}):
        assert set(NaiveBayes(**settings).fit(X, y).families_.values()) == {"Normal"}
    with pytest.raises(ValueError, match="few_values must be True, False or 'auto', found 'some'"):
        NaiveBayes(few_values="some").fit(X, y)


def test_whole_numbers_after_a_date_are_looked_at_in_their_own_column():
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(120) % 50, unit="D")
    table = pd.DataFrame({"since": days, "visits": np.arange(120) % 4, "flag": np.arange(120) % 2})
    y = np.arange(120) % 3
    with pytest.warns(DataWarning, match="flag"):
        NaiveBayes().fit(table, y)
