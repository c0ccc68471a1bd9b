"""Code written for scikit-learn's six classifiers runs with ours: names, defaults, tools and plumbing."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import posterior

NAIVE_BAYES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB"]
DISCRIMINANT = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
NAMES = NAIVE_BAYES + DISCRIMINANT
X, Y = load_iris(return_X_y=True)
X = np.round(X).astype(float)[:, [0, 2, 3]] + np.eye(3)[np.arange(150) % 3]  # counts, categories and numbers
PRIORS = [0.1, 0.2, 0.7]


def ours(name, **params):
    return getattr(posterior, name)(**params)


def theirs(name, **params):
    module = sklearn.naive_bayes if name in NAIVE_BAYES else sklearn.discriminant_analysis
    return getattr(module, name)(**params)


def agree(mine, others):
    np.testing.assert_allclose(mine, others, rtol=1e-8, atol=1e-8, equal_nan=False)


def frame():
    return pd.DataFrame(X, columns=["length", "petal", "width"])


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_constructor_takes_scikit_learns_parameters_in_their_order_with_their_defaults(name):
    mine = list(inspect.signature(type(ours(name))).parameters.values())
    others = list(inspect.signature(type(theirs(name))).parameters.values())
    assert [(p.name, p.default, p.kind) for p in mine[: len(others)]] == [
        (p.name, p.default, p.kind) for p in others
    ]
    assert all(p.kind is p.KEYWORD_ONLY for p in mine[len(others) :])


@pytest.mark.parametrize("name", NAMES)
def test_every_public_method_of_scikit_learns_is_there_and_takes_its_arguments_in_their_order(name):
    model, other = ours(name), theirs(name)
    for method in (m for m in dir(type(other)) if not m.startswith("_")):
        assert callable(getattr(model, method)), method
        if method.startswith("set_") and method.endswith("_request"):
            continue  # made by scikit-learn from the signatures that are compared here
        takes = list(inspect.signature(getattr(model, method)).parameters)
        needs = list(inspect.signature(getattr(other, method)).parameters)
        assert takes[: len(needs)] == needs, method


@pytest.mark.parametrize("name", NAMES)
def test_every_metadata_request_of_scikit_learns_is_there(name):
    for method in (m for m in dir(theirs(name)) if re.fullmatch(r"set_\w+_request", m)):
        wanted = inspect.signature(getattr(theirs(name), method)).parameters
        assert set(wanted) <= set(inspect.signature(getattr(ours(name), method)).parameters), method


@pytest.mark.parametrize("name", NAMES)
def test_every_documented_attribute_of_scikit_learns_is_there_after_fit(name):
    doc = inspect.getdoc(type(theirs(name)))
    section = re.search(r"Attributes\n-+\n(.*?)\n(See Also|References|Examples)\n", doc, re.DOTALL)[1]
    attributes = re.findall(r"^(\w+_) :", section, re.MULTILINE)
    assert len(attributes) >= 7
    model = ours(name).fit(frame(), Y)
    assert [a for a in attributes if not hasattr(model, a)] == []


@pytest.mark.parametrize("name", NAMES)
def test_an_attribute_of_the_same_name_has_scikit_learns_shape(name):
    # LDA's coef_ and the rest are compared by value elsewhere.
    store = {"store_covariance": True} if name in DISCRIMINANT else {}
    mine, other = ours(name, **store).fit(X, Y), theirs(name, **store).fit(X, Y)
    for attribute in (a for a in vars(other) if a.endswith("_") and not a.startswith("_")):
        value, wanted = getattr(mine, attribute), getattr(other, attribute)
        assert type(value) is type(wanted), attribute
        pairs = zip(value, wanted, strict=True) if isinstance(wanted, list) else [(value, wanted)]
        for a, b in pairs:
            assert np.shape(a) == np.shape(b), attribute
            assert np.asarray(a).dtype == np.asarray(b).dtype, attribute


@pytest.mark.parametrize("name", NAMES)
def test_fitted_attributes_are_not_there_before_fit(name):
    unfitted = ours(name)
    for attribute in vars(theirs(name).fit(X, Y)):
        if attribute.endswith("_"):
            assert not hasattr(unfitted, attribute), attribute


# -- frames ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_data_frame_leaves_its_names_and_gives_the_answer_of_the_array(name):
    mine, other = ours(name).fit(frame(), Y), theirs(name).fit(frame(), Y)
    np.testing.assert_array_equal(mine.feature_names_in_, other.feature_names_in_, strict=True)
    assert mine.n_features_in_ == other.n_features_in_
    np.testing.assert_array_equal(mine.predict_proba(frame()), ours(name).fit(X, Y).predict_proba(X))
    assert not hasattr(ours(name).fit(X, Y), "feature_names_in_")


@pytest.mark.parametrize("n_components", [None, 1])
def test_transform_names_its_columns_as_scikit_learn_does(n_components):
    tables, names = [], []
    for make in (ours, theirs):
        model = make("LinearDiscriminantAnalysis", n_components=n_components).set_output(transform="pandas")
        tables.append(model.fit(frame(), Y).transform(frame()))
        names.append(list(model.get_feature_names_out()))
    assert isinstance(tables[0], pd.DataFrame)
    assert list(tables[0].columns) == list(tables[1].columns) == names[0] == names[1]
    assert tables[0].index.equals(frame().index)


# -- tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_answers_to_the_bit_as_its_original(name):
    model = ours(name).fit(frame(), Y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_log_proba(frame()), model.predict_log_proba(frame()))
    np.testing.assert_array_equal(copy.feature_names_in_, model.feature_names_in_)


@pytest.mark.parametrize("name", NAMES)
def test_a_clone_has_the_parameters_and_nothing_learned(name):
    key = {"class_prior"} & set(ours(name).get_params()) or {"priors"}
    model = ours(name, **{key.pop(): PRIORS}).fit(X, Y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")
    np.testing.assert_array_equal(copy.fit(X, Y).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("GaussianNB", {"priors": [None, PRIORS]}),
        ("BernoulliNB", {"alpha": [1e-3, 1.0], "binarize": [1.0, 3.0]}),
        ("MultinomialNB", {"alpha": [1e-3, 1.0, 100.0]}),
        ("CategoricalNB", {"alpha": [0.1, 1.0], "min_categories": [10]}),
        ("LinearDiscriminantAnalysis", {"solver": ["lsqr"], "shrinkage": [None, 0.5, "auto"]}),
        ("QuadraticDiscriminantAnalysis", {"reg_param": [0.0, 0.1, 0.9]}),
    ],
)
def test_grid_search_finds_what_it_finds_with_scikit_learns(name, grid):
    mine, other = (
        GridSearchCV(make(name), grid, cv=3, scoring="neg_log_loss").fit(X, Y) for make in (ours, theirs)
    )
    agree(mine.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert mine.best_params_ == other.best_params_
    assert mine.best_estimator_.score(X, Y) == other.best_estimator_.score(X, Y)


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", *DISCRIMINANT])
def test_a_pipeline_with_a_scaler_gives_what_it_gives_with_scikit_learns(name):
    mine, other = (make_pipeline(StandardScaler(), make(name)).fit(frame(), Y) for make in (ours, theirs))
    agree(mine.predict_proba(frame()), other.predict_proba(frame()))
    assert mine.score(frame(), Y) == other.score(frame(), Y)


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "MultinomialNB", *DISCRIMINANT])
def test_calibration_and_cross_validation_give_what_they_give_with_scikit_learns(name):
    mine, other = (
        cross_val_predict(make(name), X, Y, cv=3, method="predict_proba") for make in (ours, theirs)
    )
    agree(mine, other)
    for method in ("sigmoid", "isotonic"):
        model = CalibratedClassifierCV(ours(name), method=method, cv=3).fit(X, Y)
        agree(model.predict_proba(X).sum(axis=1), 1.0)


def test_calibration_of_two_classes_gives_what_it_gives_with_scikit_learns():
    # With more classes it is given LDA's scores, in which scikit-learn's own solvers differ by a constant.
    wine, kind = load_wine(return_X_y=True)
    rows, y = wine[kind > 0], kind[kind > 0]
    for name in DISCRIMINANT:
        mine, other = (
            CalibratedClassifierCV(make(name), cv=3).fit(rows, y).predict_proba(rows)
            for make in (ours, theirs)
        )
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)  # L-BFGS stops there


# -- metadata -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_sample_weight_is_routed_through_a_pipeline_and_a_grid_search(name):
    weight = np.where(Y == 0, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        params = {"min_categories": 10} if name == "CategoricalNB" else {}
        model = ours(name, **params).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        key = "alpha" if name in NAIVE_BAYES[1:] else "priors"
        grid = {f"{name.lower()}__{key}": [1.0 if key == "alpha" else None]}
        search = GridSearchCV(make_pipeline(model), grid, cv=3).fit(X, Y, sample_weight=weight)
        refitted = search.best_estimator_[-1]
    weighted, plain = ours(name, **params).fit(X, Y, weight), ours(name, **params).fit(X, Y)
    np.testing.assert_array_equal(refitted.predict_log_proba(X), weighted.predict_log_proba(X))
    assert (refitted.predict_log_proba(X) != plain.predict_log_proba(X)).any()


@pytest.mark.parametrize("name", NAIVE_BAYES)
def test_cross_validation_with_routed_weights_gives_what_it_gives_with_scikit_learns(name):
    weight = np.where(Y == 0, 3.0, 1.0)
    params = {"min_categories": 10} if name == "CategoricalNB" else {}
    with sklearn.config_context(enable_metadata_routing=True):
        mine, other = (
            cross_validate(
                make(name, **params)
                .set_fit_request(sample_weight=True)
                .set_score_request(sample_weight=True),
                X,
                Y,
                cv=3,
                params={"sample_weight": weight},
            )["test_score"]
            for make in (ours, theirs)
        )
    agree(mine, other)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_priors_given_at_prediction_are_those_of_a_model_fitted_with_them(name, method):
    key = "class_prior" if name in NAIVE_BAYES[1:] else "priors"
    wanted = getattr(ours(name, **{key: PRIORS}).fit(X, Y), method)(X)
    np.testing.assert_array_equal(getattr(ours(name).fit(X, Y), method)(X, priors=PRIORS), wanted)
    piped = make_pipeline(ours(name)).fit(X, Y)
    np.testing.assert_array_equal(getattr(piped, method)(X, priors=PRIORS), wanted)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = getattr(ours(name), f"set_{method}_request")(priors=True)
        routed = make_pipeline(StandardScaler(with_mean=False, with_std=False), asked).fit(X, Y)
        np.testing.assert_array_equal(getattr(routed, method)(X, priors=PRIORS), wanted)


# -- classes, weights, priors and precision -------------------------------------------------------


@pytest.mark.parametrize("name", NAIVE_BAYES)
def test_one_class_is_fitted_and_predicted(name):
    y = np.full(len(X), "only")
    mine, other = ours(name).fit(X, y), theirs(name).fit(X, y)
    np.testing.assert_array_equal(mine.predict_proba(X[:3]), other.predict_proba(X[:3]))
    np.testing.assert_array_equal(mine.predict(X[:3]), other.predict(X[:3]))


@pytest.mark.parametrize("name", DISCRIMINANT)
def test_one_class_is_refused_where_scikit_learn_refuses_it(name):
    # Their LDA refuses it in prediction only, by an IndexError.
    for make in (ours, theirs) if name != "LinearDiscriminantAnalysis" else (ours,):
        with pytest.raises(ValueError, match="number of classes has to be greater than one"):
            make(name).fit(X, np.zeros(len(X)))


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("name", NAIVE_BAYES)
@pytest.mark.parametrize("given", [False, True])
def test_a_class_without_weight_stays_with_a_prior_of_zero_or_the_given_one(name, given):
    weight = np.where(Y == 1, 0.0, 1.0 + np.arange(150) % 3)
    key = {"GaussianNB": "priors"}.get(name, "class_prior")
    # A class without rows has no density of its own to compare under a prior above zero.
    settings = {key: [0.4, 0.0, 0.6]} if given else {}
    mine = ours(name, **settings).fit(X, Y, sample_weight=weight)
    other = theirs(name, **settings).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(mine.classes_, other.classes_)
    np.testing.assert_array_equal(mine.class_count_, other.class_count_)
    assert (mine.predict_proba(X)[:, 1] == 0).all()
    if name != "CategoricalNB":  # whose theirs counts categories that only rows without weight have
        agree(mine.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("name", NAIVE_BAYES)
def test_a_wrong_number_of_priors_is_refused_in_scikit_learns_words(name):
    key = {"GaussianNB": "priors"}.get(name, "class_prior")
    for make in (ours, theirs):
        with pytest.raises(ValueError, match="Number of priors must match number of classes"):
            make(name, **{key: [0.5, 0.5]}).fit(X, Y)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB"])
@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        ([1.0, 2.0], "When alpha is an array, it should contains `n_features`. Got 2 elements instead of 3"),
        ([1.0, -2.0, 3.0], "All values in alpha must be greater than 0"),
    ],
)
def test_wrong_alphas_are_refused_in_scikit_learns_words(name, alpha, words):
    for make in (ours, theirs):
        with pytest.raises(ValueError, match=words):
            make(name, alpha=np.array(alpha)).fit(X, Y)


@pytest.mark.parametrize("make", [ours, theirs])
def test_negative_priors_are_refused_in_scikit_learns_words(make):
    with pytest.raises(ValueError, match="priors must be non-negative"):
        make("LinearDiscriminantAnalysis", priors=[0.5, -0.5, 1.0]).fit(X, Y)


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_coefficients_of_a_table_in_single_precision_are_shown_in_it(table):
    rows = table(X.astype(np.float32))
    models = [posterior.LogisticRegression(), sklearn.linear_model.LogisticRegression(max_iter=1000)]
    if table is not sparse.csr_array:
        models += [ours("LinearDiscriminantAnalysis"), theirs("LinearDiscriminantAnalysis")]
    for model in models:
        fitted = model.fit(rows, Y)
        assert fitted.coef_.dtype == fitted.intercept_.dtype == np.float32
        assert clone(model).fit(table(X), Y).coef_.dtype == np.float64


def test_what_is_shown_in_single_precision_is_predicted_with_in_double(tmp_path):
    rows = X.astype(np.float32)
    model, exact = posterior.LogisticRegression().fit(rows, Y), posterior.LogisticRegression().fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(rows.astype(float)), exact.predict_proba(rows), rtol=1e-10)
    posterior.save(model, tmp_path / "model")
    loaded = posterior.load(tmp_path / "model")
    assert loaded.coef_.dtype == np.float32
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    model.coef_ = model.coef_ * 2  # as users do
    assert np.abs(model.predict_proba(rows) - exact.predict_proba(rows)).max() > 0.01
