"""Likelihood, number of parameters and information criteria of models of p(class | row)."""

from dataclasses import replace

import numpy as np

from posterior._blas import one_blas_thread
from posterior.estimators.linear_probabilities import LinearProbabilities
from posterior.estimators.state import RefusedError
from posterior.linear.effective_parameters import effective_parameters


class InformationCriteria(LinearProbabilities):
    """Criteria of a fitted model whose loss is minus its log-likelihood."""

    weight_: float

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the training rows, Σ w ln p(class | row), without the penalty."""
        if getattr(self, "class_weight", None) is not None:
            raise RefusedError(
                "class_weight makes up rows that nobody saw, which have no likelihood; fit without it, or "
                "give numbers of repetitions as sample_weight"
            )
        point = self._solved().solution.point
        return float(-point.loss * point.weight)

    @property
    def n_parameters_(self) -> float:
        """Number of free parameters, or under a penalty what they are worth: the trace of H(H + P)⁻¹.

        H is the Hessian of minus the log-likelihood and P that of the penalty; of a lasso the coefficients
        count that are not zero. It takes a pass over the training rows, which a copy does not have; a file
        keeps it.
        """
        fit = self._solved()
        if fit.objective is None and fit.n_parameters is not None:
            return fit.n_parameters
        try:
            objective = fit.checked()
        except ValueError as error:
            raise RefusedError(str(error)) from error
        with one_blas_thread:
            found = effective_parameters(objective, fit.solution.theta)
        self.fit_ = replace(fit, n_parameters=found)
        return found

    @property
    def aic_(self) -> float:
        """Akaike's criterion, −2 ln L + 2·parameters."""
        return 2 * self.n_parameters_ - 2 * self.log_likelihood_

    @property
    def bic_(self) -> float:
        """Schwarz's criterion, −2 ln L + parameters · ln n."""
        return float(-2 * self.log_likelihood_ + self.n_parameters_ * np.log(self.weight_))
