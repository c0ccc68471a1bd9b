"""What can be read off a fitted generative model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from posterior._types import Floats
from posterior.estimators.boundaries import Boundaries
from posterior.estimators.contributions import Contributions
from posterior.estimators.generative_prediction import GenerativePrediction
from posterior.estimators.parameters import Label, TableLike
from posterior.estimators.state import RefusedError
from posterior.forms import QuadraticScores
from posterior.generative import ClassStatistics, Note


class ModelReading(Boundaries, GenerativePrediction):
    """Explanations, parameter counts, criteria and boundaries of the model in `model_`."""

    def contributions(
        self, X: TableLike, of: Label | None = None, against: Label | None = None, *, words: bool = False
    ) -> Contributions:
        """Log odds of two classes by feature, adding up to the total.

        By default each row's most probable class against its runner-up; with one class given, the best
        other one. A naive Bayes feature adds its log density ratio; the features of a Gaussian block share
        its quadratic form about the centre of the class means, whose own log odds are the baseline.

        With `words=True` a text adds a term for each of its words that the model knows, named text[word],
        as often as it is there; where absent words count too (a Bernoulli model), text[absent words] is what
        all of them add. Meant for a few rows: there is a term for every word that any of them holds.

        >>> from posterior import NaiveBayes
        >>> texts = [["cheap cheap watches today"], ["the meeting is at noon"], ["cheap tickets for today"]]
        >>> model = NaiveBayes(kinds={"x0": "text"}).fit(texts, ["spam", "ham", "spam"])
        >>> print(model.contributions([["a cheap meeting today"]], words=True))
        log odds of spam against ham: +1.94
          prior        +0.69
          x0[cheap]    +1.20
          x0[today]    +0.92
          x0[meeting]  -0.88
        """
        data = self._dataset(X)
        names, terms = self.model_.log_terms(data, words=words)
        logs = self.model_.log_posterior(data)
        found = Contributions.between(names, terms, logs, self.classes_, of, against)
        return replace(found, there=(terms != 0).any(axis=2)) if words else found

    @property
    def priors_(self) -> Floats:
        """Class priors, in the order of `classes_`."""
        return np.exp(self.model_.log_prior)

    @property
    def notes_(self) -> tuple[Note, ...]:
        """What was noticed about the columns and what was done."""
        return self.model_.notes

    @property
    def statistics_(self) -> ClassStatistics | None:
        """The sums that the model was estimated from, where they can be added to."""
        return self.model_.statistics

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters; refused where shrinkage makes the count meaningless."""
        try:
            return self.model_.n_parameters
        except ValueError as error:
            raise RefusedError(str(error)) from error

    @property
    def log_likelihood_(self) -> float:
        """Joint log-likelihood of the training data, Σ ln p(row, class)."""
        if self.model_.log_likelihood is None:
            raise RefusedError(self.model_.why_no_likelihood)
        return self.model_.log_likelihood

    @property
    def n_iter_(self) -> int:
        """Number of iterations that filled in the gaps of Gaussian blocks; 0 where there were none."""
        return 0 if self.model_.path is None else len(self.model_.path) - 1

    @property
    def log_likelihood_path_(self) -> Floats:
        """Joint log-likelihood before the first and after each iteration that filled in gaps.

        The iterations are by maximum likelihood, so that it never falls; where covariances are shrunk
        or tied in part, that is done after the last one, and `log_likelihood_` is lower. Where a class had
        to be held near the spread of all, the path counts the prior that does so.
        """
        if self.model_.path is None:
            return np.array([self.log_likelihood_])
        return self.model_.path

    @property
    def aic_(self) -> float:
        """Akaike's criterion, −2 ln L + 2·parameters."""
        return 2 * self.n_parameters_ - 2 * self.log_likelihood_

    @property
    def bic_(self) -> float:
        """Schwarz's criterion, −2 ln L + parameters · ln n."""
        fit = -2 * self.log_likelihood_
        return float(fit + self.n_parameters_ * np.log(self.model_.weight))

    def _quadratic(self, classes: Sequence[int] | None, log_prior: Floats | None) -> QuadraticScores:
        return self.model_.quadratic(classes, log_prior)
