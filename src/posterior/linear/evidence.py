"""How strongly each term is to be shrunk, by what the rows say of all terms together (empirical Bayes).

The coefficients of term j are N(0, 1/λ_j) beforehand. At the optimum of Σ w ℓ + ½ Σ λ_j ‖β_j‖², with Hessian
H, the evidence for the strengths (Laplace's approximation of the marginal likelihood) is stationary where

    λ_j = γ_j / ‖β_j‖²,     γ_j = q_j − λ_j tr(H⁻¹)_j, what the q_j coefficients are worth

(MacKay, 1992; Wood & Fasiolo, 2017). A term that the rows know nothing of has γ = 0, and its strength grows
until it is gone. Strengths of one kind are alike beforehand, which steadies them where rows are few: their
logarithms are normal about what is usual for the kind, with standard deviation ALIKE.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._types import Floats, Ints
from posterior.linear.basis import Basis, column_moments
from posterior.linear.in_memory import InMemoryScan
from posterior.linear.losses import Loss, pairs
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import RowBlock, Scan
from posterior.linear.solvers import LBFGS
from posterior.linear.solvers.newton import armijo_search, cholesky_factor, newton_step

# How far apart the strengths of one kind are beforehand: factors of e^1.5 = 4.5, either way.
ALIKE = 1.5
# What each term counts for in the usual strength, beside what it is worth.
LITTLE = 0.1
# What the rows must add to the log odds that a term is there for it to stay; noise adds about this or less.
AGAINST = -0.5
# Updates of the strengths at most. They end where no log strength changes by more than CLOSE or, of a LARGE
# number of coefficients, where all changes add no more than SLIGHT to the log evidence: updates take long.
UPDATES, CLOSE, SLIGHT, LARGE = 25, 0.05, 0.25, 500
# Halvings of the range of log strengths: to 1e-8 of it.
BISECTIONS = 27
# How many times as far a strength goes that goes on the same way.
FARTHER = 1.8
# Newton steps before the first update; later ones have one each.
FIRST_STEPS = 4
# A term that is worth less than this many coefficients is left out.
WORTH = 1e-2
# Strengths are kept in this range: beyond it nothing changes any more.
WEAKEST, STRONGEST = 1e-4, 1e8
# Hessians up to this size are inverted as a whole; of larger ones the block of each score, or its diagonal.
FACTORED = 1_200
# Updates, and steps between them, where the whole Hessian is too large.
FEWER_UPDATES, STEPS = 5, 15
# Cells of the rows that are kept in memory, because all steps read them.
MOST_CELLS = 1 << 25


@dataclass(frozen=True, eq=False)
class Strengths:
    """The strength of each term, what it is worth in coefficients, and the fit with them.

    Scores are (x − mean)·coef + level, (R, p) and (R,), of the numbers in their own units. `evidence` is what
    the rows add to the log odds that a term is there.
    """

    strengths: Floats
    worth: Floats
    coef: Floats
    level: Floats
    mean: Floats
    evidence: Floats

    @property
    def kept(self) -> Floats:
        """The strengths, infinite for terms that the rows say are not there, or that are worth nothing."""
        gone = (self.worth < WORTH) | (self.evidence < AGAINST)
        return np.where(gone, np.inf, self.strengths)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows, a loss, and the term of each number of a row with the kind of each term."""

    scan: Scan
    loss: Loss
    mean: Floats
    weight: float
    term_of: Ints
    kind_of: Ints

    @classmethod
    def of(cls, scan: Scan, loss: Loss, term_of: Ints, kind_of: Ints) -> "Evidence":
        """The evidence of rows whose terms are in units of their prior standard deviations."""
        seen = column_moments(scan)
        small = not scan.sparse and scan.n_rows * scan.n_features <= MOST_CELLS
        held = InMemoryScan.copied(scan) if small else scan
        weight = held.fold(lambda block: block.total)
        return cls(held, loss, seen.location.value[0], weight, term_of, kind_of)

    def strengths(self, start: Floats, *, fixed: bool = False, known: Strengths | None = None) -> Strengths:
        """The strengths where the evidence is stationary, from others to start from; or these if `fixed`.

        `known` is a fit without the last of the numbers, whose coefficients are a start as well.
        """
        found = np.clip(start, WEAKEST, STRONGEST)
        theta = None if known is None else self._theta(known, found)
        whole, last = self._objective(found).size <= FACTORED, np.zeros_like(found)
        with one_blas_thread:
            for update in range(UPDATES if whole else FEWER_UPDATES):
                objective = self._objective(found)
                theta = objective.zero() if theta is None else theta
                if whole:
                    theta, inverse = _newton(objective, theta, 1 if update else FIRST_STEPS, self.weight)
                    by_score = objective.contrasts.T @ objective.contrasts
                    shrunk = np.einsum("ab,adbd->d", by_score, inverse)
                else:
                    theta = LBFGS(max_iter=STEPS, stages=False).minimize(objective, theta).theta
                    shrunk = _by_score(objective, theta, self.weight)
                coef, level = objective.free(theta)
                before = found
                found, worth, steep = self._updated(objective.contrasts @ coef, shrunk, found)
                change = np.zeros_like(found) if fixed else np.log(found / before)
                # A strength that goes on the same way goes farther: updates approach their end slowly.
                change = np.where(change * last > 0, FARTHER, 1.0) * change
                found = np.clip(before * np.exp(change), WEAKEST, STRONGEST)
                change, last = np.log(found / before), change
                # Coordinates are those of the prior: coefficients times the roots of the strengths.
                root = np.append(np.exp(0.5 * change)[self.term_of], 1.0)
                theta = (theta.reshape(objective.shape) * root).ravel()
                slight = objective.size > LARGE and np.abs(steep * change).sum() < SLIGHT
                if update >= FIRST_STEPS and (slight or np.abs(change).max(initial=0.0) < CLOSE):
                    break
        evidence = np.full(len(found), np.inf)
        if whole and not fixed:
            evidence = self._evidence(objective, coef * np.sqrt(before)[self.term_of], inverse)
        return Strengths(found, worth, coef, level, self.mean, evidence)

    def _evidence(self, objective: Objective, v: Floats, inverse: Floats) -> Floats:
        """What the rows add to the log odds that each term is there: ln p(0) before less ln p(0) after.

        By the densities of its coefficients at zero, both normal (Dickey, 1971).
        """
        log_prior = np.linalg.slogdet(objective.contrasts.T @ objective.contrasts)[1]
        out = np.empty(int(self.term_of.max(initial=-1)) + 1)
        for term in range(len(out)):
            own = np.flatnonzero(self.term_of == term)
            covariance = inverse[:, own][:, :, :, own].reshape(v[:, own].size, -1)
            mode = v[:, own].ravel()
            log_det, distance = np.linalg.slogdet(covariance)[1], mode @ np.linalg.solve(covariance, mode)
            out[term] = 0.5 * (len(own) * log_prior + log_det + distance)
        return out

    def _theta(self, known: Strengths, strengths: Floats) -> Floats:
        """The coordinates of a fit, with zeros for the numbers that it does not have."""
        coef = np.zeros((self.loss.n_scores, len(self.mean)))
        coef[:, : known.coef.shape[1]] = known.coef
        return np.hstack([coef * np.sqrt(strengths)[self.term_of], known.level[:, None]]).ravel()

    def _objective(self, strengths: Floats) -> Objective:
        """The mean loss plus the penalty, in coordinates of which all have the same prior."""
        unit = 1.0 / np.sqrt(strengths)[self.term_of]
        basis = Basis(self.mean, unit, shown=np.ones_like(unit))
        return Objective(self.scan, self.loss, ElasticNet(l2=1.0 / self.weight), basis)

    def _updated(self, shown: Floats, shrunk: Floats, found: Floats) -> tuple[Floats, Floats, Floats]:
        """The next strengths, what each term is worth, and the slope of the log evidence by log strength.

        `shrunk` is what each number is not worth.
        """
        n, n_scores = len(found), self.loss.n_scores
        count = np.bincount(self.term_of, minlength=n) * float(n_scores)
        worth = np.clip(count - np.bincount(self.term_of, shrunk, minlength=n), 1e-8, count)
        squares = np.asarray((shown**2).sum(axis=0), dtype=np.float64)
        size: Floats = np.bincount(self.term_of, squares, minlength=n).astype(np.float64)
        usual = np.empty(n)
        for kind in np.unique(self.kind_of):
            own = self.kind_of == kind
            pooled = (worth[own].sum() + LITTLE) / (found[own] @ size[own] + LITTLE)
            usual[own] = np.average(np.log(found[own]), weights=worth[own] + LITTLE) + np.log(pooled)
        return np.exp(_log_strengths(worth, size, usual)), worth, 0.5 * (worth - found * size)


def _log_strengths(worth: Floats, size: Floats, usual: Floats) -> Floats:
    """Log strengths x with ½ (γ − eˣ ‖β‖²) = (x − usual) / ALIKE², by bisection."""
    low, high = np.full_like(worth, np.log(WEAKEST)), np.full_like(worth, np.log(STRONGEST))
    for _ in range(BISECTIONS):
        x = (low + high) / 2
        rising = 0.5 * (worth - np.exp(x) * size) > (x - usual) / ALIKE**2
        low, high = np.where(rising, x, low), np.where(rising, high, x)
    return np.asarray((low + high) / 2)


def _newton(objective: Objective, theta: Floats, steps: int, weight: float) -> tuple[Floats, Floats]:
    """Some Newton steps, and the posterior covariance (R, p, R, p) of the coordinates."""
    point = objective.slope(theta)
    for _ in range(steps):
        factor = cholesky_factor(objective.curvature(point.theta))
        move = newton_step(factor, point.gradient)
        point = armijo_search(objective, point, move, -float(point.gradient @ move))[0]
    inverse = lapack.dpotri(factor, lower=1)[0]
    (R, D), p = objective.shape, objective.basis.n_coordinates
    whole = (np.tril(inverse) + np.tril(inverse, -1).T).reshape(R, D, R, D)
    return point.theta, whole[:, :p, :, :p] / weight


def _by_score(objective: Objective, theta: Floats, weight: float) -> Floats:
    """How much the prior decides of each number's coefficients, by the block of each score alone.

    Or by its diagonal, where a block is wide.
    """
    (R, D), p = objective.shape, objective.basis.n_coordinates
    line = objective.line(theta, centred=not objective.scan.sparse)
    own = [k for k, (a, b) in enumerate(pairs(R)) if a == b]
    unit, metric = objective.basis.directions, np.diagonal(objective.contrasts.T @ objective.contrasts)

    def curvatures(block: RowBlock) -> Floats:
        block = block.packed()
        X = block.matrix
        sparse = kernels.is_sparse(X)
        if line.shift is not None:
            X = X - line.shift
        by_row = objective.loss.curvature(line.scores(X), block.target, block.weight)[own]
        if D > FACTORED or sparse:
            squares = kernels.with_data(X, X.data**2) if sparse else X * X
            return np.asarray((squares.T @ by_row.T).T)
        return np.stack([X.T @ (X * w[:, None]) for w in by_row])

    found = objective.scan.fold(curvatures) / weight
    if found.ndim == 2:
        return np.asarray(sum(m / (h * unit**2 * weight + m) for m, h in zip(metric, found, strict=True)))
    shrunk = np.zeros(p)
    for m, hessian in zip(metric, found, strict=True):
        ridged = hessian * unit[:, None] * unit
        ridged[np.arange(p), np.arange(p)] += m / weight
        inverse = lapack.dpotri(cholesky_factor(ridged), lower=1)[0]
        shrunk += m * np.diagonal(inverse) / weight
    return shrunk
