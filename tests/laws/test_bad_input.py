"""Every bad input is refused by name and with a remedy, and a refusal changes nothing."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.covariance import OAS
from sklearn.exceptions import NotFittedError

from posterior import (
    LDA,
    QDA,
    AdditiveClassifier,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OneDependence,
    TreeAugmented,
    threads,
)
from posterior.families import (
    Bernoulli,
    Beta,
    Categorical,
    CategoricalDistribution,
    Exponential,
    Gamma,
    Laplace,
    LogNormal,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    NormalDistribution,
    Poisson,
)

ESTIMATORS = [
    NaiveBayes,
    OneDependence,
    TreeAugmented,
    GenerativeClassifier,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    BernoulliNB,
    MultinomialNB,
    CategoricalNB,
    LDA,
    QDA,
    AdditiveClassifier,
    LogisticRegression,
]
GENERATIVE = [E for E in ESTIMATORS if E not in (LogisticRegression, AdditiveClassifier)]
BY_PARTS = [E for E in ESTIMATORS if E is not AdditiveClassifier]  # which needs all rows at once
GAUSSIAN = [GaussianDiscriminantAnalysis, LDA, QDA]
ON_NUMBERS = [E for E in ESTIMATORS if E is not CategoricalNB]
LABELS = np.array(["ash", "birch", "cedar"])

N = 60
ROW = np.arange(N)
RNG = np.random.default_rng(7)
Y = LABELS[ROW % 3]
# Small counts, so that every estimator can read the table.
X = pd.DataFrame({"apples": ROW % 5, "pears": RNG.poisson(2 + ROW % 3), "plums": RNG.poisson(1, N)}).astype(
    float
)
MIXED = X.assign(
    colour=np.array(["red", "blue", "red", "green"])[RNG.integers(4, size=N)],
    member=RNG.random(N) < 0.4,
    change=X["pears"] - 2.0,
)


def given(**columns):
    return X.assign(**columns)


def one_cell(value):
    cells = X["pears"].astype(object)
    cells.iloc[3] = value
    return X.assign(pears=cells.astype(float) if isinstance(value, float) else cells)


def state_of(estimator):
    return {name: id(value) for name, value in vars(estimator).items()}


def bits_of(estimator, rows=X):
    return estimator.predict_log_proba(rows).tobytes()


def refusal(call, kind=(ValueError, TypeError)):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def says(message, *words):
    missing = [word for word in words if not re.search(word, message)]
    assert not missing, f"the message lacks {missing}: {message}"


# ---------------------------------------------------------------- tables, classes and weights

FIT_CASES = {
    "class NaN": (X, np.where(ROW < 2, np.nan, ROW % 3), {}, ["2 of 60 rows", "leave those rows out"]),
    "class None": (X, [None, None, *Y[2:]], {}, ["2 of 60 rows", "leave those rows out"]),
    "class pd.NA": (
        X,
        pd.array([pd.NA, pd.NA, *(ROW[2:] % 3)], dtype="Int64"),
        {},
        ["2 of 60 rows", "leave those rows out"],
    ),
    "class null in pandas strings": (
        X,
        pd.Series([pd.NA, pd.NA, *Y[2:]], dtype="string"),
        {},
        ["2 of 60 rows", "leave those rows out"],
    ),
    "class null in pandas categories": (
        X,
        pd.Categorical([None, None, *Y[2:]]),
        {},
        ["2 of 60 rows", "leave those rows out"],
    ),
    "class null in polars": (
        X,
        pl.Series([None, None, *Y[2:]]),
        {},
        ["2 of 60 rows", "leave those rows out"],
    ),
    "class NaT": (
        X,
        pd.Series(pd.to_datetime([None, None, *["2020-01-01", "2021-01-01"] * 29])),
        {},
        ["2 of 60 rows", "leave those rows out"],
    ),
    "no classes": (X, None, {}, ["y is None", "pass the class column"]),
    "y of another length": (X, Y[:-1], {}, ["60", "59", "for each row"]),
    "y continuous": (X, RNG.normal(size=N), {}, ["continuous", "no classes", "LinearRegression"]),
    "y infinite": (X, np.where(ROW < 1, np.inf, ROW % 3), {}, ["infinity", "finite"]),
    "y in two columns": (X, np.column_stack([ROW % 2, ROW % 3]), {}, [r"\(60, 2\)", "1d"]),
    "y of mixed types": (
        X,
        np.array([1, *Y[1:]], dtype=object),
        {},
        ["mixes int and str", "convert the classes to one type"],
    ),
    "no rows": (X[:0], Y[:0], {}, [r"0 sample\(s\)", "at least one row"]),
    "no columns": (X[[]], Y, {}, [r"0 feature\(s\)", "at least one column"]),
    "one dimension": (X["pears"].to_numpy(), Y, {}, ["1D array", r"reshape\(-1, 1\)"]),
    "a series": (X["pears"], Y, {}, ["1D array", r"reshape\(-1, 1\)"]),
    "three dimensions": (X.to_numpy()[None], Y, {}, ["dim 3", "dim <= 2"]),
    "a lazy frame": (pl.from_pandas(X).lazy(), Y, {}, ["lazy", r"\.collect\(\)"]),
    "a dict": (X.to_dict("list"), Y, {}, ["dict", r"pandas\.DataFrame\(X\)"]),
    "infinity": (one_cell(np.inf), Y, {}, ["column 'pears'", "infinity", "NaN"]),
    "minus infinity": (one_cell(-np.inf), Y, {}, ["column 'pears'", "infinity", "NaN"]),
    "infinity in an array": (one_cell(np.inf).to_numpy(), Y, {}, ["column 'x1'", "infinity", "NaN"]),
    "times of day": (
        given(pears=pd.Series([datetime.time(12)] * N, dtype=object)),
        Y,
        {},
        ["column 'pears'", "derive a number"],
    ),
    "durations": (
        given(pears=pd.to_timedelta(ROW, unit="h")),
        Y,
        {},
        ["column 'pears'", "derive a number"],
    ),
    "weights of another length": (
        X,
        Y,
        {"sample_weight": np.ones(5)},
        ["sample_weight", "5", "expected .*60"],
    ),
    "weights all zero": (X, Y, {"sample_weight": np.zeros(N)}, ["(?i)sample.weight", "at least one"]),
    "a negative weight": (
        X,
        Y,
        {"sample_weight": np.where(ROW == 4, -1.0, 1.0)},
        ["sample_weight", "1 of 60|row 4", "(?i)must|leave|drop|pass"],
    ),
    "a NaN weight": (
        X,
        Y,
        {"sample_weight": np.where(ROW == 4, np.nan, 1.0)},
        ["sample_weight", "1 of 60|row 4", "(?i)must|leave|drop|pass"],
    ),
    "an infinite weight": (
        X,
        Y,
        {"sample_weight": np.where(ROW == 4, np.inf, 1.0)},
        ["sample_weight", "1 of 60|row 4", "(?i)must|leave|drop|pass"],
    ),
}
ONLY_IN_FIT = {
    "one class": (X, ["ash"] * N, {}, ["1 class, 'ash'", "check the class column"]),
    "one class with weight": (
        X,
        Y,
        {"sample_weight": (Y == "ash").astype(float)},
        ["1 class, 'ash'", "check the class column"],
    ),
}


@pytest.mark.parametrize("case", FIT_CASES | ONLY_IN_FIT)
def test_a_refused_fit_says_what_was_found_and_what_to_do(case):
    table, y, more, words = (FIT_CASES | ONLY_IN_FIT)[case]
    for estimator in ESTIMATORS:
        if case in ONLY_IN_FIT and getattr(estimator, "_any_classes", False):  # as in scikit-learn
            model = estimator().fit(table, y, **more)
            assert set(model.predict(table[Y == "ash"])) == {"ash"}
            continue
        says(refusal(lambda: estimator().fit(table, y, **more)), *words)


@pytest.mark.parametrize("case", FIT_CASES)
def test_a_refused_partial_fit_says_what_was_found_and_what_to_do(case):
    table, y, more, words = FIT_CASES[case]
    for estimator in BY_PARTS:
        says(refusal(lambda: estimator().partial_fit(table, y, **more)), *words)


def changes_nothing(estimator, call):
    """Refused, and the estimator is as it was: unfitted, or fitted with the same bits."""
    state, fitted = state_of(estimator), hasattr(estimator, "model_")
    bits = bits_of(estimator) if fitted else None
    refusal(call, Exception)
    assert state_of(estimator) == state
    assert hasattr(estimator, "model_") == fitted
    if fitted:
        assert bits_of(estimator) == bits


@pytest.mark.crossed(each=2)
@pytest.mark.parametrize("case", FIT_CASES | ONLY_IN_FIT)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_refused_fit_changes_nothing(estimator, case):
    table, y, more, _ = (FIT_CASES | ONLY_IN_FIT)[case]
    if case in ONLY_IN_FIT and getattr(estimator, "_any_classes", False):
        return  # which fits, as in scikit-learn
    for model in (estimator(), estimator().fit(X, Y)):
        changes_nothing(model, lambda: model.fit(table, y, **more))
        if case in FIT_CASES and estimator in BY_PARTS:
            changes_nothing(model, lambda: model.partial_fit(table, y, **more))


@pytest.mark.parametrize("estimator", [NaiveBayes, GenerativeClassifier])
def test_strings_and_numbers_in_one_column_are_refused(estimator):
    table = one_cell("three")
    says(
        refusal(lambda: estimator().fit(table, Y)),
        "column 'pears' mixes",
        "'three'",
        "convert them",
        "declare",
    )
    changes_nothing(estimator(), lambda: estimator().fit(table, Y))


@pytest.mark.parametrize("estimator", [GaussianNB, BernoulliNB, MultinomialNB, *GAUSSIAN])
@pytest.mark.parametrize("table", [one_cell("three"), given(pears="three")], ids=["one cell", "a column"])
def test_strings_where_numbers_are_needed_are_refused(estimator, table):
    model = estimator()
    says(
        refusal(lambda: model.fit(table, Y)), "column 'pears'", "numbers were expected", "'three'", "convert"
    )
    changes_nothing(model, lambda: model.fit(table, Y))
    model.fit(X, Y)
    changes_nothing(model, lambda: model.partial_fit(table, Y))


# ---------------------------------------------------------------- settings

WITH_ALPHA = [NaiveBayes, BernoulliNB, MultinomialNB, CategoricalNB]
NEAREST = ["'aples'", "did you mean 'apples'"]
PARSED = {
    "kinds: unknown column": (NaiveBayes(kinds={"aples": "count"}), NEAREST),
    "kinds: unknown column, composed": (GenerativeClassifier(kinds={"aples": "count"}), NEAREST),
    "kinds: unknown position": (NaiveBayes(kinds={17: "count"}), ["position 17", "0 to 5"]),
    "kinds: unknown kind": (NaiveBayes(kinds={"apples": "cuont"}), ["'cuont'", "choose one of .*'count'"]),
    "kinds: not a mapping": (NaiveBayes(kinds="count"), ["kinds must be a dict", "'count'"]),
    "kinds: binary of five values": (
        NaiveBayes(kinds={"apples": "binary"}),
        ["column 'apples'", "5 values", '"categorical"'],
    ),
    "kinds: count of strings": (
        NaiveBayes(kinds={"colour": "count"}),
        ["column 'colour'", "numbers were expected", "convert"],
    ),
    "kinds: negative count": (
        NaiveBayes(kinds={"change": "count"}),
        ["column 'change'", "at least 0", "NaN", '"continuous"'],
    ),
    "Poisson: negative": (
        GenerativeClassifier([("change", Poisson())]),
        ["column 'change'", "at least 0", "NaN"],
    ),
    "Poisson: negative, naive Bayes": (
        NaiveBayes(families={"change": Poisson()}),
        ["column 'change'", "at least 0", "NaN"],
    ),
    "NegativeBinomial: negative": (
        GenerativeClassifier([("change", NegativeBinomial())]),
        ["column 'change'", "at least 0", "NaN"],
    ),
    "LogNormal: zero": (
        GenerativeClassifier([("apples", LogNormal())]),
        ["column 'apples'", "positive values", "found 0", "choose another family", "NaN"],
    ),
    "Beta: zero": (
        GenerativeClassifier([("apples", Beta())]),
        ["column 'apples'", "between 0 and 1", "found 0", "choose another family", "NaN"],
    ),
    "Gamma: zero": (
        GenerativeClassifier([("apples", Gamma())]),
        ["column 'apples'", "positive values", "found 0", "choose another family", "NaN"],
    ),
    "Exponential: negative": (
        GenerativeClassifier([("change", Exponential())]),
        ["column 'change'", "no negative values", "found -", "choose another family"],
    ),
    "Bernoulli: two": (
        GenerativeClassifier([("apples", Bernoulli())]),
        ["column 'apples'", "5 values", '"categorical"'],
    ),
    "Bernoulli: two, declared continuous": (
        GenerativeClassifier([("apples", Bernoulli())], kinds={"apples": "continuous"}),
        ["column 'apples'", "0 and 1", "found 2", "threshold"],
    ),
    "Normal on strings": (
        GenerativeClassifier([("colour", Normal())]),
        ["column 'colour'", "categorical", "Normal reads", "choose another family"],
    ),
    "Normal on strings, naive Bayes": (
        NaiveBayes(families={"colour": Normal()}),
        ["column 'colour'", "categorical", "Normal reads", "choose another family"],
    ),
    "Normal on a kind of strings, naive Bayes": (
        NaiveBayes(families={"categorical": Normal()}),
        ["column 'colour'", "categorical", "Normal reads", "choose another family"],
    ),
    "MultivariateNormal on strings": (
        GenerativeClassifier([(["apples", "colour"], MultivariateNormal())]),
        ["column 'colour'", "categorical", "MultivariateNormal reads"],
    ),
    "Categorical on numbers": (
        GenerativeClassifier([("apples", Categorical())], kinds={"apples": "continuous"}),
        ["column 'apples'", "continuous", "Categorical reads", "choose another family"],
    ),
    "features: overlap": (
        GenerativeClassifier([(["apples", "pears"], Normal()), ("pears", Poisson())]),
        ["column 'pears'", r"features\[0\].*features\[1\]", "one family"],
    ),
    "families: overlap": (NaiveBayes(families={"pears": Normal(), 1: Poisson()}), ["column 'pears'"]),
    "features: no family": (GenerativeClassifier([("apples", "Normal")]), ["'Normal'", r"Normal\(\)"]),
    "families: no family": (
        NaiveBayes(families={"apples": "Normal"}),
        [r"families\['apples'\]", "posterior.families"],
    ),
    "families: unknown column": (NaiveBayes(families={"aples": Normal()}), NEAREST),
    "families: not a mapping": (
        NaiveBayes(families=[("apples", Normal())]),
        ["families must be .*(dict|mapping)"],
    ),
    "features: unknown column": (GenerativeClassifier([("aples", Normal())]), NEAREST),
    "features: no pair": (
        GenerativeClassifier([("apples",)]),
        [r"list of \(columns, family\)", r"\('apples',\)"],
    ),
    "features: a number": (GenerativeClassifier(7), [r"list of \(columns, family\)", "7"]),
    "features: a word": (GenerativeClassifier("foo"), ["'auto'", "'foo'"]),
    "features: columns left": (
        GenerativeClassifier([("apples", Normal())], remainder="error"),
        ["'pears'", "features"],
    ),
    "remainder": (GenerativeClassifier([("apples", Normal())], remainder="foo"), ["'drop'", "'foo'"]),
    "unknown": (NaiveBayes(unknown="foo"), ["unknown", "'marginalize'", "'foo'"]),
    "prior_smoothing": (NaiveBayes(prior_smoothing=-1.0), ["prior_smoothing", "-1"]),
}
ON_COUNTS = {
    **{
        f"alpha of {E.__name__}": (
            E(alpha=-1.0),
            ["alpha must not be negative", "-1", "0 is maximum likelihood"],
        )
        for E in WITH_ALPHA
    },
    **{
        f"alpha of {E.__name__}, by column": (E(alpha=[1.0, 2.0]), ["alpha", "2 elements", "3"])
        for E in (BernoulliNB, MultinomialNB)
    },
    "tied": (GaussianDiscriminantAnalysis(tied=2), ["tied must lie between 0", "found 2"]),
    "shape": (GaussianDiscriminantAnalysis(shape="round"), ["'full', 'diagonal' or 'spherical'", "'round'"]),
    **{
        f"shrinkage {amount!r} of {E.__name__}": (
            E(shrinkage=amount),
            ["shrinkage must", str(amount), "1|number"],
        )
        for E in GAUSSIAN
        for amount in ("foo", 1.5, -0.1)
    },
    "solver of LDA": (LDA(solver="foo"), ["'svd', 'lsqr', 'eigen'", "'foo'"]),
    "solver of QDA": (QDA(solver="foo"), ["'svd', 'eigen'", "'foo'"]),
    "reg_param": (QDA(reg_param=2), ["reg_param must lie between 0 and 1", "found 2"]),
    "n_components too large": (LDA(n_components=3), ["n_components", "between 1 and 2", "found 3"]),
    "n_components negative": (LDA(n_components=-1), ["n_components", "found -1"]),
    "min_categories": (CategoricalNB(min_categories=2.5), ["min_categories", "integral"]),
    "binarize=None with twos": (BernoulliNB(binarize=None), ["column 'pears'", "0 and 1", r"found \d"]),
    "var_smoothing": (GaussianNB(var_smoothing=-1.0), ["var_smoothing", "-1"]),
    "two ways to a covariance": (LDA(covariance_estimator=OAS(), shrinkage=0.1), ["Only one of the two"]),
}


@pytest.mark.parametrize("case", PARSED | ON_COUNTS)
def test_a_bad_setting_is_refused_when_fitting_and_changes_nothing(case):
    estimator, words = (PARSED | ON_COUNTS)[case]
    table = MIXED if case in PARSED else X
    says(refusal(lambda: estimator.fit(table, Y)), *words)
    changes_nothing(estimator, lambda: estimator.fit(table, Y))
    if case != "n_components too large":  # more classes may come
        changes_nothing(estimator, lambda: estimator.partial_fit(table, Y))


@pytest.mark.parametrize("case", [case for case in ON_COUNTS if "binarize" not in case])
def test_a_bad_setting_made_after_fitting_leaves_the_fitted_model_alone(case):
    bad, _ = ON_COUNTS[case]
    model = type(bad)().fit(X, Y)
    model.set_params(**bad.get_params())
    changes_nothing(model, lambda: model.fit(X, Y))


@pytest.mark.parametrize("table", [X.assign(pears=X["pears"] - 3), sparse.csr_array(X.to_numpy() - 3.0)])
def test_negative_counts_are_refused_by_multinomial_naive_bayes(table):
    message = refusal(lambda: MultinomialNB().fit(table, Y))
    says(message, "column '(pears|x0)'", "counts must not be negative", "another family|NaN|missing")
    changes_nothing(MultinomialNB(), lambda: MultinomialNB().fit(table, Y))


PRIORS = {
    "sum": ([0.5, 0.4, 0.2], ["1.1", "divide them by their sum"]),
    "length": ([0.5, 0.5], ["found 2, expected 3", "'ash', 'birch', 'cedar'"]),
    "negative": ([1.5, -0.25, -0.25], ["(?i)priors must be non-negative", "-0.25"]),
    "NaN": ([np.nan, 0.5, 0.5], ["(?i)priors", "nan"]),
    "unknown class": ({"ash": 0.5, "birch": 0.25, "yew": 0.25}, ["missing .*'cedar'", "not a class .*'yew'"]),
    "missing class": ({"ash": 0.5, "birch": 0.5}, ["missing .*'cedar'", "the classes are .*'birch'"]),
    "a word": ("even", ["'uniform'", "'even'"]),
}


# scikit-learn takes any positive numbers here; these renormalise them, and say so.
RENORMALISING = [LDA, BernoulliNB, MultinomialNB, CategoricalNB]


def with_priors(estimator, priors):
    name = "class_prior" if "class_prior" in estimator().get_params() else "priors"
    return estimator(**{name: priors})


@pytest.mark.parametrize("case", PRIORS)
@pytest.mark.parametrize("estimator", GENERATIVE)
def test_bad_priors_are_refused_in_fit_and_in_prediction(estimator, case):
    priors, words = PRIORS[case]
    if case != "sum" or estimator not in RENORMALISING:
        model = with_priors(estimator, priors)
        says(refusal(lambda: model.fit(X, Y)), *words)
        changes_nothing(model, lambda: model.fit(X, Y))
        changes_nothing(model, lambda: model.partial_fit(X, Y))
    model = estimator().fit(X, Y)
    says(refusal(lambda: model.predict_proba(X, priors=priors)), *words)
    changes_nothing(model, lambda: model.predict_proba(X, priors=priors))


@pytest.mark.parametrize("estimator", RENORMALISING)
def test_priors_that_are_renormalised_are_so_with_a_warning(estimator):
    with pytest.warns(UserWarning, match="do not sum to 1"):
        model = with_priors(estimator, [1.0, 2.0, 1.0]).fit(X, Y)
    np.testing.assert_allclose(np.exp(model.model_.log_prior), [0.25, 0.5, 0.25])


# ---------------------------------------------------------------- prediction

PREDICT_CASES = {
    "a missing column": (X[["apples", "pears"]], ["missing:\n- plums", "Pass the columns"]),
    "an extra column": (given(figs=1.0), ["unseen at fit time:\n- figs", "drop"]),
    "a renamed column": (X.rename(columns={"plums": "prunes"}), ["- prunes", "missing:\n- plums", "rename"]),
    "strings": (given(pears="three"), ["column 'pears'", "numbers", "'three'", "convert"]),
    "dates": (given(pears=pd.Timestamp("2020-01-01")), ["column 'pears'", "derive a number"]),
    "no rows": (X[:0], [r"0 sample\(s\)", "at least one row"]),
    "one dimension": (X["pears"].to_numpy(), ["1D array", r"reshape\(-1, 1\)"]),
    "three dimensions": (X.to_numpy()[None], ["dim 3", "dim <= 2"]),
    "a lazy frame": (pl.from_pandas(X).lazy(), ["lazy", r"\.collect\(\)"]),
}


@pytest.mark.parametrize("case", PREDICT_CASES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_bad_table_is_refused_in_prediction_and_changes_nothing(estimator, case):
    table, words = PREDICT_CASES[case]
    model = estimator().fit(X, Y)
    calls = [model.predict, model.predict_log_proba]
    calls += (
        [model.score_samples, model.contributions] if estimator in GENERATIVE else [model.decision_function]
    )
    for call in calls:
        says(refusal(lambda: call(table)), *words)
        changes_nothing(model, lambda: call(table))


@pytest.mark.parametrize("estimator", ON_NUMBERS)
def test_infinity_in_prediction_is_refused_by_name(estimator):
    model = estimator().fit(X, Y)
    says(refusal(lambda: model.predict(one_cell(np.inf))), "column 'pears'", "infinity", "row 3", "NaN")
    changes_nothing(model, lambda: model.predict(one_cell(np.inf)))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_array_of_another_width_is_refused_with_both_widths(estimator):
    model = estimator().fit(X.to_numpy(), Y)
    message = refusal(lambda: model.predict(X.to_numpy()[:, :2]))
    says(message, "X has 2 features", f"{estimator.__name__} is expecting 3", "training table")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (MIXED.assign(colour=1.0), ["column 'colour'", "strings such as 'blue'", "convert them to strings"]),
        (MIXED.assign(member="yes"), ["column 'member'", "found strings such as 'yes'", "convert"]),
        (MIXED.assign(apples="two"), ["column 'apples'", "numbers were expected", "convert"]),
    ],
)
def test_another_type_than_in_training_is_refused_by_naive_bayes(table, words):
    model = NaiveBayes().fit(MIXED, Y)
    says(refusal(lambda: model.predict(table)), *words)
    says(refusal(lambda: model.partial_fit(table, Y)), words[0])
    state, bits = state_of(model), bits_of(model, MIXED)
    refusal(lambda: model.partial_fit(table, Y))
    assert (state_of(model), bits_of(model, MIXED)) == (state, bits)


def test_a_negative_count_in_prediction_is_refused_by_name():
    model = NaiveBayes(kinds={"apples": "count"}).fit(X, Y)
    says(refusal(lambda: model.predict(given(apples=-1.0))), "column 'apples'", "at least 0", "NaN")


@pytest.mark.parametrize(
    "model", [NaiveBayes(unknown="error"), GenerativeClassifier([("colour", Categorical(unknown="error"))])]
)
def test_a_refused_category_is_named_with_its_column_and_the_remedy(model):
    model.fit(MIXED, Y)
    message = refusal(lambda: model.predict(MIXED.assign(colour="teal")))
    says(message, "column 'colour'", "'teal'", "60 rows", 'unknown="marginalize"', '"smooth"')
    bits = bits_of(model, MIXED)
    refusal(lambda: model.predict(MIXED.assign(colour="teal")))
    assert bits_of(model, MIXED) == bits


@pytest.mark.parametrize("model", [E() for E in GAUSSIAN])
def test_a_gap_in_a_gaussian_block_cannot_be_added_to_parts_and_says_the_remedy(model):
    table = X.mask(np.column_stack([ROW < 0, ROW < 2, ROW < 0]))
    words = ["'pears'", "EM", "use fit", "leave those rows out", "NaiveBayes"]
    says(refusal(lambda: model.partial_fit(table, Y)), *words)
    changes_nothing(model, lambda: model.partial_fit(table, Y))
    model.fit(X, Y)
    changes_nothing(model, lambda: model.partial_fit(table, Y))
    assert np.isfinite(model.predict_log_proba(table)).all()


def test_a_gap_in_one_gaussian_block_of_several_is_named():
    table = MIXED.assign(pears=np.where(ROW < 2, np.nan, MIXED["pears"]))
    model = GenerativeClassifier([(["apples", "pears"], MultivariateNormal()), ("plums", Normal())])
    says(refusal(lambda: model.partial_fit(table, Y)), "'pears'", "leave those rows out")


def test_an_estimator_of_another_library_is_not_given_gaps():
    table = X.mask(np.column_stack([ROW < 0, ROW < 2, ROW < 0]))
    model = LDA(covariance_estimator=OAS())
    says(refusal(lambda: model.fit(table, Y)), "column 'pears'", "complete rows", "EM")


# ---------------------------------------------------------------- parts that do not add up


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(families={"continuous": Laplace()}),
        NaiveBayes(families={"pears": Laplace()}),
        GenerativeClassifier([(["apples", "pears"], Laplace())]),
    ],
)
def test_a_laplace_model_says_why_it_cannot_be_updated_and_what_to_use(model):
    words = ["column .*'pears'", "median", "fit all rows at once", "Normal"]
    says(refusal(lambda: model.partial_fit(X, Y)), *words)
    changes_nothing(model, lambda: model.partial_fit(X, Y))
    model.fit(X, Y)
    says(refusal(lambda: model.partial_fit(X, Y)), *words)
    says(refusal(lambda: model + model), *words)
    changes_nothing(model, lambda: model.partial_fit(X, Y))
    changes_nothing(model, lambda: model + model)


def test_a_plugged_in_covariance_says_why_it_cannot_be_updated_and_what_to_use():
    model = LDA(covariance_estimator=OAS()).fit(X, Y)
    for call in (lambda: model + model, lambda: model.partial_fit(X, Y)):
        says(refusal(call), "column 'apples', 'pears', 'plums'", "all rows at once", "shrinkage='auto'")
        changes_nothing(model, call)


DIFFERENT = [
    (NaiveBayes(), BernoulliNB()),
    (NaiveBayes(), CategoricalNB()),
    (GaussianNB(), GaussianDiscriminantAnalysis()),
    (LDA(), QDA()),
    (MultinomialNB(), BernoulliNB()),
    (GenerativeClassifier([("apples", Normal())]), GenerativeClassifier([("apples", Poisson())])),
    (GenerativeClassifier([("apples", Normal())]), GenerativeClassifier([("pears", Normal())])),
    (NaiveBayes(kinds={"apples": "count"}), NaiveBayes()),
    (BernoulliNB(alpha=1), BernoulliNB(alpha=2)),
    (BernoulliNB(binarize=1), BernoulliNB()),
    (GaussianDiscriminantAnalysis(tied=1), GaussianDiscriminantAnalysis(tied=0.5)),
    (GaussianDiscriminantAnalysis(shrinkage="oas"), GaussianDiscriminantAnalysis()),
]


@pytest.mark.parametrize(("a", "b"), DIFFERENT, ids=str)
def test_models_of_different_families_do_not_add_up(a, b):
    a, b = a.fit(X, Y), b.fit(X, Y)
    for x, y in ((a, b), (b, a)):
        says(refusal(lambda: x + y), "different families", type(x).__name__, "same settings")
        changes_nothing(x, lambda: x + y)
        changes_nothing(y, lambda: x + y)


def test_models_of_other_columns_or_other_types_of_class_do_not_add_up():
    a = NaiveBayes().fit(X, Y)
    other = NaiveBayes().fit(X.rename(columns={"plums": "figs"}), Y)
    says(refusal(lambda: a + other), "different columns", "- figs", "- plums", "Pass the columns")
    says(refusal(lambda: a + NaiveBayes().fit(X, ROW % 3)), "'ash'", "0", "convert the labels to one type")
    says(refusal(lambda: a.partial_fit(X, ROW % 3)), "'ash'", "0", "convert the labels to one type")
    changes_nothing(a, lambda: a + other)
    changes_nothing(a, lambda: a.partial_fit(X, ROW % 3))


def test_only_estimators_add_up():
    model = NaiveBayes().fit(X, Y)
    says(refusal(lambda: model + 1, TypeError), "NaiveBayes", "int")


def test_a_class_that_classes_does_not_list_is_refused_by_name():
    says(
        refusal(lambda: NaiveBayes().partial_fit(X, Y, classes=["ash", "birch"])), "'cedar'", "'ash', 'birch'"
    )
    changes_nothing(NaiveBayes(), lambda: NaiveBayes().partial_fit(X, Y, classes=["ash", "birch"]))


# ---------------------------------------------------------------- models from given distributions

UNIT = NormalDistribution([[0.0], [1.0]], [[1.0], [1.0]])


@pytest.mark.parametrize(
    ("classes", "priors", "blocks", "words"),
    [
        (["a", "b", "c"], None, [("size", UNIT)], [r"\['size'\]", "2 classes", "expected 3"]),
        (["a", "b"], None, [(["size", "mass"], UNIT)], [r"'size', 'mass'", "1 columns", "expected 2 and 2"]),
        (["a", "a"], None, [("size", UNIT)], ["distinct", r"\['a', 'a'\]"]),
        (["a", "b"], [0.5, 0.6], [("size", UNIT)], ["1.1", "divide"]),
        (["a", "b"], [1.0], [("size", UNIT)], ["found 1, expected 2", "'a', 'b'"]),
        (["a", "b"], None, [("size", UNIT), ("size", UNIT)], ["'size'"]),
        (["a", "b"], None, [("size", Normal())], ["'size'", "Normal"]),
        (
            ["a", "b"],
            None,
            [("colour", CategoricalDistribution([[0.5, 0.5], [0.1, 0.9]]))],
            ["'colour'", "name the categories", "categories="],
        ),
    ],
)
def test_given_distributions_that_do_not_fit_are_refused(classes, priors, blocks, words):
    says(refusal(lambda: GenerativeClassifier.from_distributions(classes, priors, blocks)), *words)


@pytest.mark.parametrize(
    ("mean", "variance", "words"),
    [
        ([[0.0], [1.0]], [[1.0]], ["variance", "1 classes, expected 2"]),
        ([[0.0], [1.0]], [[-1.0], [1.0]], ["variance must be positive"]),
        ([[0.0], [np.nan]], [[1.0], [1.0]], ["mean", "NaN"]),
    ],
)
def test_parameters_of_the_wrong_shape_or_sign_are_refused(mean, variance, words):
    says(refusal(lambda: NormalDistribution(mean, variance)), *words)


def test_a_model_from_given_distributions_has_no_data_to_add_to():
    model = GenerativeClassifier.from_distributions(["a", "b"], None, [("size", UNIT)])
    bits = bits_of(model, [[0.3]])
    for call in (lambda: model.partial_fit([[1.0], [2.0]], ["a", "b"]), lambda: model + model):
        says(refusal(call), "given distributions", "no data", "fit")
        assert bits_of(model, [[0.3]]) == bits


# ---------------------------------------------------------------- questions that a model cannot answer


def test_an_unknown_class_is_refused_with_the_classes():
    model = QDA().fit(X, Y)
    for call in (
        lambda: model.contributions(X, of="yew"),
        lambda: model.contributions(X, against="yew"),
        lambda: model.quadratic_form("ash", "yew"),
    ):
        says(refusal(call), "'yew'", "'ash', 'birch', 'cedar'")
        changes_nothing(model, call)


def test_decision_points_of_several_features_are_refused_with_their_names():
    for model in (NaiveBayes(), LDA(), QDA()):
        message = refusal(model.fit(X[["apples", "pears"]], Y).decision_points)
        says(message, "one feature", "2", "'apples', 'pears'")


def test_the_linear_form_of_a_quadratic_model_is_refused_with_the_remedy():
    for model in (QDA(), NaiveBayes(), GaussianDiscriminantAnalysis(tied=0.5)):
        says(refusal(model.fit(X, Y).linear_form), "not linear", "shared covariance")


def test_the_linear_form_of_a_model_with_categories_is_refused_with_the_column():
    says(
        refusal(NaiveBayes(tied=True).fit(MIXED, Y).linear_form),
        "'colour'|'member'",
        "not (Gaussian|quadratic)",
    )


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (GaussianDiscriminantAnalysis(shrinkage=0.1), r"shrinkage=0\.1"),
        (GaussianDiscriminantAnalysis(shrinkage="oas"), "shrinkage='oas'"),
        (GaussianDiscriminantAnalysis(tied=0.5), r"tied=0\.5"),
        (LDA(shrinkage="auto"), "shrinkage="),
        (QDA(shrinkage=0.2), "shrinkage="),
        (LDA(covariance_estimator=OAS()), "another library"),
    ],
    ids=str,
)
def test_the_number_of_parameters_is_refused_with_the_reason_where_it_has_no_meaning(model, reason):
    model.fit(X, Y)
    for name in ("n_parameters_", "aic_", "bic_"):
        says(refusal(lambda: getattr(model, name)), "no meaning", reason)
    assert np.isfinite(model.log_likelihood_)


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "decision_function", "summary"]
)
def test_a_logistic_regression_that_is_not_fitted_says_so(method):
    model = LogisticRegression()
    arguments = () if method == "summary" else (X,)
    says(refusal(lambda: getattr(model, method)(*arguments), NotFittedError), "not fitted yet", "Call 'fit'")
    changes_nothing(model, lambda: getattr(model, method)(*arguments))


def test_least_squares_says_why_it_has_no_probabilities():
    model = LeastSquaresClassifier().fit(X, Y)
    assert not hasattr(model, "predict_proba")
    says(
        refusal(lambda: model.predict_proba(X), AttributeError),
        "no probabilities",
        "use LogisticRegression or LDA",
    )


@pytest.mark.parametrize("estimator", GENERATIVE)
@pytest.mark.parametrize(
    "method",
    [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "predict_joint_log_proba",
        "score_samples",
        "class_log_density",
        "contributions",
        "score",
        "sample",
        "linear_form",
        "quadratic_form",
        "decision_points",
    ],
)
def test_an_estimator_that_is_not_fitted_says_so(estimator, method):
    given_to = {"score": (X, Y), "sample": (3,), "quadratic_form": ("ash", "birch")}
    arguments = given_to.get(method, () if method in {"linear_form", "decision_points"} else (X,))
    model = estimator()
    message = refusal(lambda: getattr(model, method)(*arguments), NotFittedError)
    says(message, estimator.__name__, "not fitted yet", "Call 'fit'")
    changes_nothing(model, lambda: getattr(model, method)(*arguments))


@pytest.mark.parametrize("estimator", GENERATIVE)
def test_an_estimator_that_is_not_fitted_does_not_add_up(estimator):
    fitted = estimator().fit(X, Y)
    for call in (lambda: fitted + estimator(), lambda: estimator() + fitted):
        says(refusal(call, NotFittedError), "not fitted yet", "Call 'fit'")
        changes_nothing(fitted, call)


@pytest.mark.parametrize("estimator", GAUSSIAN)
def test_a_gaussian_estimator_that_is_not_fitted_says_so_in_its_own_methods(estimator):
    model = estimator()
    refusal(lambda: model.decision_function(X), NotFittedError)
    if estimator is LDA:
        refusal(lambda: model.transform(X), NotFittedError)


def test_fewer_than_one_thread_are_refused():
    def start():
        with threads(0):
            pass

    says(refusal(start), "at least 1", "found 0")


def test_a_negative_number_of_samples_is_refused():
    model = NaiveBayes().fit(X, Y)
    says(refusal(lambda: model.sample(-1)), "n_samples", "-1")


@pytest.mark.parametrize("shrinkage", ["auto", "ledoit-wolf"])
def test_numbers_whose_fourth_powers_are_no_numbers_are_refused_where_shrinkage_needs_them(shrinkage):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[0, 1] = 1e100
    model = (
        LDA(shrinkage="auto") if shrinkage == "auto" else GaussianDiscriminantAnalysis(shrinkage=shrinkage)
    )
    with pytest.raises(ValueError, match="the sums of this model overflow; rescale the column"):
        model.fit(X, np.arange(40) % 2)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        (GaussianNB, "var_smoothing"),
        (BernoulliNB, "binarize"),
        (QDA, "reg_param"),
        (NaiveBayes, "prior_smoothing"),
    ],
)
def test_words_where_numbers_are_expected_are_refused_by_the_name_of_the_setting(kind, setting):
    with pytest.raises(ValueError, match=f"{setting} must .*found 'auto'"):
        kind(**{setting: "auto"}).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
