"""Changed class priors are Bayes' rule, exactly; what cannot be done is refused by name."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.naive_bayes import BernoulliNB as TheirBernoulliNB
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from posterior import LDA, QDA, GaussianDiscriminantAnalysis, LogisticRegression, NaiveBayes
from posterior.datasets import load_penguins
from posterior.decision import effective_priors, log_probabilities, shift_priors
from posterior.decision.posteriors import checked, class_codes
from posterior.estimators.classifiers import log_posterior_of, training_priors
from posterior.estimators.held_out import held_out_scores
from posterior.estimators.splits import read_folds
from posterior.schema import LabelledTable

PENGUINS = load_penguins()
X, Y = PENGUINS.X, np.asarray(PENGUINS.y)
SIZES = X[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]].fillna(0.0)
OTHER = np.array([0.7, 0.05, 0.25])

shares = st.lists(st.integers(1, 50), min_size=3, max_size=3)


def normalized(numbers):
    total = sum(numbers)
    return [Fraction(n) / total for n in numbers]


class TestShiftedPosteriors:
    @pytest.mark.parametrize(
        "model",
        [
            LDA(),
            QDA(),
            GaussianDiscriminantAnalysis(tied=0.5, shrinkage=0.1),
            NaiveBayes(kinds={"year": "categorical"}, tied=False, weights=1.0),
        ],
        ids=str,
    )
    def test_equal_those_of_a_generative_model_refitted_with_the_priors(self, model):
        table = X if isinstance(model, NaiveBayes) else SIZES
        model.fit(table, Y)
        refitted = type(model)(**{**model.get_params(), "priors": OTHER}).fit(table, Y)
        shifted = shift_priors(model.predict_log_proba(table), model.priors_, OTHER)
        expected = refitted.predict_log_proba(table)
        assert np.abs(shifted - expected).max() <= 1e-10 * max(1.0, np.abs(expected).max())
        assert np.abs(np.exp(shifted) - np.exp(expected)).max() < 1e-10

    @given(shares, shares, shares)
    def test_equal_fractions(self, row, old, new):
        p, before, after = normalized(row), normalized(old), normalized(new)
        joint = [a * c / b for a, b, c in zip(p, before, after, strict=True)]
        expected = [float(j / sum(joint)) for j in joint]
        logs = np.log([[float(v) for v in p]])
        found = shift_priors(logs, [float(v) for v in before], [float(v) for v in after])
        np.testing.assert_allclose(np.exp(found[0]), expected, rtol=1e-12)

    @given(shares, shares)
    def test_come_back_when_shifted_back(self, old, new):
        logs = np.array([[0.0, -1e5, -3e5], np.log([0.2, 0.3, 0.5])])
        before = np.array(old) / sum(old)
        after = np.array(new) / sum(new)
        back = shift_priors(shift_priors(logs, before, after), after, before)
        np.testing.assert_allclose(back, logs, rtol=1e-12, atol=1e-14)

    def test_keep_the_far_tail(self):
        logs = np.array([[-1e-300, -1e5]])
        found = shift_priors(logs, "uniform", [0.001, 0.999])
        assert found[0, 1] == pytest.approx(-1e5 + np.log(999), rel=1e-15)

    def test_need_no_change_where_the_priors_do_not_change(self):
        logs = log_probabilities([[0.1, 0.9], [1.0, 0.0]])
        np.testing.assert_allclose(shift_priors(logs, [0.3, 0.7], [0.3, 0.7]), logs, atol=1e-15)

    def test_of_a_row_that_no_class_can_have_any_more_are_the_new_priors(self):
        logs = log_probabilities([[1.0, 0.0, 0.0]])
        found = shift_priors(logs, "uniform", [0.0, 0.25, 0.75])
        np.testing.assert_allclose(np.exp(found), [[0.0, 0.25, 0.75]], rtol=1e-15)

    def test_of_a_class_absent_before_and_after_stay_zero(self):
        found = shift_priors(log_probabilities([[0.5, 0.5, 0.0]]), [0.5, 0.5, 0.0], [0.9, 0.1, 0.0])
        np.testing.assert_allclose(np.exp(found), [[0.9, 0.1, 0.0]], rtol=1e-15)

    def test_of_a_class_never_seen_are_refused(self):
        with pytest.raises(ValueError, match=r"class .c. has an old prior of 0 and a new one of 0\.2"):
            shift_priors(
                log_probabilities([[0.5, 0.5, 0.0]]),
                [0.5, 0.5, 0.0],
                [0.4, 0.4, 0.2],
                classes=["a", "b", "c"],
            )

    def test_take_priors_by_name(self):
        logs = log_probabilities([[0.1, 0.9]])
        named = shift_priors(
            logs, "uniform", {"well": 0.999, "ill": 0.001}, classes=np.array(["ill", "well"])
        )
        assert np.array_equal(named, shift_priors(logs, [0.5, 0.5], [0.001, 0.999]))


class TestEffectivePriors:
    def test_count_rows_weights_and_class_weights(self):
        y = ["a", "b", "b", "b"]
        assert effective_priors(y).tolist() == [0.25, 0.75]
        assert effective_priors(y, sample_weight=[3, 1, 1, 1]).tolist() == [0.5, 0.5]
        assert effective_priors(y, class_weight={"a": 9}).tolist() == [0.75, 0.25]
        assert effective_priors(y, class_weight="balanced", classes=["a", "b", "c"]).tolist() == [
            0.5,
            0.5,
            0.0,
        ]

    @pytest.mark.parametrize("weight", ["balanced", {0: 1.0, 1: 20.0}])
    def test_undo_a_class_weight(self, weight):
        # With a saturated model the correction is exact: weighted counts in each cell.
        rng = np.random.default_rng(0)
        cell = rng.integers(3, size=4000)
        y = (rng.random(4000) < np.array([0.02, 0.1, 0.3])[cell]).astype(int)
        table = np.eye(3)[cell][:, 1:]
        weighted = LogisticRegression(C=np.inf, class_weight=weight).fit(table, y)
        plain = LogisticRegression(C=np.inf).fit(table, y)
        undone = shift_priors(
            weighted.predict_log_proba(np.eye(3)[:, 1:]),
            effective_priors(y, class_weight=weight),
            effective_priors(y),
        )
        np.testing.assert_allclose(undone, plain.predict_log_proba(np.eye(3)[:, 1:]), atol=1e-8)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"class_weight": "auto"}, 'must be None, "balanced" or a mapping'),
            ({"class_weight": 3.0}, 'must be None, "balanced" or a mapping'),
            ({"class_weight": {"z": 2}}, "class_weight names"),
            ({"sample_weight": [1, 1]}, "sample_weight has 2 entries for 3 rows"),
            ({"sample_weight": [0, 0, 0]}, "zero for every row"),
            ({"sample_weight": [1, -1, 2]}, "negative, NaN or infinite"),
            ({"class_weight": {"a": -1}}, "must be finite and not negative"),
            ({"class_weight": {"a": 0, "b": 0}}, "leave some class a weight"),
            ({"classes": ["a"]}, "expected one of the classes"),
        ],
    )
    def test_refuse_what_makes_no_sense(self, settings, message):
        with pytest.raises(ValueError, match=message):
            effective_priors(["a", "b", "b"], **settings)


class TestPosteriorsAsGiven:
    @pytest.mark.parametrize(
        ("logs", "message"),
        [
            (np.log([0.5, 0.5]), r"shape \(rows, classes\)"),
            ([[0.2, 0.8]], "not positive, found 0.2 in row 0, column 0; if these are probabilities"),
            (np.log([[0.5, 0.4]]), r"sum to 1 .* 1 of 1 rows do not, first row 0 \(sum 0.9\)"),
            (np.log([[0.5, 0.5], [0.5, 0.5 + 2e-6]]), "first row 1"),
            ([[np.nan, 0.0]], "must not be NaN: 1 of 1 rows"),
            ([["a", "b"]], "must be numbers"),
            ([[-np.inf, -np.inf]], "sum to 1"),
        ],
    )
    def test_that_are_no_log_posteriors_are_refused(self, logs, message):
        with pytest.raises(ValueError, match=message):
            checked(logs)

    @pytest.mark.parametrize(
        ("proba", "message"),
        [
            ([[-0.1, 1.1]], "between 0 and 1, found -0.1 in row 0, column 0"),
            ([[0.5, 0.5], [0.2, 0.2]], "1 of 2 rows do not, first row 1"),
            (np.log([[0.5, 0.5]]), "these look like logs"),
            ([[np.nan, 1.0]], "must not be NaN"),
        ],
    )
    def test_that_are_no_probabilities_are_refused(self, proba, message):
        with pytest.raises(ValueError, match=message):
            log_probabilities(proba)

    def test_within_a_millionth_of_one_are_taken_as_they_are(self):
        proba = np.array([[0.5, 0.5 + 9e-7]])
        assert np.array_equal(log_probabilities(proba), np.log(proba))
        assert np.array_equal(checked(np.log(proba)), np.log(proba))

    @pytest.mark.parametrize("bad", [[0.5, 0.6], [-0.5, 1.5], [0.5, 0.25, 0.25], {"a": 1.0}, "even"])
    def test_with_priors_that_are_none_are_refused(self, bad):
        with pytest.raises(ValueError, match=r"[Pp]riors"):
            shift_priors(np.log([[0.5, 0.5]]), bad, "uniform")
        with pytest.raises(ValueError, match=r"[Pp]riors"):
            shift_priors(np.log([[0.5, 0.5]]), "uniform", bad)

    def test_know_their_classes_by_code_or_by_name(self):
        assert class_codes([2, 0], 3).tolist() == [2, 0]
        assert class_codes(["b", "a"], 2, ["b", "a"]).tolist() == [0, 1]
        with pytest.raises(ValueError, match=r"pass classes=model\.classes_"):
            class_codes(["b", "a"], 2)
        with pytest.raises(ValueError, match="from 0 to 1, found 2"):
            class_codes([2], 2)
        with pytest.raises(ValueError, match="y holds 'c', expected one of the classes"):
            class_codes(["c"], 2, ["a", "b"])
        with pytest.raises(ValueError, match="2 different classes"):
            class_codes(["a"], 2, ["a", "a"])


class TestAnyClassifier:
    @pytest.mark.filterwarnings("error")
    def test_gives_log_posteriors_zeros_included(self):
        forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(SIZES, Y)
        logs = log_posterior_of(forest, SIZES)
        assert np.isneginf(logs).any()
        np.testing.assert_allclose(np.exp(logs), forest.predict_proba(SIZES), rtol=1e-12)

    def test_without_probabilities_is_refused_by_name(self):
        svc = LinearSVC().fit([[0.0], [1.0]], [0, 1])
        with pytest.raises(TypeError, match="LinearSVC gives no probabilities"):
            log_posterior_of(svc, [[0.0]])

    def test_with_improper_probabilities_is_refused_by_name(self):
        class Broken(TheirGaussianNB):
            def predict_log_proba(self, X):
                return super().predict_log_proba(X) + 0.1

        with pytest.raises(ValueError, match="Broken gives no proper probabilities"):
            log_posterior_of(Broken().fit(SIZES, Y), SIZES)

    @pytest.mark.parametrize(
        "model", [TheirLogistic(max_iter=5000), make_pipeline(StandardScaler(), LDA())], ids=str
    )
    def test_is_held_out_as_scikit_learn_would(self, model):
        from sklearn.base import clone

        small = (SIZES / SIZES.std()).to_numpy()
        folds = np.arange(len(Y)) % 3
        found = held_out_scores(model, LabelledTable.of(small, Y), read_folds(folds, Y))
        for fold in range(3):
            fitted = clone(model).fit(small[folds != fold], Y[folds != fold])
            np.testing.assert_allclose(
                found[folds == fold], fitted.predict_log_proba(small[folds == fold]), rtol=1e-12
            )

    def test_held_out_without_a_class_calls_it_impossible(self):
        y = np.array(["a", "a", "b", "b", "c"])
        folds = np.array([0, 1, 0, 1, 1])
        x = np.arange(5.0)[:, None]
        found = held_out_scores(TheirLogistic(), LabelledTable.of(x, y), read_folds(folds, y))
        assert np.isneginf(found[[1, 3, 4], 2]).all()
        assert np.isfinite(found[[0, 2], 2]).all()

    def test_held_out_without_the_first_class_keeps_the_others_in_their_columns(self):
        y = np.array(["a", "b", "b", "c", "c"])
        folds = np.array([1, 0, 1, 0, 1])
        x = np.arange(5.0)[:, None]
        found = held_out_scores(TheirLogistic(), LabelledTable.of(x, y), read_folds(folds, y))
        alone = TheirLogistic().fit(x[folds == 0], y[folds == 0])
        assert np.isneginf(found[folds == 1, 0]).all()
        np.testing.assert_allclose(found[folds == 1, 1:], alone.predict_log_proba(x[folds == 1]))

    @pytest.mark.parametrize(
        ("model", "expected"),
        [
            (LDA(priors=OTHER), OTHER),
            (TheirGaussianNB(priors=OTHER), OTHER),
            (TheirBernoulliNB(class_prior=OTHER), OTHER),
            (make_pipeline(StandardScaler(), QDA(priors=OTHER)), OTHER),
            (TheirLogistic(class_weight="balanced"), np.full(3, 1 / 3)),
            (RandomForestClassifier(n_estimators=2, class_weight="balanced_subsample"), np.full(3, 1 / 3)),
            (TheirLogistic(), np.unique(Y, return_counts=True)[1] / len(Y)),
        ],
        ids=str,
    )
    def test_has_the_priors_it_was_trained_with(self, model, expected):
        model.fit(SIZES / SIZES.std(), Y)
        np.testing.assert_allclose(training_priors(model, Y, None, model.classes_), expected, rtol=1e-12)

    def test_that_is_frozen_and_does_not_say_its_priors_asks_for_them(self):
        frozen = FrozenEstimator(TheirLogistic().fit(SIZES / SIZES.std(), Y))
        with pytest.raises(ValueError, match="LogisticRegression was trained with are not known; pass"):
            training_priors(frozen)
