"""scikit-learn, which every task is held against."""

from typing import Any, Self

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from benchmarks.data import categorical_columns
from benchmarks.rivals import Entry


def gaussian() -> GaussianNB:
    """Without the 1e-9 of the largest variance that it would add to all of them, at the same cost."""
    return GaussianNB(var_smoothing=0.0)


class TwoModels:
    """What its users do with mixed columns: two models, and their logs added."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.cut = categorical_columns(X.shape[1]).start
        self.numbers = gaussian().fit(X[:, : self.cut], y)
        self.codes = CategoricalNB().fit(X[:, self.cut :], y)
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        joint = self.numbers.predict_joint_log_proba(X[:, : self.cut])
        joint = joint + self.codes.predict_joint_log_proba(X[:, self.cut :]) - self.codes.class_log_prior_
        share = np.exp(joint - joint.max(axis=1, keepdims=True))
        return share / share.sum(axis=1, keepdims=True)


def lda(solver: str) -> LinearDiscriminantAnalysis:
    return LinearDiscriminantAnalysis(solver=solver)


def qda(solver: str) -> QuadraticDiscriminantAnalysis:
    return QuadraticDiscriminantAnalysis(solver=solver)


def unpenalised() -> LogisticRegression:
    return LogisticRegression(C=np.inf, solver="newton-cholesky")


ENTRIES = [
    Entry("GaussianNB", gaussian),
    Entry("LDA", lambda: lda("svd"), "svd", most_rows=2_000_000),
    Entry("LDA", lambda: lda("lsqr"), "lsqr"),
    Entry("QDA", lambda: qda("svd"), "svd"),
    Entry("QDA", lambda: qda("eigen"), "eigen"),
    Entry("BernoulliNB", BernoulliNB),
    Entry("CategoricalNB", CategoricalNB),
    Entry("MultinomialNB", MultinomialNB),
    Entry("MultinomialNB, text", MultinomialNB),
    Entry("BernoulliNB, text", BernoulliNB),
    Entry("mixed columns", TwoModels, "two models"),
    Entry("logistic", LogisticRegression, "lbfgs", tolerance=None),
    Entry("softmax", LogisticRegression, "lbfgs", tolerance=None),
    Entry("logistic, no penalty", unpenalised, "newton-cholesky", tolerance=1e-4),
    Entry("softmax, no penalty", unpenalised, "newton-cholesky", tolerance=1e-4),
]
for hard in ("logistic, hard", "softmax, hard"):
    ENTRIES += [
        Entry(hard, LogisticRegression, "lbfgs", tolerance=None),
        Entry(
            hard, lambda: LogisticRegression(max_iter=1000), "lbfgs, max_iter=1000", tolerance=None, slow=True
        ),
        Entry(
            hard,
            lambda: LogisticRegression(solver="newton-cholesky"),
            "newton-cholesky",
            tolerance=None,
            slow="softmax" in hard,
        ),
    ]
