"""What LogisticRegression does beyond scikit-learn: tables, gaps, products, and what it says of itself."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from posterior import LogisticRegression, SoftmaxRegression
from posterior.linear import LBFGS, SGD, GradientDescent, Newton
from posterior.notices import DataWarning, SeparationWarning, UnseenCategoryWarning


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, n)
    state = rng.choice(["CA", "NY", "TX"], n)
    sex = rng.choice(["f", "m"], n)
    smoker = rng.random(n) < 0.3
    odds = (age - 40) / 10 + (state == "CA") - (sex == "m") + 0.5 * smoker
    vote = np.where(odds + rng.logistic(size=n) > 0, "yes", "no")
    return pd.DataFrame({"age": age, "state": state, "sex": sex, "smoker": smoker}), vote


# -- tables ---------------------------------------------------------------------------------------


def test_categories_become_columns_named_after_their_levels():
    X, y = people()
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.terms_ == ("age", "smoker", "state[NY]", "state[TX]", "sex[m]")
    assert model.coef_.shape == (1, 5)
    dummies = pd.get_dummies(X, columns=["state", "sex"], drop_first=True).astype(float)
    same = LogisticRegression(C=np.inf).fit(dummies.to_numpy(), y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-7)


def test_under_a_penalty_every_level_has_a_column_so_that_their_order_does_not_matter():
    X, y = people()
    model = LogisticRegression().fit(X, y)
    assert model.terms_ == ("age", "smoker", "state[CA]", "state[NY]", "state[TX]", "sex[m]")
    renamed = X.assign(state=X["state"].map({"CA": "Z", "NY": "Y", "TX": "X"}))
    np.testing.assert_allclose(
        model.predict_proba(X), LogisticRegression().fit(renamed, y).predict_proba(renamed), atol=1e-9
    )


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda X: X, lambda X: X.astype({"state": "category"})])
def test_any_data_frame_gives_the_same_model(convert):
    X, y = people()
    a, b = LogisticRegression().fit(X, y), LogisticRegression().fit(convert(X), y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)
    assert b.feature_names_in_.tolist() == ["age", "state", "sex", "smoker"]


def test_an_unseen_category_adds_nothing_and_is_counted():
    X, y = people()
    model = LogisticRegression().fit(X, y)
    new = X.head(2).assign(state=["ZZ", "CA"])
    with pytest.warns(UnseenCategoryWarning, match=r"column 'state': 1 rows .* \('ZZ'\): it adds nothing"):
        score = model.decision_function(new)
    terms = dict(zip(model.terms_, model.coef_[0], strict=True))
    known = model.decision_function(new.assign(state="CA"))
    assert np.isclose(score[0], known[0] - terms["state[CA]"])


@pytest.mark.parametrize("model", [LogisticRegression(), LogisticRegression(penalty=None)], ids=str)
def test_a_table_that_leaves_no_column_predicts_by_frequencies(model):
    X = pd.DataFrame({"state": ["CA"] * 8})
    y = np.array([0, 1, 1, 1, 0, 1, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model.fit(X, y)
    assert_allclose(model.predict_proba(X), np.tile([0.25, 0.75], (8, 1)), rtol=1e-6)


def test_many_categories_are_kept_sparse():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 600, 4000)
    y = (rng.normal(size=600)[codes] + rng.logistic(size=4000) > 0).astype(int)
    X = pd.DataFrame({"zip": [f"z{c:03d}" for c in codes], "x": rng.normal(size=4000)})
    model = LogisticRegression().fit(X, y)
    assert model.fit_.objective.scan.sparse
    dense = np.column_stack([X["x"], codes[:, None] == np.unique(codes)]).astype(float)
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(dense, y).coef_, atol=1e-6)


def test_gaps_are_refused_by_their_column_or_become_an_indicator():
    X, y = people()
    X.loc[:9, "age"] = np.nan
    X.loc[5:44, "state"] = None
    with pytest.raises(
        ValueError, match=r"contains NaN: missing values in column 'age' \(10 rows\), column 'state' \(40"
    ):
        LogisticRegression().fit(X, y)
    model = LogisticRegression(missing="indicator", C=np.inf).fit(X, y)
    assert model.terms_ == (
        "age",
        "smoker",
        "state[NY]",
        "state[TX]",
        "state[missing]",
        "sex[m]",
        "age[missing]",
    )
    by_hand = pd.get_dummies(X, columns=["state", "sex"], drop_first=False)
    by_hand = by_hand.drop(columns=["state_CA", "sex_f"])
    by_hand["age_missing"], by_hand["state_missing"] = X["age"].isna(), X["state"].isna()
    by_hand["age"] = by_hand["age"].fillna(X["age"].mean())
    same = LogisticRegression(C=np.inf).fit(by_hand.astype(float), y)
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(by_hand.astype(float)), atol=1e-9)


def test_gaps_in_a_sparse_table_with_indicator():
    rng = np.random.default_rng(4)
    X = sparse.random(200, 6, density=0.5, random_state=1, format="csr")
    y = rng.integers(0, 2, 200)
    X.data[::17] = np.nan
    dense = X.toarray()
    a = LogisticRegression(missing="indicator").fit(X, y)
    b = LogisticRegression(missing="indicator").fit(dense, y)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-8)
    with pytest.raises(ValueError, match="contains NaN"):
        LogisticRegression().fit(X, y)


def test_degree_two_spans_what_polynomial_features_span():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3))
    y = ((X**2).sum(axis=1) + rng.logistic(size=400) > 3).astype(int)
    model = LogisticRegression(C=np.inf, degree=2).fit(X, y)
    assert model.terms_[3:] == ("x0^2", "x0:x1", "x0:x2", "x1^2", "x1:x2", "x2^2")
    pipe = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression(C=np.inf)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), pipe.predict_proba(X), atol=1e-8)
    far = LogisticRegression(C=np.inf, degree=2).fit(X + 1e6, y)
    np.testing.assert_allclose(model.predict_proba(X), far.predict_proba(X + 1e6), atol=1e-6)


def test_degree_two_leaves_out_squares_of_yes_and_no():
    X, y = people()
    assert "smoker^2" not in LogisticRegression(degree=2).fit(X, y).terms_
    with pytest.raises(ValueError, match="degree must be 1 or 2, found 3"):
        LogisticRegression(degree=3).fit(X, y)


# -- what it says of itself -----------------------------------------------------------------------


def test_redundant_columns_are_named_once_when_nothing_penalises():
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["hp", "speed"])
    X["total"] = X["hp"] + X["speed"]
    y = (X["hp"] + rng.logistic(size=200) > 0).astype(int)
    with pytest.warns(DataWarning, match="'total' is a linear combination of 'hp', 'speed'"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert np.isclose(model.coef_[0] @ [1, 1, -1], 0, atol=1e-9)
    LogisticRegression().fit(X, y)  # a penalty makes the coefficients unique: nothing to say


def test_a_solver_that_does_not_arrive_says_so():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(
        ConvergenceWarning, match=r"stopped after 5 steps before the optimum: relative gradient"
    ):
        model = LogisticRegression(solver=GradientDescent(max_iter=5)).fit(X, y)
    assert not model.converged_
    assert model.n_iter_.tolist() == [5]


def test_separated_classes_are_named_with_the_remedy():
    X = pd.DataFrame({"dose": [1.0, 2, 3, 4, 5, 6], "noise": [0.3, -1, 0.2, 0.5, -0.3, 0.1]})
    y = ["no", "no", "no", "yes", "yes", "yes"]
    with pytest.warns(SeparationWarning, match="'dose'") as told:
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert len([w for w in told if issubclass(w.category, SeparationWarning)]) == 1
    assert 'penalty="firth"' in str(told[0].message)
    assert model.separation_ is not None
    assert model.separation_.complete
    with pytest.raises(ValueError, match="no standard errors"):
        model.summary()
    firth = LogisticRegression(penalty="firth").fit(X, y)
    assert np.abs(firth.coef_).max() < 10
    assert firth.summary().frame.shape[0] == 3


def test_the_penalty_is_chosen_by_leave_one_out():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 10))
    y = (X[:, 0] + 2 * rng.logistic(size=120) > 0).astype(int)
    model = LogisticRegression(C="auto").fit(X, y)
    assert model.C_ < 1  # most columns are noise
    assert np.isclose(model.choice_.strengths[model.choice_.losses.argmin()], 1 / model.C_, rtol=1e-12)
    again = LogisticRegression(C=model.C_).fit(X, y)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-6)


def test_leave_one_out_is_near_refitting_without_each_row():
    X, y = load_iris(return_X_y=True)
    logs = LogisticRegression().leave_one_out_log_proba(X, y)
    rows = [3, 57, 70, 83, 106, 133]
    for i in rows:
        others = np.delete(np.arange(150), i)
        refit = LogisticRegression().fit(X[others], y[others])
        np.testing.assert_allclose(logs[i], refit.predict_log_proba(X[i : i + 1])[0], atol=2e-2)


def test_a_saved_model_takes_no_rows_along():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(5000, 4)), rng.integers(0, 2, 5000)
    model = LogisticRegression(C=np.inf).fit(X, y)
    saved = pickle.dumps(model)
    assert len(saved) < 20_000
    loaded = pickle.loads(saved)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.converged_
    with pytest.raises(ValueError, match="needs the rows of training"):
        loaded.summary()


def test_a_summary_of_rows_that_were_changed_is_refused():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.summary().frame.shape == (3, 8)
    X[0, 0] += 1
    with pytest.raises(ValueError, match="the rows have changed"):
        model.summary()


# -- learning on ----------------------------------------------------------------------------------


def test_warm_start_begins_where_the_last_fit_ended():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(warm_start=True, solver=LBFGS()).fit(X, y)
    first = model.n_iter_[0]
    model.fit(X, y)
    assert model.n_iter_[0] < first / 2
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, y).coef_, atol=1e-5)
    model.fit(X[:100], y[:100])  # other classes: from the beginning
    assert model.coef_.shape == (1, 4)


def test_partial_fit_learns_from_parts():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(6000, 3))
    y = (X @ [1.0, -1.0, 0.5] + rng.logistic(size=6000) > 0).astype(int)
    model = LogisticRegression(solver=SGD(decay="inverse"))
    for part in np.array_split(np.arange(6000), 12):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, y).coef_, atol=0.2)
    assert model.score(X, y) > 0.7
    with pytest.raises(ValueError, match="smooth penalty"):
        LogisticRegression(penalty="firth").partial_fit(X, y)


def test_partial_fit_after_fit_goes_on_from_there():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(3000, 3))
    y = (X @ rng.normal(size=(3, 3)) + rng.gumbel(size=(3000, 3))).argmax(axis=1)
    model = LogisticRegression().fit(X[:2000], y[:2000])
    fitted = model.coef_.copy()
    model.set_params(solver=SGD(step=1e-9, average=False)).partial_fit(X[2000:], y[2000:])
    np.testing.assert_allclose(model.coef_, fitted, atol=1e-5)
    assert not hasattr(model, "solution_")
    with pytest.raises(ValueError, match="needs the numbers of all rows"):
        LogisticRegression(class_weight="balanced").partial_fit(X, y)
    heavy = LogisticRegression(class_weight={0: 5.0}).partial_fit(X, y)
    plain = LogisticRegression().partial_fit(X, y, sample_weight=np.where(y == 0, 5.0, 1.0))
    np.testing.assert_array_equal(heavy.coef_, plain.coef_)


def test_fit_after_partial_fit_starts_anew():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().partial_fit(X, y).fit(X, y)
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, y).coef_)
    assert not hasattr(model, "stream_")


def test_the_path_of_a_solver_is_kept_on_request():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(solver=Newton(path=True)).fit(X, y)
    values = [step.value for step in model.solution_.path]
    assert len(values) == model.n_iter_[0] + 1
    assert (np.diff(values) <= 1e-15).all()


# -- scikit-learn's habits ------------------------------------------------------------------------


def test_it_works_in_pipelines_searches_and_clones():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipe, {"logisticregression__C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert clone(LogisticRegression(C=3)).C == 3
    with pytest.raises(NotFittedError):
        LogisticRegression().predict(X)


def test_sparse_coefficients_and_back():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(l1_ratio=1.0, C=0.05).fit(X, y)
    expected = model.predict_proba(X)
    assert sparse.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert isinstance(model.densify().coef_, np.ndarray)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"C": -1}, "C must be a positive number"),
        ({"C": "best"}, "C must be a positive number"),
        ({"penalty": "l3"}, "penalty='l3' is not known"),
        ({"l1_ratio": 2}, "l1_ratio must be a number from 0"),
        ({"solver": "bfgs"}, "solver='bfgs' is not known; choose one of 'auto', 'newton'"),
        ({"solver": "newton", "l1_ratio": 1.0}, "Newton needs a smooth objective"),
        ({"missing": "mean"}, 'missing must be "error" or "indicator"'),
    ],
)
def test_wrong_settings_say_what_to_do_and_leave_the_model_as_it_was(settings, words):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=re.escape(words)):
        model.set_params(**settings).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda X, y: (X.assign(age=np.where(X["age"] > 60, np.inf, X["age"])), y),
            "column 'age' contains infinity",
        ),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, np.full(len(y), "no")), "the number of classes has to be greater than one"),
        (
            lambda X, y: (X.assign(note=[f"a long story about {i} things" for i in range(len(X))]), y),
            "column 'note' is text",
        ),
    ],
)
def test_bad_tables_are_refused_by_name(spoil, words):
    X, y = people()
    model = LogisticRegression().fit(X, y)
    state = pickle.dumps(model)
    with pytest.raises(ValueError, match=re.escape(words)):
        model.fit(*spoil(X, y))
    assert pickle.dumps(model) == state


def test_no_warning_on_ordinary_data():
    X, y = people()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression().fit(X, y).predict(X)
        LogisticRegression(C=np.inf).fit(X, y).summary()


# -- what a user may do to a model, and what it says of odd tables -----------------------------------


def test_coefficients_that_a_user_changes_are_what_predicts():
    X, y = load_iris(return_X_y=True)
    for rows in (X, X + 1e6):
        model = LogisticRegression().fit(rows, y)
        model.intercept_ = model.intercept_ + np.array([10.0, 0.0, 0.0])
        expected = rows @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-7, atol=1e-6)
        model.coef_[:] = 0.0
        np.testing.assert_allclose(model.decision_function(rows), np.tile(model.intercept_, (150, 1)))
    unfitted = LogisticRegression()
    unfitted.coef_, unfitted.intercept_, unfitted.classes_ = np.ones((1, 4)), np.zeros(1), np.array([0, 1])
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


def test_a_descent_that_got_nowhere_does_not_say_it_arrived():
    X, y = load_iris(return_X_y=True)
    wild = X * [1.0, 1e3, 1e-3, 1.0]
    with pytest.warns(ConvergenceWarning, match="Bring the columns to one scale"):
        model = LogisticRegression(solver=SGD(max_iter=300)).fit(wild, y)
    assert not model.converged_


@pytest.mark.parametrize(
    "settings", [{"penalty": None}, {"penalty": "firth"}, {"solver": "sgd"}, {"solver": "gd"}]
)
def test_a_penalty_is_chosen_only_where_that_means_something(settings):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match='C="auto"'):
        LogisticRegression(C="auto", **settings).fit(X, y)


def test_firth_takes_more_columns_than_rows():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(40, 60)), np.arange(40) % 2
    with pytest.warns(DataWarning, match="there are 40 rows and 60 columns: the coefficients are not unique"):
        model = LogisticRegression(penalty="firth").fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.converged_


def test_levels_that_no_row_has_are_as_good_as_unseen():
    X, y = people()
    listed = X.assign(state=pd.Categorical(X["state"], categories=["AK", "CA", "NY", "TX", "WA"]))
    model = LogisticRegression(C=np.inf).fit(listed, y)
    assert model.terms_ == LogisticRegression(C=np.inf).fit(X, y).terms_
    new = listed.head(3).assign(
        state=pd.Categorical(["AK", "CA", "CA"], categories=["AK", "CA", "NY", "TX", "WA"])
    )
    with pytest.warns(UnseenCategoryWarning, match=r"column 'state': 1 rows .* \('AK'\)"):
        score = model.decision_function(new)
    assert np.isclose(score[0], model.decision_function(new.assign(state="CA"))[0])


def test_gaps_where_training_had_none_are_pointed_out():
    X, y = people()
    model = LogisticRegression(missing="indicator").fit(X, y)
    with pytest.warns(
        DataWarning, match=r"missing values in column 'age' \(2 rows\), which had none in training"
    ):
        model.predict(X.assign(age=X["age"].where(X.index > 1)))


def test_columns_that_may_not_be_what_they_seem_are_pointed_out():
    X, y = people()
    with pytest.warns(DataWarning, match="column 'code': .*numbers"):
        LogisticRegression().fit(X.assign(code=[str(i % 7) for i in range(len(X))]), y)
    with pytest.warns(DataWarning, match="column 'id' has 300 categories in 300 rows, like an identifier"):
        LogisticRegression().fit(X.assign(id=[f"p{i}" for i in range(len(X))]), y)


def test_class_weights_have_no_standard_errors():
    X, y = people()
    with pytest.raises(ValueError, match="class_weight='balanced', which makes up rows"):
        LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y).summary()


def test_a_summary_shows_itself():
    X, y = people()
    summary = LogisticRegression(C=np.inf).fit(X, pd.Series(y, name="vote")).summary()
    assert repr(summary) == str(summary)
    assert str(summary).startswith("vote: log odds of yes against no")


@pytest.mark.parametrize("scale", [1e-30, 1e-16, 1e-6, 1e50])
@pytest.mark.parametrize("size", [(150, 3), (20, 30)], ids=["long", "wide"])
def test_the_choice_of_a_penalty_does_not_depend_on_units(size, scale):
    rng = np.random.default_rng(13)
    X = rng.normal(size=size)
    y = (X[:, :3] @ [1, -1, 0.5] + rng.logistic(size=len(X)) > 0).astype(int)
    a, b = LogisticRegression(C="auto").fit(X, y), LogisticRegression(C="auto").fit(X * scale, y)
    np.testing.assert_allclose(a.choice_.losses, b.choice_.losses, rtol=1e-6)
    assert np.isclose(a.C_, b.C_ * scale**2, rtol=1e-9)
    np.testing.assert_allclose(a.coef_, b.coef_ * scale, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("settings", [{"max_iter": 2.5}, {"max_iter": -1}, {"tol": "x"}, {"tol": np.nan}])
def test_settings_of_solvers_are_checked(settings):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must be"):
        LogisticRegression(**settings).fit(X, y)


def test_what_is_no_optimum_has_no_standard_errors():
    X, y = load_iris(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(150) < 0.3, 0, y)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=np.inf, solver="gd", max_iter=2).fit(X, y)
    with pytest.raises(ValueError, match="which the solver did not reach"):
        model.summary()
    with pytest.raises(ValueError, match="must be finite and not negative"):
        LogisticRegression(class_weight={0: -1.0, 1: 1.0, 2: 1.0}).fit(X, y)
    with pytest.raises(ValueError, match="are not those of the first call"):
        LogisticRegression().partial_fit(X, y).partial_fit(X, y, classes=[0, 1])


# -- criteria ---------------------------------------------------------------------------------------


def three_groups(n=200, d=3):
    rng = np.random.default_rng(21)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, 3)) + rng.gumbel(size=(n, 3))).argmax(axis=1)


def worth(model, X, penalty):
    """The trace of H(H + P)⁻¹ from the columns themselves, in contrasts with the first class."""
    p = model.predict_proba(X)[:, 1:]
    Z = np.column_stack([X, np.ones(len(X))])
    K, d = p.shape[1], Z.shape[1]
    curves = p[:, :, None] * (np.eye(K) - p[:, None, :])
    hessian = np.einsum("nab,ni,nj->aibj", curves, Z, Z).reshape(K * d, K * d)
    # ‖coefficients‖² of all classes, which sum to zero, or of the second alone where there are two.
    shown = np.eye(1) / 1.0 if K == 1 else np.eye(K) - 1 / (K + 1)
    ridge = penalty * np.kron(shown, np.diag([1.0] * (d - 1) + [0.0]))
    return np.trace(hessian @ np.linalg.inv(hessian + ridge))


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_parameters_under_a_ridge_count_by_how_little_it_shrinks_them(n_classes, C):
    X, y = three_groups()
    y = np.minimum(y, n_classes - 1)
    model = LogisticRegression(C=C).fit(X, y)
    assert model.n_parameters_ == pytest.approx(worth(model, X, 1 / C), rel=1e-6)
    assert n_classes - 1 < model.n_parameters_ < (n_classes - 1) * 4


@pytest.mark.parametrize("settings", [{"C": np.inf}, {"penalty": "firth"}])
def test_without_a_penalty_every_coefficient_is_a_parameter(settings):
    X, y = three_groups()
    model = LogisticRegression(**settings).fit(X, y)
    assert model.n_parameters_ == pytest.approx(8, abs=1e-9)
    with pytest.warns(DataWarning, match="linear combination"):
        spare = LogisticRegression(C=np.inf).fit(np.column_stack([X, X.sum(axis=1)]), y)
    assert spare.n_parameters_ == pytest.approx(8, abs=1e-6)


def test_under_a_lasso_the_coefficients_count_that_are_not_zero():
    X, y = three_groups(d=8)
    y = np.minimum(y, 1)
    model = LogisticRegression(C=0.05, l1_ratio=1.0).fit(X, y)
    assert 0 < np.count_nonzero(model.coef_) < 8
    assert model.n_parameters_ == pytest.approx(1 + np.count_nonzero(model.coef_))


def test_criteria_are_made_of_likelihood_and_parameters():
    X, y = three_groups()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    model = SoftmaxRegression().fit(X, y, sample_weight=weight)
    likelihood = weight @ model.predict_log_proba(X)[np.arange(len(y)), y]
    assert model.log_likelihood_ == pytest.approx(likelihood, rel=1e-12)
    assert model.aic_ == pytest.approx(-2 * likelihood + 2 * model.n_parameters_)
    assert model.bic_ == pytest.approx(-2 * likelihood + np.log(weight.sum()) * model.n_parameters_)
    twice = SoftmaxRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert twice.bic_ == pytest.approx(model.bic_, rel=1e-6)


def test_criteria_that_there_are_not_are_refused():
    X, y = three_groups()
    assert not hasattr(LogisticRegression(class_weight="balanced").fit(X, y), "log_likelihood_")
    copied = pickle.loads(pickle.dumps(LogisticRegression().fit(X, y)))
    with pytest.raises(AttributeError, match="needs the rows of training"):
        _ = copied.n_parameters_
    assert np.isfinite(copied.log_likelihood_)
