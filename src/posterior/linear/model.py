"""A fitted linear model: what multiplies the columns, and the scores of new rows."""

from dataclasses import dataclass

import numpy as np

from posterior import kernels
from posterior._types import Floats
from posterior.linear.design import Matrix
from posterior.linear.scan import Block, Scan
from posterior.math import log_softmax, softmax


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores (x − centre)·coef + level, (K, d) and (K,), or one row for two classes and for regression.

    Kept about the centre of the columns: with x·coef + intercept, means of 1e8 would cost eight digits.
    """

    coef: Floats
    level: Floats
    centre: Floats
    far: bool = False

    @property
    def intercept(self) -> Floats:
        """The score of a row of zeros."""
        return self.level - self.coef @ self.centre

    def with_coef(self, coef: Floats, intercept: Floats) -> "LinearModel":
        """The model of other coefficients, about the same centre; itself where they are the same."""
        if np.array_equal(coef, self.coef) and np.array_equal(intercept, self.intercept):
            return self
        return LinearModel(coef, intercept + coef @ self.centre, self.centre, self.far)

    def scores(self, X: Matrix) -> Floats:
        """Scores (m, K) of rows, or (m, 1)."""
        if kernels.is_sparse(X):
            return np.asarray(X @ self.coef.T) + self.intercept
        if self.far:
            return np.asarray((X - self.centre) @ self.coef.T) + self.level
        return np.asarray(X @ self.coef.T) + self.intercept

    def read(self, scan: Scan) -> Floats:
        """Scores of all rows of a table."""
        return scan.each(lambda block: self.scores(block.matrix))

    def log_posterior(self, scan: Scan) -> Floats:
        """Log probabilities, ln p(class | row), (n, K); two classes have the scores 0 and η."""
        return scan.each(lambda block: log_softmax(self._every_score(block), axis=1))

    def posterior(self, scan: Scan) -> Floats:
        """p(class | row), (n, K)."""
        return scan.each(lambda block: softmax(self._every_score(block), axis=1))

    def _every_score(self, block: Block) -> Floats:
        scores = self.scores(block.matrix)
        return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
