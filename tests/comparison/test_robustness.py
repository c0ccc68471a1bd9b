"""What corruption does to models: that it is done as stated, to the training rows alone, and told truly."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from posterior import LDA, LeastSquaresClassifier, LogisticRegression, NaiveBayes
from posterior.comparison.corruption import Corruption, DrawnCorruption, corruptions_of
from posterior.comparison.fixed_candidates import FixedCandidate, n_parameters_of, robustness_candidates
from posterior.comparison.robustness import Robustness
from posterior.datasets import load_penguins
from posterior.estimators.target import labelled_table


def two_classes(n=100, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) * [1, 10, 100][:d] + 2.0 * y[:, None], y


def mixed(n=90):
    X, y = two_classes(n)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[::7, "b"] = np.nan
    frame["state"] = np.array(["CA", "NY", None], dtype=object)[np.arange(n) % 3]
    return frame, np.array(["no", "yes", "maybe"])[(y + (np.arange(n) % 5 == 0)) % 3]


def drawn_corruption(X, y, distance=10.0, seed=0):
    return DrawnCorruption.drawn(labelled_table(X, y), distance, np.random.default_rng(seed))


# -- the corruption -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "outliers", "far", "flipped"])
def test_no_corruption_leaves_the_rows_as_they_are(kind):
    drawn = drawn_corruption(*mixed())
    same = drawn.of(Corruption(kind, 0.0))
    pd.testing.assert_frame_equal(same.native, drawn.train.native)
    assert np.array_equal(same.labels, drawn.train.labels)


@given(st.floats(0, 0.99), st.integers(0, 20))
def test_a_share_of_flipped_labels_is_exact_and_every_one_of_them_is_another_class(share, seed):
    drawn = drawn_corruption(*mixed(), seed=seed)
    corrupted = drawn.of(Corruption("flipped", share))
    changed = corrupted.codes != drawn.train.codes
    assert changed.sum() == round(share * len(changed))
    assert np.array_equal(corrupted.labels, drawn.train.classes[corrupted.codes])
    assert corrupted.native is drawn.train.native


@pytest.mark.parametrize("kind", ["outliers", "far", "flipped", "few"])
def test_more_corruption_includes_less(kind):
    drawn = drawn_corruption(*two_classes())
    little, much = drawn.of(Corruption(kind, 0.1)), drawn.of(Corruption(kind, 0.3))
    if kind == "few":
        assert np.array_equal(little.native, much.native[: len(little)])
        return
    changed = (
        little.codes != drawn.train.codes
        if kind == "flipped"
        else (little.native != drawn.train.native).any(axis=1)
    )
    assert changed.sum() == 10
    assert np.array_equal(np.asarray(little.native)[changed], np.asarray(much.native)[changed])
    assert np.array_equal(little.codes[changed], much.codes[changed])


@pytest.mark.parametrize("kind", ["outliers", "far"])
def test_moved_rows_go_as_far_as_stated_in_deviations_within_classes(kind):
    X, y = two_classes()
    corrupted = drawn_corruption(X, y, distance=7.0).of(Corruption(kind, 0.2))
    within = np.sqrt(np.mean([X[y == k].var(axis=0) for k in (0, 1)], axis=0))
    distance = np.linalg.norm((corrupted.native - X) / within, axis=1)
    moved = distance > 0
    assert moved.sum() == 20
    assert distance[moved] == pytest.approx(7.0)
    assert np.array_equal(corrupted.labels, y)


def test_rows_on_the_right_side_are_surer_of_their_class_than_before():
    X, y = two_classes()
    corrupted = drawn_corruption(X, y).of(Corruption("far", 0.3))
    moved = (corrupted.native != X).any(axis=1)
    model = LDA().fit(X, y)
    before, after = (model.predict_log_proba(table)[np.arange(100), y] for table in (X, corrupted.native))
    odds = [np.subtract(*model.predict_log_proba(table).T) * (1 - 2 * y) for table in (X, corrupted.native)]
    assert (after[moved] >= before[moved]).all()
    assert (odds[1][moved] > odds[0][moved]).all()


def test_gaps_stay_gaps_and_other_columns_stay_as_they_are():
    X, y = mixed()
    corrupted = drawn_corruption(X, y).of(Corruption("outliers", 0.5))
    assert corrupted.native["b"].isna().equals(X["b"].isna())
    assert corrupted.native["state"].isna().equals(X["state"].isna())
    assert (corrupted.native["state"].dropna() == X["state"].dropna()).all()
    assert (corrupted.native["a"] != X["a"]).sum() == 45


def test_few_rows_are_two_of_each_class_at_least():
    X, y = mixed()
    rows = labelled_table(X, y)
    front = np.concatenate([np.flatnonzero(rows.codes == k)[:2] for k in range(3)])
    order = [*front, *np.setdiff1d(np.arange(90), front)]
    drawn = DrawnCorruption.drawn(rows.part(np.array(order)), 10.0, np.random.default_rng(0))
    assert len(drawn.of(Corruption("few", 0.001))) == 6
    assert len(drawn.of(Corruption("few", 0.5))) == 45


@pytest.mark.parametrize("shares", [{"outliers": 1.0}, {"flipped": -0.1}, {"few": "all"}, {"few": True}])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(ValueError, match="must be shares of the rows"):
        corruptions_of(**shares)


# -- the experiment -------------------------------------------------------------------------------

QUICK = {"outliers": 0.1, "flipped": 0.2, "few": 0.3, "repeats": 2}


def test_the_same_seed_gives_the_same_numbers_and_another_gives_others():
    one, two, three = (Robustness.of(*mixed(), **QUICK, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.trials, two.trials, equal_nan=True)
    assert not np.array_equal(one.trials, three.trials, equal_nan=True)


def test_corruption_to_no_row_changes_no_number():
    settings = {"outliers": 1e-9, "flipped": 1e-9, "few": None, "repeats": 2}
    found = Robustness.of(*mixed(), **settings)
    assert len(found.corruptions) == 4
    for i in range(1, 4):
        assert np.array_equal(found.trials[i], found.trials[0], equal_nan=True)
    assert (found.rise()[0] == 0).all()


@pytest.fixture(scope="module")
def from_pandas():
    return Robustness.of(*mixed(), **QUICK)


@pytest.mark.parametrize("container", ["polars", "pyarrow", "numpy"])
def test_every_kind_of_table_gives_the_same_numbers(container, from_pandas):
    X, y = mixed()
    table = {
        "polars": lambda: pl.from_pandas(X),
        "pyarrow": lambda: pa.Table.from_pandas(X, preserve_index=False),
        "numpy": X.astype(object).where(X.notna(), None).to_numpy,
    }[container]()
    found = Robustness.of(table, pa.chunked_array([y]) if container == "pyarrow" else y, **QUICK)
    np.testing.assert_allclose(found.trials, from_pandas.trials, rtol=1e-5)
    assert len(found.frame) == len(found.corruptions) * len(found.names)


def test_rows_held_out_are_never_corrupted():
    seen = []

    class Watching(LDA):
        def predict_log_proba(self, X, priors=None):
            seen.append(np.asarray(X))
            return super().predict_log_proba(X, priors)

    X, y = two_classes()
    Robustness.of(X, y, models={"lda": Watching()}, outliers=0.5, flipped=None, few=None, repeats=1)
    test, train = seen[::2], seen[1::2]
    assert all(np.array_equal(table, test[0]) for table in test)
    assert not np.array_equal(train[0], train[1])


def test_a_table_without_continuous_columns_has_no_outliers_and_says_so():
    votes = pd.DataFrame({"vote": ["y", "n", "y"] * 20, "other": ["n", "n", "y", "y"] * 15})
    found = Robustness.of(votes, ["left", "right"] * 30, repeats=2)
    assert {d.kind for d in found.corruptions} == {"none", "flipped", "few"}
    assert found.names == ("naive-bayes", "logistic", "ridge-logistic", "least-squares")
    assert "outliers left out: there is no continuous column" in str(found)


def test_a_sparse_table_is_left_as_it_is():
    words = sparse.random_array((60, 5), density=0.4, rng=np.random.default_rng(0)).tocsr()
    found = Robustness.of(words, [0, 1] * 30, repeats=1, few=None, flipped=0.1)
    assert [str(d) for d in found.corruptions] == ["as it is", "10 % flipped"]


def test_least_squares_is_dragged_by_rows_far_on_the_right_side_and_logistic_is_not():
    """M23, M36: rows that nobody can mistake move the boundary of least squares."""
    rng = np.random.default_rng(0)
    y = (np.arange(400) % 4 == 0).astype(int)  # a small class, whose rows pull hardest
    X = rng.normal(size=(400, 2)) + np.outer(y, [3.0, 0.0])
    models = {"squares": LeastSquaresClassifier(), "logistic": LogisticRegression()}
    found = Robustness.of(X, y, models=models, outliers=0.1, flipped=None, few=None, distance=60, repeats=4)
    rise, error = found.rise("error_rate")
    far = [d.kind for d in found.corruptions].index("far")
    assert rise[far, 0] > 0.02
    assert rise[far, 0] > 2 * error[far, 0]
    assert abs(rise[far, 1]) < 0.01
    assert "10 % far: the error rate rises by more than chance for squares" in " ".join(found.findings)


def test_overfitting_shows_where_rows_are_few_for_the_parameters():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 12)) + 0.3 * y[:, None]
    found = Robustness.of(X, y, outliers=None, flipped=None, few=0.1, repeats=3)
    qda, tied = found.names.index("qda"), found.names.index("tied-naive-bayes")
    assert found.n_parameters[qda] == 2 * (12 + 78) + 1
    assert found.n_parameters[tied] == 2 * 12 + 12 + 1
    assert found.gap[1, qda] > found.gap[0, qda] > 0
    assert found.gap[1, qda] > found.gap[1, tied]


def test_parameters_are_counted_as_the_models_have_them():
    X, y = two_classes(d=3)
    assert n_parameters_of(LogisticRegression().fit(X, y)) == 3 + 1
    assert n_parameters_of(LDA().fit(X, y)) == 2 * 3 + 6 + 1
    table = pd.DataFrame({"state": ["CA", "NY", "TX", "NY"] * 6, "age": np.arange(24.0)})
    for model in (LogisticRegression(), LogisticRegression(C=np.inf), LeastSquaresClassifier()):
        assert n_parameters_of(model.fit(table, [0, 1, 0, 1, 1, 0] * 4)) == 1 + 2 + 1
    assert n_parameters_of(LogisticRegression().fit(table, [0, 1, 2] * 8)) == 2 * (1 + 2 + 1)
    assert np.isnan(n_parameters_of(object()))


def synthetic(error_rates):
    """The experiment of two models, no corruption and 10 % flipped, of given error rates."""
    trials = np.full((2, 2, 2, 4), 0.5)
    trials[..., 1] = error_rates
    candidates = tuple(FixedCandidate(name, name, "other", None) for name in ("frail", "sturdy"))
    return Robustness(candidates, (Corruption(), Corruption("flipped", 0.1)), trials, 10.0, 70, 30, 0)


def test_findings_say_what_the_numbers_say():
    hurt = synthetic([[[0.1, 0.1], [0.2, 0.2]], [[0.300, 0.302], [0.2, 0.22]]])
    assert hurt.findings == (
        "10 % flipped: the error rate rises by more than chance for frail (10.0 to 30.1 %); "
        "least for sturdy (+1.0 ± 1.0 points).",
    )
    assert "30.1*" in str(hurt)
    both = synthetic([[[0.1, 0.1], [0.2, 0.2]], [[0.2, 0.2], [0.5, 0.5]]])
    assert "for sturdy (20.0 to 50.0 %), frail (10.0 to 20.0 %)." in both.findings[0]
    unhurt = synthetic([[[0.1, 0.1], [0.2, 0.2]], [[0.0, 0.3], [0.2, 0.2]]])
    assert unhurt.findings == ("10 % flipped: the error rate of no model rises by more than chance.",)


def test_the_largest_corruption_of_each_kind_is_told():
    found = Robustness.of(*two_classes(), outliers=(0.2, 0.1), flipped=None, few=(0.5, 0.2), repeats=2)
    assert [f.split(":")[0] for f in found.findings] == ["20 % outliers", "20 % far", "20 % of rows"]


def test_the_line_up_has_every_model_beside_its_remedies():
    found, left_out = robustness_candidates(labelled_table(*mixed()))
    assert [c.title for c in found] == [
        "QDA",
        "LDA",
        "naive Bayes",
        "tied naive Bayes",
        "softmax",
        "ridge softmax",
        "least squares",
    ]
    assert left_out == {}


def test_numbers_can_be_written_as_json_and_progress_is_told():
    told = []
    found = Robustness.of(*two_classes(), **QUICK, progress=lambda *what: told.append(what))
    read = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert read["models"] == list(found.names)
    assert read["log_loss"][0][-1] is None  # least squares has none
    assert told[-1] == (10, 10, "done")


@pytest.mark.parametrize("settings", [{"distance": np.inf}, {"repeats": 0}, {"models": {}}])
def test_what_makes_no_sense_is_refused(settings):
    with pytest.raises(ValueError, match=r"must be"):
        Robustness.of(*two_classes(), **settings)


def test_penguins_survive_flipped_labels_better_by_a_shared_covariance():
    penguins = load_penguins()
    found = Robustness.of(penguins.X, penguins.y, outliers=None, flipped=0.2, few=None, repeats=3)
    naive, lda = found.names.index("naive-bayes"), found.names.index("lda")
    assert found.error_rate[1, lda] < found.error_rate[1, naive]
    assert isinstance(str(found), str)
    assert set(found.frame["corruption"]) == {"none", "flipped"}


def test_naive_bayes_of_the_users_choice_is_told_the_kinds():
    X, y = mixed()
    found = Robustness.of(X, y, models={"mine": NaiveBayes()}, kinds={"a": "categorical"}, **QUICK)
    kept = found.candidates[0].estimator.kinds
    assert kept == [(0, "categorical")]
