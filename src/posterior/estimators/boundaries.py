"""Where the predicted class changes, as equations: points, lines and planes, conics."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.bayes import given_priors
from posterior.estimators.contributions import class_code
from posterior.estimators.parameters import ClassPriors, Label
from posterior.forms import Conic, LinearForm, QuadraticScores, decision_points


class Boundaries:
    """Boundaries of a classifier whose log posteriors are linear or quadratic in the columns.

    Its forms are about a centre and name the coordinates in `columns`: the columns that the model uses, in
    the order of the table. With `priors` they are those of other class priors than the model was trained
    with.
    """

    classes_: AnyArray

    @abstractmethod
    def _quadratic(self, classes: Sequence[int] | None, log_prior: Floats | None) -> QuadraticScores:
        """Log posteriors of some classes, up to a term of the row; with other log priors (K,) if given."""

    def _scores(self, priors: ClassPriors | None, classes: Sequence[int] | None = None) -> QuadraticScores:
        check_is_fitted(self)
        log_prior = None
        if priors is not None:
            with np.errstate(divide="ignore"):
                log_prior = np.log(given_priors(priors, self.classes_))
        return self._quadratic(classes, log_prior)

    def linear_form(self, priors: ClassPriors | None = None) -> LinearForm:
        """Log posteriors as linear functions of x, up to a term that all classes share.

        For logistic regression of numbers, and Gaussian models whose classes share their covariances.

        >>> from posterior import LogisticRegression
        >>> form = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).linear_form()
        >>> form([[0.0], [3.0]]).round(2)  # with two classes the first is at zero
        array([[ 0.  , -1.44],
               [ 0.  ,  1.44]])
        """
        return self._scores(priors).linear_form()

    def quadratic_form(self, a: Label, b: Label, priors: ClassPriors | None = None) -> Conic:
        """The boundary between two classes, log p(a | x) = log p(b | x), with its `type`."""
        check_is_fitted(self)
        return self._scores(priors, [class_code(self.classes_, label) for label in (a, b)]).pair(0, 1)

    def decision_points(self, priors: ClassPriors | None = None) -> tuple[Floats, AnyArray]:
        """With one numeric feature: where the predicted class changes, and the class of each interval.

        >>> from posterior import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
        >>> model.decision_points()
        (array([1.5]), array(['low', 'high'], dtype='<U4'))
        """
        scores = self._scores(priors)
        if len(scores.columns) != 1:
            names = list(scores.columns)
            raise ValueError(f"decision points need one feature; the model has {len(names)}: {names}")
        points, winners = decision_points(scores)
        return points, np.asarray(self.classes_[winners])
