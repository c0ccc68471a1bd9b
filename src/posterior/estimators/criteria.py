"""Number of parameters and information criteria of linear models."""

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from posterior._blas import one_blas_thread
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.state import RefusedError
from posterior.linear.effective_parameters import effective_parameters


class InformationCriteria(LinearEstimator):
    """Criteria of a fitted model that has a likelihood."""

    weight_: float

    @property
    @abstractmethod
    def log_likelihood_(self) -> float:
        """Log-likelihood of the training rows."""

    @property
    def n_parameters_(self) -> float:
        """Number of free coefficients; under a penalty the effective number, the trace of H(H + P)⁻¹.

        H is the Hessian of minus the log-likelihood and P that of the penalty; of a lasso the coefficients
        count that are not zero. The size of the noise of a regression is not counted, as in `summary`. It
        takes a pass over the training rows, which a copy does not have; a file keeps it.
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
