"""What a loss must have, and what it may declare so that more can be done with it.

Scores are (R, m), a row of numbers for every score, so that NumPy runs along the rows of the table.
"""

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from posterior._types import AnyArray, Floats, Ints

if TYPE_CHECKING:  # what is built on losses
    from posterior.linear.duality import DualRay
    from posterior.linear.loss_sums import LinearScores
    from posterior.linear.objective import Objective, Point
    from posterior.linear.scan import RowBlock, Scan

# Columns up to which the places of all pairs of them are kept, half a megabyte.
FEW_COLUMNS = 256


class Loss(ABC):
    """A convex function of the scores of a row and its target, summed over rows with their weights.

    A loss of one's own has `n_scores`, `slope` and `curvature`; columns, penalties, coordinates, threads and
    solvers need nothing else. The rest is declared where it holds: each attribute and method below says what
    it makes possible, and its default claims nothing.

    >>> import numpy as np
    >>> from posterior.linear import GaussianLoss
    >>> value, slope = GaussianLoss().slope(np.array([[1.0, 4.0]]), np.array([0.0, 1.0]), None)
    >>> value, slope                                        # ½ Σ (score − target)², and score − target
    (5.0, array([[1., 3.]]))
    """

    # -- what it must have ------------------------------------------------------------------------

    @property
    @abstractmethod
    def n_scores(self) -> int:
        """R, the number of scores of a row."""

    @abstractmethod
    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        """The value Σ w ℓ, and the derivatives w ∂ℓ/∂η, (R, m). The scores may be overwritten."""

    @abstractmethod
    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        """The second derivatives w ∂²ℓ/∂η_a∂η_b, (R(R+1)/2, m), in the order of `pairs`."""

    def values(self, scores: Floats, target: AnyArray) -> Floats:
        """The loss of each row, (m,), whatever its weight."""
        return np.array([self.slope(scores[:, [i]], target[[i]], None)[0] for i in range(len(target))])

    # -- bounds: certificates and gradient steps ----------------------------------------------------

    @property
    def self_concordance(self) -> float:
        """M with |ℓ'''| ≤ M ℓ'' (largest − smallest change of a score): proves certificates; 0: quadratic.

        Along any direction; where the score of a reference class is fixed at 0, its change 0 counts too.
        """
        return float("inf")

    @property
    def curvature_bound(self) -> float:
        """The largest second derivative along a unit step of the scores: the length of gradient steps."""
        return float("inf")

    def dual_ray(self, objective: "Objective", point: "Point", origin: "Point") -> "DualRay | None":
        """Lower bounds of the penalised minimum by duality, at a point; None where they are not known."""
        return None

    # -- what its scores mean -----------------------------------------------------------------------

    # The number of classes whose codes are the target; 0 where the target is a number.
    n_classes: int = 0

    @property
    def shift_invariant(self) -> bool:
        """Whether a number added to all scores of a row changes nothing."""
        return False

    @property
    def contrasts(self) -> Floats:
        """E, with E·(coefficients of the scores) = the coefficients that are shown and penalised."""
        return np.eye(self.n_scores)

    def symmetrized(self) -> "Loss":
        """The same loss with one score for each row of coefficients shown, as an l1 penalty needs it."""
        return self

    def identified(self) -> "Loss":
        """The same loss with scores that the probabilities determine, as standard errors need it."""
        return self

    def log_posterior(self, scores: Floats) -> Floats:
        """Log probabilities of the classes, (m, K), at scores (m, R): for leave-one-out probabilities."""
        raise NotImplementedError(f"{type(self).__name__} gives no probabilities of classes")

    # -- how it is minimised ------------------------------------------------------------------------

    # Whether it has kinks of its own, as the absolute error: only solvers with `kinked_losses` take it.
    kinked: ClassVar[bool] = False

    # The name of the solver that "auto" means; None leaves the choice to the size of the problem.
    solver: ClassVar[str | None] = None

    def constant_scores(self, slope: Floats) -> Floats:
        """The best scores that are the same for all rows, (R,), from the mean slope at scores of 0."""
        return np.zeros(self.n_scores)

    # Whether p(class) ∝ exp(score), so that separated classes send the unpenalised optimum to infinity: they
    # are then looked for and reported.
    detects_separation: ClassVar[bool] = False

    # Whether `information_slope` is there, which Firth's penalty (Jeffreys' prior) needs.
    has_jeffreys: ClassVar[bool] = False

    def information_slope(self, scores: Floats, curvature: Floats, leverage: Floats) -> Floats:
        """∂ ln|I|/∂η_c = w Σ_ab h_ab ∂V_ab/∂η_c, (R, m), from w V (packed) and leverages h, (R, R, m)."""
        raise NotImplementedError(f"{type(self).__name__} does not know how its information changes")

    # -- what it says of chance ---------------------------------------------------------------------

    # Whether it is −ln of a density up to a constant, so that its curvature gives standard errors.
    has_standard_errors: ClassVar[bool] = False
    # Whether the density has a scale to be estimated: t tests and R², instead of z tests and McFadden's R².
    estimates_dispersion: ClassVar[bool] = False
    # The distribution of a number about its score, for predictions of a regression with this loss.
    noise: ClassVar["Noise | None"] = None

    def dispersion(self, value: float, df: float) -> float:
        """What multiplies the inverse curvature in standard errors, from Σ w ℓ and degrees of freedom."""
        return 1.0

    def log_likelihood(self, value: float, weight: float) -> float:
        """The log-likelihood of rows of this total weight from Σ w ℓ, with the best scale if there is one."""
        return -value

    def null_value(self, scan: "Scan", weight: float, intercept: bool) -> float | None:
        """Σ w ℓ of the best constant scores (of 0 without an intercept); None: found by Newton steps."""
        return None

    # -- compiled code for many rows ------------------------------------------------------------------

    def compiled_sums(
        self, block: "RowBlock", line: "LinearScores", *, curved: bool
    ) -> "tuple[float, Floats, Floats, Floats | None] | None":
        """Σ w ℓ and its derivatives by coefficients (R, d) and levels (R,) of dense rows; None: by NumPy.

        If `curved`, also the upper triangle of Σ w ∂²ℓ (x, 1)(x, 1)' for every pair of scores, one after the
        other.
        """
        return None

    def sums_of_parts(self, block: "RowBlock", line: "LinearScores", size: int, *, curved: bool) -> Any:
        """The same of every `size` rows, as threads work them out side by side; None: one by one."""
        return None

    # Whether compiled code takes steps row by row: those of softmax or, without classes, of squared errors.
    compiled_steps: ClassVar[bool] = False

    def compiled_forces(self, block: "RowBlock") -> Any:
        """A faster `slope` for as many rows as the block has, or None."""
        return None


class Noise(Protocol):
    """A family of densities with a scale, of which a loss is −ln up to constants, about the score."""

    def scale(self, mean_loss: float) -> float:
        """The scale that maximises the likelihood."""

    def variance(self, scale: float) -> float:
        """The variance of the noise."""

    def log_likelihood(self, scale: float, weight: float) -> float:
        """Σ w ln p of rows of this total weight, at the scale that maximises it."""

    def distribution(self, loc: Any, scale: float) -> Any:
        """The frozen distribution of `scipy.stats` about these scores."""


def pairs(n_scores: int) -> list[tuple[int, int]]:
    """The pairs a ≤ b in the order of a loss's curvature: (0, 0), (0, 1), … and then (1, 1) and so on."""
    return [(a, b) for a in range(n_scores) for b in range(a, n_scores)]


def unpacked(packed: Floats, n_scores: int) -> Floats:
    """A symmetric (R, R, …) array from its (R(R+1)/2, …) pairs."""
    out = np.empty((n_scores, n_scores, *packed.shape[1:]))
    for at, (a, b) in enumerate(pairs(n_scores)):
        out[a, b] = out[b, a] = packed[at]
    return out


def upper_triangle(size: int) -> tuple[Ints, Ints]:
    """The places of every two of `size` columns in their order, as `np.triu_indices` has them.

    Those of few columns are kept; of many they would take more memory than a model.
    """
    return _few_places(size) if size <= FEW_COLUMNS else np.triu_indices(size)


@lru_cache(maxsize=16)
def _few_places(size: int) -> tuple[Ints, Ints]:
    return np.triu_indices(size)


def from_upper_triangles(paired: Floats, size: int) -> Floats:
    """Symmetric blocks (…, q, q) from their upper triangles (…, q(q+1)/2)."""
    out = np.empty((len(paired), size, size))
    rows, columns = upper_triangle(size)
    out[:, rows, columns] = paired
    out[:, columns, rows] = paired
    return out
