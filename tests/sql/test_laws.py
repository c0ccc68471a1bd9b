"""Every model that can be written says in SQL what it says in Python, gaps, new categories and all."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import posterior
from databases import columns_of, relative
from posterior import families
from posterior.datasets import load_penguins

CLOSE = 1e-9
N = 240
LABELS = np.array(["a", "B b", "ç\"'"])


def mixed_table():
    """Columns of every kind, with gaps in all of them."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, N)
    table = pd.DataFrame(
        {
            "plain": rng.normal(y, 1.0 + y),
            "offset": rng.normal(0.5 * y, 1.0) + 1e8,
            "heavy": rng.standard_t(2, N) + y,
            "size": rng.gamma(1.0 + y, 2.0),
            "wait": rng.exponential(1.0 + y),
            "share": rng.beta(1.0 + y, 2.0),
            "few": rng.poisson(1.0 + y).astype(float),
            "many": rng.negative_binomial(1 + y, 0.02).astype(float),
            "flag": rng.random(N) < 0.2 + 0.25 * y,
            "colour": np.array(["red", "it's", "bl\\ue", 'gr"ün'])[rng.integers(0, 4 - y)],
            "level": (rng.integers(0, 3, N) + y).astype(float),
            "u": rng.normal(size=N),
            "v": rng.normal(y, 1.0),
        }
    )
    table["v"] += 0.7 * table.u
    table["flag"] = table.flag.astype("boolean")
    for name in table:
        table.loc[rng.random(N) < 0.1, name] = None
    return table, LABELS[y]


TABLE, Y = mixed_table()
PENGUINS = load_penguins()
BODY = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
WEIGHT = np.linspace(0.1, 3.0, N)


def one(name, family, **kinds):
    return posterior.GenerativeClassifier([(name, family)], kinds=kinds or None)


def fitted(model, X=TABLE, y=Y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **settings), X


NUMBERS = ["plain", "offset", "u", "v"]
F = families
CASES = {
    "Normal": lambda: fitted(one(["plain", "offset"], F.Normal())),
    "Normal, tied": lambda: fitted(one(["plain", "offset"], F.Normal(tied=True))),
    "LogNormal": lambda: fitted(one("size", F.LogNormal())),
    "LogNormal, tied": lambda: fitted(one("size", F.LogNormal(tied=True))),
    "Laplace": lambda: fitted(one(["plain", "offset"], F.Laplace())),
    "StudentT": lambda: fitted(one(["heavy", "offset"], F.StudentT())),
    "Exponential": lambda: fitted(one("wait", F.Exponential())),
    "Gamma": lambda: fitted(one(["size", "wait"], F.Gamma())),
    "Gamma, narrow": lambda: fitted(one("offset", F.Gamma())),
    "Beta": lambda: fitted(one("share", F.Beta())),
    "Poisson": lambda: fitted(one(["few", "many"], F.Poisson())),
    "Poisson, never": lambda: fitted(one("few", F.Poisson(alpha=0)), TABLE.assign(few=(Y == "a") * 1.0)),
    "NegativeBinomial": lambda: fitted(one(["few", "many"], F.NegativeBinomial())),
    "Bernoulli": lambda: fitted(one(["flag"], F.Bernoulli())),
    "Bernoulli, threshold": lambda: fitted(one(["plain"], F.Bernoulli(threshold=0.3), plain="continuous")),
    "Categorical": lambda: fitted(one(["colour", "level", "flag"], F.Categorical(), level="categorical")),
    "Categorical, zeros": lambda: fitted(one("colour", F.Categorical(alpha=0))),
    "Categorical, joint": lambda: fitted(one(["colour", "flag"], F.Categorical(joint=True))),
    "Multinomial": lambda: fitted(one(["few", "many", "level"], F.Multinomial())),
    "Multinomial, ordered": lambda: fitted(one(["few", "many", "level"], F.Multinomial(ordered=True))),
    "Multinomial, never": lambda: fitted(
        one(["few", "many"], F.Multinomial(alpha=0)), TABLE.assign(few=(Y == "a") * 1.0)
    ),
    "MultivariateNormal": lambda: fitted(one(NUMBERS, F.MultivariateNormal())),
    "NaiveBayes": lambda: fitted(posterior.NaiveBayes()),
    "NaiveBayes, weights": lambda: fitted(posterior.NaiveBayes(), sample_weight=WEIGHT),
    "NaiveBayes, learnt exponents": lambda: fitted(posterior.NaiveBayes(weights="auto")),
    "NaiveBayes, given exponents": lambda: fitted(posterior.NaiveBayes(weights={"plain": 0.5, "flag": 0.0})),
    "NaiveBayes, uniform": lambda: fitted(posterior.NaiveBayes(priors="uniform")),
    "mixed blocks": lambda: fitted(
        posterior.GenerativeClassifier(
            [(["u", "v"], F.MultivariateNormal(tied=1)), ("few", F.Poisson()), ("colour", F.Categorical())]
        )
    ),
    "GaussianNB": lambda: fitted(posterior.GaussianNB(), PENGUINS.X[BODY], PENGUINS.y),
    "BernoulliNB": lambda: fitted(posterior.BernoulliNB(binarize=0.5), TABLE[["plain", "u"]]),
    "CategoricalNB": lambda: fitted(posterior.CategoricalNB(), TABLE[["colour", "flag"]]),
    "MultinomialNB": lambda: fitted(posterior.MultinomialNB(), TABLE[["few", "many"]]),
    "BestOf": lambda: fitted(one(["size", "few"], F.BestOf((F.Normal(), F.Gamma(), F.Poisson())))),
    "LDA": lambda: fitted(posterior.LDA(), TABLE[NUMBERS]),
    "QDA": lambda: fitted(posterior.QDA(), TABLE[NUMBERS]),
    "RDA": lambda: fitted(posterior.GaussianDiscriminantAnalysis(tied=0.3, shrinkage=0.1), TABLE[NUMBERS]),
    "diagonal": lambda: fitted(posterior.GaussianDiscriminantAnalysis(shape="diagonal"), TABLE[NUMBERS]),
    "LDA of penguins": lambda: fitted(posterior.LDA(), PENGUINS.X[BODY], PENGUINS.y),
    "QDA of penguins": lambda: fitted(posterior.QDA(), PENGUINS.X[BODY], PENGUINS.y),
    "NaiveBayes of penguins": lambda: fitted(posterior.NaiveBayes(), PENGUINS.X, PENGUINS.y),
    "softmax": lambda: fitted(posterior.LogisticRegression(missing="indicator"), TABLE),
    "softmax of penguins": lambda: fitted(
        posterior.LogisticRegression(missing="indicator"), PENGUINS.X, PENGUINS.y
    ),
    "logistic": lambda: fitted(posterior.LogisticRegression(missing="indicator"), TABLE, Y == "a"),
    "logistic, degree 2": lambda: fitted(
        posterior.LogisticRegression(missing="indicator", degree=2), TABLE[["plain", "u", "flag", "colour"]]
    ),
    "logistic, standardized": lambda: fitted(
        posterior.LogisticRegression(missing="indicator", standardize=True, C=0.1), TABLE, Y == "a"
    ),
    "additive": lambda: fitted(posterior.AdditiveClassifier(), TABLE.drop(columns="offset")),
    "additive of penguins": lambda: fitted(posterior.AdditiveClassifier(), PENGUINS.X, PENGUINS.y),
    "calibrated": lambda: fitted(posterior.CalibratedClassifier(posterior.NaiveBayes(), method="vector")),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]()


def stretched(X):
    """The rows of a table, and others: without a cell, with new categories, and with extreme numbers."""
    blank = X.iloc[[0] * (2 + X.shape[1])].reset_index(drop=True)
    for j, name in enumerate(X.columns):
        blank.loc[:, name] = blank[name].astype(X[name].dtype)
        blank.loc[0, name] = None
        if X[name].dtype.kind == "f":
            middle, spread = X[name].median(), X[name].std()
            blank.loc[1, name] = middle + 1e4 * (1 + j) * spread
            blank.loc[2 + j, name] = middle - 1e5 * spread
        elif X[name].dtype == object or str(X[name].dtype) in ("str", "string"):
            blank.loc[1, name] = "never seen"
    return pd.concat([X, blank], ignore_index=True)


def with_key(X):
    return pa.Table.from_pandas(X.assign(key=np.arange(len(X))), preserve_index=False)


def silently(call, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args)


def without_negative_counts(model, X):
    """Rows that Python reads too: a negative count is an error there."""
    wrong = np.zeros(len(X), dtype=bool)
    for column in model.schema_.columns if hasattr(model, "schema_") else ():
        if column.kind == "count" and not column.ignored:
            wrong |= (X[column.name] < 0).fillna(False).to_numpy(dtype=bool)
    return X[~wrong].reset_index(drop=True)


def test_the_query_gives_the_numbers_of_the_model(case, database):
    model, X = case
    X = without_negative_counts(model, stretched(X))
    database.put("rows", with_key(X))
    query = posterior.to_sql(model, table="rows", dialect=database.dialect, keep=["key"])
    found = database.ask(query).sort_by("key")
    logs = silently(model.predict_log_proba, X)
    assert relative(columns_of(found, "log_posterior_"), logs) <= CLOSE
    assert relative(columns_of(found, "posterior_"), np.exp(logs)) <= CLOSE
    assert [str(label) for label in found["predicted"].to_pylist()] == [
        str(label) for label in silently(model.predict, X).tolist()
    ]
    if hasattr(model, "predict_joint_log_proba"):
        joint = silently(model.predict_joint_log_proba, X)
        assert relative(columns_of(found, "log_joint_"), joint) <= CLOSE


@pytest.mark.parametrize("family", [F.Poisson(), F.Multinomial(), F.Multinomial(ordered=True)], ids=str)
def test_posteriors_of_large_counts_keep_their_digits(family, database):
    rng = np.random.default_rng(8)
    y = np.arange(N) % 3
    X = pd.DataFrame(rng.poisson(1e9 * (1.0 + 3e-5 * np.eye(3)[y])), columns=["a", "b", "c"]).astype(float)
    X = X.mask(rng.random(X.shape) < 0.2)
    X.loc[0] = None
    model, _ = fitted(one(list(X), family), X.fillna(1e9), y)
    database.put("rows", with_key(X))
    query = posterior.to_sql(model, table="rows", dialect=database.dialect, keep=["key"])
    found = columns_of(database.ask(query).sort_by("key"), "log_posterior_")
    assert relative(found, model.predict_log_proba(X)) <= CLOSE


@pytest.mark.parametrize("name", ["NaiveBayes", "LDA", "softmax", "additive"])
def test_the_query_is_a_function_of_the_model(name):
    (model, _), (again, _) = CASES[name](), CASES[name]()
    one_text = posterior.to_sql(model, table="t")
    assert one_text == posterior.to_sql(model, table="t") == posterior.to_sql(again, table="t")


@pytest.mark.long
def test_a_hundred_thousand_mixed_rows_have_the_numbers_of_the_model(database):
    rng = np.random.default_rng(2)
    model, _ = CASES["mixed blocks"]()
    X = TABLE.iloc[rng.integers(0, N, 100_000)].reset_index(drop=True)
    for name in NUMBERS:
        X[name] += rng.normal(size=len(X))
    database.put("rows", with_key(X))
    for made in (model, fitted(posterior.NaiveBayes())[0], fitted(posterior.QDA(), TABLE[NUMBERS])[0]):
        query = posterior.to_sql(made, table="rows", dialect=database.dialect, keep=["key"])
        found = database.ask(query).sort_by("key")
        logs = silently(made.predict_log_proba, X[list(made.schema_.names)])
        assert relative(columns_of(found, "log_posterior_"), logs) <= CLOSE
