"""What `inspect` says is what the model is; and tables with standard errors outlive the rows."""

import copy
import json
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from places import DATA
from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CalibratedClassifier,
    CategoricalNB,
    DecisionClassifier,
    FusionClassifier,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OutlierRule,
    SoftmaxRegression,
)
from posterior.datasets import load_penguins
from posterior.families import Categorical, MixtureOfNormals, MultivariateNormal, NormalDistribution
from posterior.notices import PosteriorWarning
from posterior.workflow.inspection import inspect

SIZES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


@pytest.fixture(scope="module")
def penguins():
    return load_penguins().frame.dropna()


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        return model.fit(X, y)


def iris():
    return load_iris(return_X_y=True)


def two_of_iris():
    X, y = iris()
    return X[50:], y[50:]


def overlapping():
    """Three classes that no line tells apart."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    return rng.normal(size=(200, 2)) + 0.5 * y[:, None], y


def counts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    return rng.poisson(1.0 + y[:, None], size=(60, 4)), y


def size_and_rest():
    table = load_penguins().frame.dropna()
    return table[[*SIZES, "island", "sex"]], table["species"]


EVERY = {
    "naive Bayes": (NaiveBayes(tied=False, weights=1.0), size_and_rest),
    "Gaussian naive Bayes": (GaussianNB(), iris),
    "Bernoulli naive Bayes": (BernoulliNB(), counts),
    "categorical naive Bayes": (CategoricalNB(), counts),
    "multinomial naive Bayes": (MultinomialNB(), counts),
    "LDA": (LDA(), iris),
    "shrunk LDA": (LDA(shrinkage=0.5), iris),
    "QDA": (QDA(), iris),
    "tuned RDA": (GaussianDiscriminantAnalysis(tied="auto"), iris),
    "blocks": (
        GenerativeClassifier([(SIZES, MultivariateNormal()), (["island", "sex"], Categorical(joint=True))]),
        size_and_rest,
    ),
    "mixtures": (GenerativeClassifier([(slice(None), MixtureOfNormals(2))]), iris),
    "logistic": (LogisticRegression(), two_of_iris),
    "lasso": (LogisticRegression(l1_ratio=1.0, C=0.1), iris),
    "softmax without a penalty": (SoftmaxRegression(C=np.inf), overlapping),
    "softmax by Firth": (SoftmaxRegression(penalty="firth"), iris),
    "logistic of chosen strength": (LogisticRegression(C="auto"), two_of_iris),
    "separated classes": (LogisticRegression(C=np.inf), lambda: (iris()[0][:100], iris()[1][:100])),
    "logistic without an intercept": (LogisticRegression(fit_intercept=False), iris),
    "weighted classes": (LogisticRegression(class_weight="balanced", C=np.inf), two_of_iris),
    "least squares": (LeastSquaresClassifier(), iris),
    "regression": (LinearRegression(), lambda: (iris()[0][:, 1:], iris()[0][:, 0])),
    "ridge": (LinearRegression(penalty="l2"), lambda: (iris()[0][:, 1:], iris()[0][:, 0])),
    "decision": (
        DecisionClassifier(
            NaiveBayes(tied=False, weights=1.0),
            reject={"threshold": 0.9},
            outliers=0.1,
            calibration="temperature",
            priors="uniform",
        ),
        size_and_rest,
    ),
    "calibrated": (CalibratedClassifier(QDA(), method="vector"), iris),
    "outliers": (OutlierRule(LDA()), iris),
    "outliers by distance": (OutlierRule(LDA(), method="chi2"), iris),
    "fusion": (FusionClassifier([("a", LDA(), [0, 1]), ("b", RandomForestClassifier(5), [2, 3])]), iris),
    "search": (GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}), iris),
    "pipeline": (make_pipeline(StandardScaler(), LDA()), iris),
    "another library": (RandomForestClassifier(5), iris),
}
every_model = pytest.mark.parametrize("name", EVERY)


def fitted_by(name):
    model, table = EVERY[name]
    return fitted(clone(model), *table())


# -- laws ---------------------------------------------------------------------------------------------


@every_model
def test_every_model_is_data_that_json_can_write_and_read(name):
    found = inspect(fitted_by(name)).as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@every_model
def test_every_model_has_a_page_of_text_that_names_it_and_its_classes(name):
    model = fitted_by(name)
    found = inspect(model)
    page = str(found)
    assert page.startswith(found.title)
    assert all(str(label) in page for label in found.classes)
    assert all(line == line.rstrip() for line in page.splitlines())
    assert not re.search(r"\bnan\b", page)


@every_model
def test_a_copy_that_has_no_rows_says_the_same(name):
    model = fitted_by(name)
    before = inspect(model)
    after = inspect(pickle.loads(pickle.dumps(model)))
    assert str(after) == str(before)
    assert after.as_dict() == before.as_dict()


@every_model
def test_looking_changes_no_prediction_and_no_setting(name):
    model, X = fitted_by(name), EVERY[name][1]()[0]
    before, settings = model.predict(X), repr(model)
    inspect(model)
    assert np.array_equal(model.predict(X), before)
    assert repr(model) == settings


# -- generative models --------------------------------------------------------------------------------


def test_the_parameters_of_naive_bayes_are_means_spreads_and_shares_of_the_classes(penguins):
    model = NaiveBayes(alpha=0, variance_rows=0, tied=False, weights=1.0).fit(
        penguins[["island", "body_mass_g"]], penguins["species"]
    )
    found = inspect(model)
    by_class = penguins.groupby("species")
    values = {(*p.columns, p.name): p.values for p in found.parameters}
    np.testing.assert_allclose(values["body_mass_g", "mean"], by_class["body_mass_g"].mean())
    np.testing.assert_allclose(
        values["body_mass_g", "standard deviation"], by_class["body_mass_g"].std(ddof=0)
    )
    for island in penguins["island"].unique():
        share = by_class["island"].apply(lambda column, island=island: (column == island).mean())
        np.testing.assert_allclose(values["island", f"p({island})"], share, atol=1e-12)
    assert found.n_rows == len(penguins)
    assert found.n_parameters == model.n_parameters_
    assert found.log_likelihood == model.log_likelihood_
    np.testing.assert_array_equal(found.priors, model.priors_)


def test_lda_shows_the_coefficients_that_scikit_learn_calls_coef(penguins):
    two = penguins[penguins["species"] != "Gentoo"]
    model = LDA().fit(two[SIZES], two["species"])
    table = inspect(model).coefficients
    assert table.title == "log odds of Chinstrap against Adelie"
    assert table.columns["term"].tolist() == ["(intercept)", *SIZES]
    np.testing.assert_allclose(table.columns["coef"], [*model.intercept_, *model.coef_[0]], rtol=1e-8)
    assert "std err" not in table.columns
    assert "standard errors are not worked out" in table.why_no_errors


def test_a_model_with_a_covariance_for_each_class_has_no_coefficients():
    assert inspect(fitted_by("QDA")).coefficients is None
    assert inspect(fitted_by("naive Bayes")).coefficients is None


def test_settings_that_were_chosen_by_cross_validation_are_told():
    model = fitted_by("tuned RDA")
    found = inspect(model)
    assert found.settings == {"tied": "auto"}
    assert found.chosen == model.best_params_


def test_why_shrunk_parameters_are_not_counted_is_a_note():
    found = inspect(fitted_by("shrunk LDA"))
    assert found.n_parameters is None
    assert any("free parameters has no meaning" in note for note in found.notes)


def test_what_was_noticed_in_training_is_a_note():
    X = np.column_stack([iris()[0], np.ones(150)])
    assert "'x4' is constant: no effect" in inspect(fitted(GaussianNB(), X, iris()[1])).notes


def test_a_model_of_given_distributions_has_no_rows():
    heights = NormalDistribution(mean=[[178.0], [165.0]], variance=[[49.0], [36.0]])
    model = GenerativeClassifier.from_distributions(["m", "w"], [0.5, 0.5], [("height", heights)])
    found = inspect(model)
    assert (found.n_rows, found.log_likelihood) == (None, None)
    assert [(p.columns, p.name, p.values.tolist()) for p in found.parameters] == [
        (("height",), "mean", [178.0, 165.0]),
        (("height",), "standard deviation", [7.0, 6.0]),
    ]


def test_the_words_of_a_text_column_are_those_that_tell_and_a_note_says_of_how_many():
    file = DATA / "sms_spam.tsv"
    if not file.exists():
        pytest.skip("the shared table sms_spam.tsv is not here")
    lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    texts = np.array([[text] for _, text in lines], dtype=object)
    model = NaiveBayes(tied=False, weights=1.0).fit(texts, [label for label, _ in lines])
    found = inspect(model)
    assert {"p(claim)", "p(prize)"} <= {p.name for p in found.parameters}
    assert any("50 of 8," in note for note in found.notes)


# -- linear models ------------------------------------------------------------------------------------


def test_coefficients_with_standard_errors_are_those_of_the_summary():
    model = fitted(LogisticRegression(C=np.inf), *two_of_iris())
    table, summary = inspect(model).coefficients, model.summary()
    assert table.why_no_errors == ""
    assert list(table.columns) == list(summary.columns)
    for name, values in summary.columns.items():
        np.testing.assert_array_equal(table.columns[name], values)
    assert table.figures == summary.figures
    assert "\n".join(table.lines()) == str(summary)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("logistic", "the fit is penalised"),
        ("lasso", "the fit is penalised"),
        ("ridge", "the fit is penalised"),
        ("separated classes", "no finite estimate exists"),
        ("weighted classes", "class_weight"),
        ("least squares", "no likelihood"),
    ],
)
def test_why_there_are_no_standard_errors_is_said(name, reason):
    table = inspect(fitted_by(name)).coefficients
    assert reason in table.why_no_errors
    assert "std err" not in table.columns


def test_with_more_than_two_classes_coefficients_are_log_odds_against_the_first():
    X, y = iris()
    model = SoftmaxRegression().fit(X, y)
    columns = inspect(model).coefficients.columns
    odds = model.predict_log_proba(X)[:, 1:] - model.predict_log_proba(X)[:, :1]
    coef = columns["coef"].reshape(2, 5)
    np.testing.assert_allclose(coef[:, 0] + X @ coef[:, 1:].T, odds, atol=1e-9)
    assert columns["class"].tolist() == [1] * 5 + [2] * 5
    assert columns["term"].tolist() == ["(intercept)", "x0", "x1", "x2", "x3"] * 2
    np.testing.assert_allclose(columns["odds ratio"], np.exp(columns["coef"]))


@pytest.mark.parametrize("name", ["logistic", "lasso", "softmax by Firth", "softmax without a penalty"])
def test_the_log_likelihood_is_that_of_the_rows(name):
    model, (X, y) = fitted_by(name), EVERY[name][1]()
    own = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    assert inspect(model).log_likelihood == pytest.approx(own.sum(), rel=1e-9)


def test_the_number_of_parameters_counts_free_coefficients():
    assert inspect(fitted_by("lasso")).n_parameters == 2 * 5
    assert inspect(fitted_by("logistic without an intercept")).n_parameters == 2 * 4
    assert inspect(fitted_by("least squares")).n_parameters == 2 * 5
    X, y = two_of_iris()
    twice = fitted(LogisticRegression(C=np.inf), np.column_stack([X, X[:, 0]]), y)
    assert inspect(twice).n_parameters == 5


def test_rows_learnt_by_partial_fit_are_counted():
    X, y = iris()
    model = LogisticRegression().fit(X, y).partial_fit(X[:30], y[:30])
    found = inspect(model)
    assert found.n_rows == 180
    assert found.log_likelihood is None
    assert "partial_fit" in inspect(LogisticRegression(C=np.inf).partial_fit(X, y)).coefficients.why_no_errors


def test_coefficients_that_a_user_changed_are_shown_without_what_no_longer_holds():
    model = fitted(LogisticRegression(C=np.inf), *two_of_iris())
    model.coef_ = model.coef_ * 2
    found = inspect(model)
    np.testing.assert_array_equal(found.coefficients.columns["coef"][1:], model.coef_[0])
    assert "changed after the fit" in found.coefficients.why_no_errors
    assert found.log_likelihood is None


def test_coefficients_kept_sparse_are_shown_all_the_same():
    X, y = two_of_iris()
    model = LogisticRegression().fit(X, y)
    assert str(inspect(model)) == str(inspect(LogisticRegression().fit(X, y).sparsify()))


def test_that_classes_are_separated_or_the_solver_stopped_is_a_note():
    (note,) = inspect(fitted_by("separated classes")).notes
    assert "separat" in note or "tell" in note
    X, y = iris()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(solver="gd", max_iter=2).fit(X, y)
    (note,) = inspect(model).notes
    assert note.startswith("the solver stopped before the optimum")


# -- what is around -----------------------------------------------------------------------------------


def test_a_decision_is_told_beside_the_model_that_it_is_made_from(penguins):
    costs = {
        "Adelie": {"Adelie": 0, "Chinstrap": 1, "Gentoo": 1, "ask": 0.2},
        "Chinstrap": {"Adelie": 5, "Chinstrap": 0, "Gentoo": 1, "ask": 0.2},
        "Gentoo": {"Adelie": 1, "Chinstrap": 1, "Gentoo": 0, "ask": 0.2},
    }
    model = DecisionClassifier(LDA(), costs=costs, reject={"cost": 0.3}, priors="uniform", outliers=0.1)
    found = inspect(fitted(model, penguins[SIZES], penguins["species"]))
    assert (found.title, found.around) == ("LinearDiscriminantAnalysis", ("DecisionClassifier",))
    assert found.decision["costs"] == costs
    assert found.decision["reject"] == "every action is expected to cost more than 0.3"
    assert found.decision["priors"] == pytest.approx(dict.fromkeys(costs, 1 / 3))
    assert found.decision["outliers"]["alpha"] == 0.1
    page = str(found)
    assert "a row is rejected where every action is expected to cost more than 0.3" in page
    assert "p ≤ 0.1 (conformal, around LinearDiscriminantAnalysis, by" in page
    assert "Chinstrap       5          0       1  0.2" in page


def test_a_rule_for_outliers_that_nobody_asks_is_told_as_such(penguins):
    model = DecisionClassifier(LDA(), outlier_rule=OutlierRule(LDA()))
    model = fitted(model, penguins[SIZES], penguins["species"])
    assert inspect(model).decision["outliers"]["alpha"] is None
    assert "outliers are not looked for, though a rule was learnt" in str(inspect(model))


def test_layers_are_taken_off_one_after_the_other():
    X, y = iris()
    inner = CalibratedClassifier(FrozenEstimator(make_pipeline(StandardScaler(), LDA()).fit(X, y))).fit(X, y)
    found = inspect(DecisionClassifier(inner, reject={"threshold": 0.8}))
    assert found.around == ("DecisionClassifier", "CalibratedClassifier", "FrozenEstimator", "Pipeline")
    assert found.title == "LinearDiscriminantAnalysis"
    assert set(found.decision) == {"calibration", "reject"}
    assert str(found).startswith(
        "LinearDiscriminantAnalysis, inside Pipeline, inside FrozenEstimator, inside CalibratedClassifier"
    )


def test_the_members_of_a_fusion_are_inspected_one_by_one():
    found = inspect(fitted_by("fusion"))
    assert list(found.members) == ["a", "b"]
    assert found.members["a"].around == ("FusionClassifier, weight 1, columns x0, x1",)
    assert len(found.members["a"].parameters) == 5
    assert (found.members["b"].title, found.members["b"].settings) == (
        "RandomForestClassifier",
        {"n_estimators": 5},
    )
    assert found.settings == {}  # those of the members are told with the members


def test_only_settings_that_are_not_the_defaults_are_listed():
    assert inspect(fitted_by("logistic")).settings == {}
    found = inspect(fitted(NaiveBayes(priors=np.array([0.2, 0.3, 0.5])), *iris()))
    assert found.as_dict()["settings"] == {"priors": [0.2, 0.3, 0.5]}
    assert inspect(fitted_by("softmax without a penalty")).as_dict()["settings"] == {"C": "inf"}


def test_what_is_no_fitted_model_is_refused():
    with pytest.raises(TypeError, match="inspect takes a fitted model"):
        inspect({"coef": 1})
    with pytest.raises(TypeError, match="inspect takes a fitted model"):
        inspect(NaiveBayes)
    with pytest.raises(NotFittedError):
        inspect(NaiveBayes(tied=False, weights=1.0))
    with pytest.raises(NotFittedError):
        inspect(DecisionClassifier(NaiveBayes(tied=False, weights=1.0)))


# -- text ---------------------------------------------------------------------------------------------


def test_long_tables_are_cut_and_say_by_how_much():
    X, y = load_breast_cancer(return_X_y=True)
    found = inspect(LDA().fit(X, y))
    page = found.text(most=10)
    assert "… (20 more)" in page  # of 30 columns
    assert "… (485 more)" in page  # of 495 parameters
    assert "… (21 more)" in page  # of 31 coefficients
    assert "more)" not in found.text(most=None)
    assert len(found.parameters) == 60 + 30 * 29 // 2


def test_of_many_classes_the_first_are_shown():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(26), 10)
    page = str(inspect(GaussianNB().fit(rng.normal(size=(260, 2)) + y[:, None], y)))
    assert "… (18 more)" in page
    assert max(len(line) for line in page.splitlines()) < 160


def test_columns_that_the_model_does_not_read_are_only_counted(penguins):
    model = GenerativeClassifier([("body_mass_g", MultivariateNormal())]).fit(penguins, penguins["species"])
    page = str(inspect(model))
    assert f"and {penguins.shape[1] - 1} that the model does not read" in page
    assert "island" not in page


def test_names_of_several_lines_do_not_break_the_tables():
    X = pd.DataFrame({"a\nb": [1.0, 2.0, 5.0, 6.0], "c": ["x\ny", "z", "x\ny", "z"]})
    page = str(inspect(fitted(NaiveBayes(tied=False, weights=1.0), X, ["one\ntwo", "one\ntwo", "b", "b"])))
    assert all(
        line.startswith(("NaiveBayes", "  ", "columns", "parameters", "notes")) or not line
        for line in page.splitlines()
    )


# -- tables with standard errors outlive the rows ------------------------------------------------------


def test_copying_a_model_takes_nothing_from_it():
    model = LogisticRegression(C=np.inf).fit(*overlapping())
    copy.copy(model)
    pickle.dumps(model)
    assert model.summary().figures["n"] == 200


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["copy", "deepcopy", "pickle"],
)
@pytest.mark.parametrize("name", ["softmax without a penalty", "softmax by Firth", "regression"])
def test_a_copy_hands_out_the_summary_that_was_asked_for_before(name, copied):
    model = fitted_by(name)
    before = model.summary(covariance="model", level=0.9)
    after = copied(copied(model)).summary(level=0.9)
    assert str(after) == str(before)
    np.testing.assert_array_equal(after.covariance, before.covariance)


def test_a_copy_has_no_summary_that_nobody_asked_for():
    model = fitted(LogisticRegression(C=np.inf), *two_of_iris())
    model.summary(level=0.9)
    with pytest.raises(ValueError, match="needs the rows of training"):
        copy.copy(model).summary()
    with pytest.raises(ValueError, match="needs the rows of training"):
        copy.copy(model).summary(covariance="sandwich", level=0.9)


def test_a_new_fit_forgets_the_summary():
    X, y = overlapping()
    model = LogisticRegression(C=np.inf).fit(X, y)
    first = str(model.summary())
    model.fit(X[::2], y[::2])
    with pytest.raises(ValueError, match="needs the rows of training"):
        copy.copy(model).summary()
    assert str(model.summary()) != first


def test_partial_fit_forgets_the_summary():
    X, y = two_of_iris()
    model = fitted(LogisticRegression(C=np.inf), X, y)
    model.summary()
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match="learnt by partial_fit"):
        copy.copy(model).summary()


def test_a_summary_is_not_handed_out_for_other_coefficients():
    model = fitted(LogisticRegression(C=np.inf), *two_of_iris())
    model.summary()
    changed = copy.copy(model)
    changed.coef_ = changed.coef_ + 1.0
    with pytest.raises(ValueError, match="needs the rows of training"):
        changed.summary()


def test_while_the_rows_are_there_a_summary_is_worked_out_anew():
    X, y = two_of_iris()
    X = np.array(X)
    model = fitted(LogisticRegression(C=np.inf), X, y)
    model.summary()
    X[0, 0] += 1.0
    with pytest.raises(ValueError, match="rows have changed"):
        model.summary()
