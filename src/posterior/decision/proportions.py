"""Proportions of a mixture whose component densities are known: maximum likelihood, with a proven gap."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from posterior._types import Floats, Ints

# A mean log-likelihood this close to the largest possible is taken for it.
TOLERANCE = 1e-10
MAX_ITER = 200
HALVINGS = 40
RIDGE = 1e-12


@dataclass(frozen=True)
class Proportions:
    """Shares of the K components in each of B samples, and how far their likelihood is from the largest.

    `gap` bounds, for each sample, the mean log-likelihood that is still to be gained, Σ_i w_i being 1.
    With g_k = Σ_i w_i f_ik / Σ_j q_j f_ij, which is the gradient, concavity gives
    ℓ(q*) − ℓ(q) ≤ g·(q* − q) = Σ_k q*_k g_k − 1 ≤ max_k g_k − 1.
    """

    share: Floats
    gap: Floats
    n_iter: int


def proportions(density: Floats, weight: Floats, start: Floats) -> Proportions:
    """The shares q on the simplex that maximise Σ_i w_i ln Σ_k q_k f_ik, for B samples at once.

    Parameters
    ----------
    density : array of shape (n, K) or (B, n, K)
        The densities f_ik of the components, each row up to a factor; in common, or one for each sample.
    weight : array of shape (B, n)
        The weights of the rows in each sample; they sum to 1.
    start : array of shape (B, K)
        Shares to start from, under which every row that counts is possible.

    The problem is that of the EM algorithm of Saerens, Latinne & Decaestecker (2002). Here each step is
    Newton's under q ≥ 0, a small non-negative least-squares problem (Kim, Carbonetto, Stephens & Anitescu
    2020), halved until the likelihood does not fall; where that fails, a step of EM.

    >>> f = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> found = proportions(f, np.full((1, 3), 1 / 3), np.full((1, 2), 0.5))
    >>> found.share.round(3), bool(found.gap[0] < 1e-10)
    (array([[0.701, 0.299]]), True)

    """
    q = start.copy()
    mixed = _mixed(density, q, weight)
    level = _level(mixed, weight)
    slope = _slope(density, mixed, weight)
    going: Ints = np.arange(len(q))
    n_iter = 0
    while n_iter < MAX_ITER:
        going = going[slope[going].max(axis=1) - 1 > TOLERANCE]
        if not len(going):
            break
        n_iter += 1
        here = density if density.ndim == 2 else density[going]
        target = _newton(q[going], slope[going], _curvature(here, mixed[going], weight[going]))
        q[going], level[going] = _ascended(
            here, weight[going], q[going], level[going], target, q[going] * slope[going]
        )
        mixed[going] = _mixed(here, q[going], weight[going])
        slope[going] = _slope(here, mixed[going], weight[going])
    return Proportions(q, np.maximum(slope.max(axis=1) - 1, 0.0), n_iter)


def curvature_at(density: Floats, weight: Floats, share: Floats) -> Floats:
    """The negative Hessian Σ_i w_i s_i s_iᵀ with s_ik = f_ik / Σ_j q_j f_ij, (K, K), of one sample."""
    mixed = _mixed(density, share[None], weight[None])
    return np.asarray(_curvature(density, mixed, weight[None])[0])


def mean_ratio(density: Floats, weight: Floats, share: Floats) -> Floats:
    """The gradient g_k = Σ_i w_i f_ik / Σ_j q_j f_ij, (K,), of one sample: 1 wherever q_k > 0 is best."""
    mixed = _mixed(density, share[None], weight[None])
    return np.asarray(_slope(density, mixed, weight[None])[0])


def log_likelihood(density: Floats, weight: Floats, share: Floats) -> float:
    """Σ_i w_i ln Σ_k q_k f_ik of one sample."""
    return float(_level(_mixed(density, share[None], weight[None]), weight[None])[0])


def _mixed(density: Floats, q: Floats, weight: Floats) -> Floats:
    """Densities of the mixture, (B, n); 1 for rows that do not count."""
    return np.asarray(np.where(weight > 0, np.matmul(density, q[:, :, None])[:, :, 0], 1.0))


def _level(mixed: Floats, weight: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray((weight * np.log(mixed)).sum(axis=1))


def _slope(density: Floats, mixed: Floats, weight: Floats) -> Floats:
    return np.asarray(np.matmul((weight / mixed)[:, None, :], density)[:, 0, :])


def _curvature(density: Floats, mixed: Floats, weight: Floats) -> Floats:
    scaled = (weight / mixed / mixed)[:, None, :] * np.swapaxes(density, -1, -2)
    return np.asarray(np.matmul(scaled, density))


def _newton(q: Floats, slope: Floats, curvature: Floats) -> Floats:
    """Where the quadratic model of ℓ(q) − Σ_k q_k is largest under q ≥ 0, (B, K), scaled to sum to 1.

    The term Σ_k q_k takes the place of Σ_k q_k = 1, which then holds at the optimum. As Hq = g, the model
    at p is pᵀ(2g − 1) − ½ pᵀHp up to a constant.
    """
    own = np.einsum("bkk->bk", curvature)
    size = np.sqrt(np.maximum(own, 1.0))
    # Held where one is: copies of each other by a hair, and components that hardly any row could come from
    # (own < 1 only where g < 1) so that the diagonal is 1. Neither moves the optimum.
    held = 1.0 + RIDGE - own / size**2
    scaled = curvature / (size[:, :, None] * size[:, None, :]) + held[:, :, None] * np.eye(own.shape[1])
    pull = (2 * slope - 1) / size + held * size * q
    p = np.linalg.solve(scaled, pull[:, :, None])[:, :, 0]
    for b in np.flatnonzero((p < 0).any(axis=1)):
        root = np.linalg.cholesky(scaled[b])
        p[b], _ = nnls(root.T, solve_triangular(root, pull[b], lower=True))
    p /= size
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _ascended(
    density: Floats, weight: Floats, q: Floats, level: Floats, target: Floats, by_em: Floats
) -> tuple[Floats, Floats]:
    """The farthest of the points q + (target − q)/2ᵐ at which the likelihood does not fall, else EM's."""
    found, reached = by_em / by_em.sum(axis=1, keepdims=True), level.copy()
    falling: Ints = np.arange(len(q))
    # What rounding does to a mean of logs.
    slack = 4 * np.finfo(float).eps * (1.0 + np.abs(level))
    for m in range(HALVINGS):
        here = density if density.ndim == 2 else density[falling]
        tried = q[falling] + (target[falling] - q[falling]) * 0.5**m
        new = _level(_mixed(here, tried, weight[falling]), weight[falling])
        good = new >= level[falling] - slack[falling]
        found[falling[good]], reached[falling[good]] = tried[good], new[good]
        falling = falling[~good]
        if not len(falling):
            return found, reached
    here = density if density.ndim == 2 else density[falling]
    reached[falling] = _level(_mixed(here, found[falling], weight[falling]), weight[falling])
    return found, reached
