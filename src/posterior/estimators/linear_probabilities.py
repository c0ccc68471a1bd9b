"""What linear models of p(class | row) say of rows: scores, probabilities, and what each column adds."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
from sklearn.base import ClassifierMixin

from posterior._over_rows import taken
from posterior._types import AnyArray, Floats
from posterior.engines.device.linear import LinearAnswer, linear_answer
from posterior.engines.device.rows import TO_THE_HOST
from posterior.estimators.boundaries import Boundaries
from posterior.estimators.contributions import Contributions
from posterior.estimators.device import DeviceTable, host_array, predicted, refused_method
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.parameters import Label, TableLike
from posterior.estimators.scanned_prediction import ScoresScans, Writing, scores_scans
from posterior.estimators.state import RefusedError
from posterior.forms import QuadraticScores
from posterior.linear.boundaries import quadratic_scores


class LinearProbabilities(Boundaries, ScoresScans, ClassifierMixin, LinearEstimator):
    """A fitted linear score for each class, or for the second of two, as probabilities."""

    classes_: AnyArray
    priors_: Floats

    # What the methods ask of linear scores of rows on a device.
    _device_answers: ClassVar[Mapping[str, LinearAnswer]] = {
        "decision_function": "scores",
        "predict_proba": "posterior",
        "predict_log_proba": "log_posterior",
        "predict": "best",
    }

    def _device_scores(self, method: str, table: DeviceTable) -> Any:
        """What a method says of rows on a device."""
        if method not in self._device_answers:
            raise refused_method(type(self).__name__, method)
        if method == "predict":
            return predicted(table, self.classes_, self._device_codes(table))
        found = linear_answer(self._current, self._device_rows(table), self._device_answers[method])
        return found[:, 0] if method == "decision_function" and found.shape[1] == 1 else found

    def _device_codes(self, table: DeviceTable) -> Any:
        """The code of the most probable class of each row on a device."""
        return linear_answer(self._current, self._device_rows(table), "best")

    def _device_rows(self, table: DeviceTable) -> Any:
        """The rows of a table on a device, whose columns are those of training."""
        self._aligned(table.source)
        if not self.design_.as_it_is:
            raise ValueError(f"this model makes columns of those of the table, on the host: {TO_THE_HOST}")
        return table.rows(self.design_.schema)

    @scores_scans
    def decision_function(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """The scores: log odds of the second class (n,) for two classes, else one a class, (n, K)."""
        scan = self._reading(X, scored=True)
        scores = self._current.read(scan, self._answer_type(scan))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @scores_scans
    def predict_log_proba(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Exact log probability of each class, (n, K): −1e5 is reported as −1e5."""
        scan = self._reading(X, scored=True)
        return self._current.log_posterior(scan, self._answer_type(scan))

    @scores_scans
    def predict_proba(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Probability of each class, (n, K)."""
        scan = self._reading(X, scored=True)
        return self._current.posterior(scan, self._answer_type(scan))

    @scores_scans
    def predict(self, X: TableLike, **writing: Unpack[Writing]) -> AnyArray:
        """The most probable class of each row; the first of equals."""
        scan = self._reading(X, scored=True)
        return taken(self.classes_, self._current.best(scan))

    def _quadratic(self, classes: Sequence[int] | None, log_prior: Floats | None) -> QuadraticScores:
        scores = quadratic_scores(self._current, self.design_)
        if log_prior is not None:
            if not hasattr(self, "priors_"):
                raise RefusedError(
                    "the class frequencies of training, which the priors would replace, are known after fit "
                    "only, not after partial_fit; use fit"
                )
            scores = scores.shifted(log_prior - np.log(host_array(self.priors_)))
        return scores if classes is None else scores.of_classes(classes)

    def contributions(
        self, X: TableLike, of: Label | None = None, against: Label | None = None
    ) -> Contributions:
        """Log odds of two classes by column of the table, adding up to the total.

        By default each row's most probable class against its runner-up; with one class given, the best
        other one. The baseline is the log odds at the means of training (at zero for solvers that do not
        centre the columns: gradient descent, SGD, `partial_fit`). A column adds Σ coef·(x − mean) over its
        levels, its gaps and its square; a product of two columns is a term of its own, "a:b".

        >>> from posterior import LogisticRegression
        >>> from posterior.datasets import load_penguins
        >>> penguins = load_penguins()
        >>> model = LogisticRegression(missing="indicator").fit(penguins.X, penguins.y)
        >>> print(model.contributions(penguins.X[99:100]))
        log odds of Adelie against Chinstrap: +4.07
          baseline           +2.81
          bill_length_mm     +1.56
          bill_depth_mm      +1.43
          island             -0.97
          body_mass_g        -0.78
          sex                +0.39
          flipper_length_mm  -0.36
          year               +0.00

        """
        scan, model = self._reading(X), self._current
        names, terms = model.log_terms(scan)
        return Contributions.between(names, terms, model.log_posterior(scan), self.classes_, of, against)
