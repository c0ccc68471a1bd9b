"""Calls as users write them, for a type checker: it refuses the lines that say so, and no other.

Nothing here is run; `test_typed_calls.py` has mypy read it.
"""

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import KFold

import posterior
from posterior.families import MultivariateNormal, Normal
from posterior.linear import Newton
from posterior.schema import Kind


def tables_of_every_kind() -> None:
    y = np.array([0, 1])
    posterior.LDA().fit(np.eye(2), y).predict(np.eye(2))
    posterior.LDA().fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"], sample_weight=[1, 2])
    posterior.LDA().fit([np.zeros(2), np.ones(2)], y, sample_weight=np.ones(2))
    posterior.NaiveBayes().fit([[1.0, "a"], [None, "b"]], [True, False])
    posterior.NaiveBayes().fit(pl.DataFrame({"x": [1, 2]}), pl.Series([0, 1]))
    posterior.MultinomialNB().fit(sparse.csr_array(np.eye(2)), y)
    posterior.LinearRegression().fit(np.eye(2), [0.5, 1])
    posterior.LDA().fit(3, y)  # refused
    posterior.LDA().fit({"x": [1, 2]}, y)  # refused
    posterior.LDA().fit(np.eye(2), 1)  # refused
    posterior.LDA().fit(np.eye(2), y, sample_weight="balanced")  # refused
    posterior.LinearRegression().fit(np.eye(2), ["a", "b"])  # refused


def settings_of_linear_models(kinds: dict[str, Kind]) -> None:
    posterior.LogisticRegression(C=10, solver="lbfgs", class_weight={"a": 2.0, "b": 1.0}, random_state=0)
    posterior.AdditiveClassifier(smoothness=2, pairs=0, columns=["a"])
    posterior.LogisticRegression(None, C="auto", solver=Newton(path=True), missing="indicator", degree=2)
    posterior.LogisticRegression(kinds=kinds, columns=["age", 3])
    posterior.LogisticRegression(kinds=[(slice("a", "b"), "count")], columns=slice(3))
    posterior.LogisticRegression(C="a lot")  # refused
    posterior.LogisticRegression(solver=3)  # refused
    posterior.LogisticRegression("l3")  # refused
    posterior.LogisticRegression(missing="ignore")  # refused
    posterior.LogisticRegression(kinds={"age": "number"})  # refused
    posterior.LinearRegression(noise="cauchy")  # refused
    posterior.LeastSquaresClassifier(degree=3)  # refused


def settings_of_generative_models() -> None:
    posterior.LDA(priors=[0.5, 0.5], shrinkage="auto").predict_proba(np.eye(2), priors={"a": 0.1, "b": 0.9})
    posterior.GaussianDiscriminantAnalysis(tied="auto", shape="diagonal", cv="loo", selection="one_se")
    posterior.NaiveBayes(families={"continuous": Normal, "age": Normal(tied=True)}, cv=KFold(5))
    posterior.GenerativeClassifier([(["a", "b"], MultivariateNormal()), ("c", Normal)], cv=[0, 0, 1, 1])
    posterior.BernoulliNB(alpha=[1.0, 0.5], class_prior=np.array([0.5, 0.5]))
    posterior.LDA(solver="newton")  # refused
    posterior.LDA(priors="even")  # refused
    posterior.QDA(on_singular="ignore")  # refused
    posterior.GaussianDiscriminantAnalysis(cv="leave one out")  # refused
    posterior.NaiveBayes(families={"continuous": "normal"})  # refused
    posterior.GenerativeClassifier(["a", "b"])  # refused


def settings_of_meta_estimators() -> None:
    costs = {"good": {"lend": 0, "refuse": 1}, "bad": {"lend": 5, "refuse": 0}}
    model = posterior.DecisionClassifier(posterior.LDA(), costs=costs, reject={"threshold": 0.9}, cv=5)
    model.set_decision(costs=None, priors="observed", outliers=0.01)
    posterior.CalibratedClassifier(TheirLogisticRegression(), method="vector")
    posterior.FusionClassifier(
        [("size", posterior.LDA(), ["a", "b"]), ("rest", posterior.LDA(), slice(2, 4))]
    )
    posterior.PoolClassifier(
        [("lda", posterior.LDA()), ("qda", posterior.QDA())], weights={"lda": 1, "qda": 0}
    )
    posterior.OutlierRule(posterior.LDA(), method="chi2")
    posterior.DecisionClassifier("lda")  # refused
    posterior.DecisionClassifier(posterior.LDA(), outliers="few")  # refused
    model.set_decision(cost=None)  # refused
    model.set_decision(reject=0.9)  # refused
    posterior.FusionClassifier(["lda", "qda"])  # refused
    posterior.PoolClassifier(["lda", "qda"])  # refused


def models_to_and_from_files() -> None:
    model = posterior.load("model.safetensors")
    posterior.save(model, "copy.safetensors")
    model.predict(np.eye(2))
    if isinstance(model, posterior.LogisticRegression):
        model.summary(covariance="sandwich")
        model.summary(covariance="robust")  # refused
    posterior.save(3, "copy.safetensors")  # refused


def models_compared() -> None:
    frame = posterior.compare(np.eye(2), "y", models=["lda"])
    print(frame.shape, frame.columns, frame["model"], frame.head())
    posterior.Comparison.of(np.eye(2), np.array([0, 1]), kinds={"year": "categorical"}, positive=1)
    posterior.save(posterior.compare(np.eye(2), "y"), "frame.csv")  # refused
    posterior.Comparison.of(np.eye(2), 3)  # refused
