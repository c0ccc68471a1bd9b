"""From a distribution to the scores of rows on a device: to add a distribution, enter it in `SCORES`.

A form holds the few parameters of a distribution beside the rows. `log_density(rows)` gives the log density
of each class, (m, K), in which each column counts with its weight; with `relative` a term that all classes
share may be left out.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from posterior._linalg import FAR_APART
from posterior._text import listed
from posterior._types import Floats
from posterior.engines.device.arrays import ArrayLibrary
from posterior.engines.device.categories import levels_of
from posterior.engines.device.rows import TO_THE_HOST
from posterior.families import (
    BernoulliDistribution,
    CategoricalDistribution,
    FewValuesDistribution,
    HistogramDistribution,
    MultinomialDistribution,
    MultivariateNormalDistribution,
    NormalDistribution,
)
from posterior.families.bernoulli import above
from posterior.families.sums import safe_log
from posterior.math import LOG_2PI
from posterior.schema import Column


class Form(Protocol):
    """The parameters of a distribution on a device."""

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K) of rows (m, b)."""


def scorer_of(distribution: Any) -> Callable[..., Form]:
    """What makes the form of a distribution, or the error that there is none."""
    known = SCORES.get(type(distribution))
    if known is None:
        able = ", ".join(sorted(kind.__name__ for kind in SCORES))
        raise ValueError(
            f"{type(distribution).__name__} scores no arrays on a device, which {able} do; {TO_THE_HOST}"
        )
    return known


def form_of(
    library: ArrayLibrary, distribution: Any, columns: Sequence[Column], weight: Floats, *, relative: bool
) -> Form:
    """The form in which a distribution scores rows on a device."""
    known = scorer_of(distribution)
    if not distribution.separable and not (weight == weight[0]).all():
        raise ValueError(f"columns that are described together have one weight, found {weight.tolist()}")
    return known(library, distribution, columns, weight, relative)


class NormalForm:
    """Σ_j w_j (ln p at the mean − ½ standard score²), over the cells that are there."""

    def __init__(
        self,
        library: ArrayLibrary,
        distribution: NormalDistribution,
        _columns: Sequence[Column],
        weight: Floats,
        _relative: bool,
    ) -> None:
        self.xp = library.xp
        centre = distribution.location.average(np.full(distribution.n_classes, 1 / distribution.n_classes))
        scale = np.sqrt(0.5 * weight / distribution.variance)
        self.pivot, self.remainder = (library.to_device(a) for a in (centre.pivot, centre.remainder))
        self.scale, self.apart = (
            library.to_device(a) for a in (scale, (distribution.location - centre) * scale)
        )
        self.level = library.to_device((-0.5 * weight * (np.log(distribution.variance) + LOG_2PI)).T)

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K)."""
        xp, missing = self.xp, self.xp.isnan(rows)
        z = rows - self.pivot - self.remainder
        z = xp.where(missing, xp.zeros_like(z), z)
        there = xp.astype(~missing, rows.dtype)
        squares = []
        for k in range(self.scale.shape[0]):
            t = (z * self.scale[k, :] - self.apart[k, :]) * there
            squares.append(xp.sum(t * t, axis=1))
        return there @ self.level - xp.stack(squares, axis=1)


class MultivariateNormalForm:
    """−½ squared distance − ½ ln|2πΣ|; where classes share Σ, and only the classes matter, linear in x."""

    def __init__(
        self,
        library: ArrayLibrary,
        distribution: MultivariateNormalDistribution,
        columns: Sequence[Column],
        weight: Floats,
        relative: bool,
    ) -> None:
        self.library, self.weight, self.columns = library, float(weight[0]), columns
        # Of classes far apart, deviations from one centre for all would have no digits left.
        far = distribution._spread > FAR_APART
        self.linear = relative and distribution.tied and not far
        centre = distribution._centre
        self.pivot, self.remainder = (library.to_device(a) for a in (centre.pivot, centre.remainder))
        white = np.stack(list(distribution._whitener_by_class())[: len(distribution.covariance)])
        means = distribution._white_means
        self.level = library.to_device(-0.5 * (means**2).sum(axis=1) if self.linear else distribution._levels)
        self.coef = library.to_device(np.ascontiguousarray((means @ white[0].T).T)) if self.linear else None
        self.white, self.means = library.to_device(white), library.to_device(means)
        place = distribution.location
        self.own: Any = None
        if far:
            self.own = tuple(library.to_device(a) for a in (place.pivot, place.remainder))

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K) of complete rows."""
        xp = self.library.xp
        if self.library.scalar(xp.any(xp.isnan(rows))):
            gaps = self.library.to_host(xp.any(xp.isnan(rows), axis=0))
            names = [column.name for column, gap in zip(self.columns, gaps.tolist(), strict=True) if gap]
            raise ValueError(
                "rows with gaps (NaN) in columns that a multivariate normal describes together are not "
                f"scored on a device; columns with gaps: {listed(names, 5)}: fill the gaps, or {TO_THE_HOST}"
            )
        z = rows - self.pivot - self.remainder
        if self.linear:
            return self.weight * (z @ self.coef + self.level)
        scores = []
        for k in range(self.means.shape[0]):
            if self.own is None and k < self.white.shape[0]:
                turned = z @ self.white[k, :, :]
            t = turned - self.means[k, :] if self.own is None else self._turned(rows, k)
            scores.append(self.level[k] - 0.5 * xp.sum(t * t, axis=1))
        return self.weight * xp.stack(scores, axis=1)

    def _turned(self, rows: Any, k: int) -> Any:
        """Whitened deviations from the mean of a class."""
        pivot, remainder = self.own
        white = self.white[min(k, self.white.shape[0] - 1), :, :]
        return (rows - pivot[k, :] - remainder[k, :]) @ white


class BernoulliForm:
    """Σ_j w_j ln p(on or off), over the cells that are there."""

    def __init__(
        self,
        library: ArrayLibrary,
        distribution: BernoulliDistribution,
        _columns: Sequence[Column],
        weight: Floats,
        _relative: bool,
    ) -> None:
        self.xp, self.threshold = library.xp, above(distribution.threshold)
        self.on, self.off = (
            LogSums(
                library, logs * np.where(weight > 0, weight, 1.0) if weight.all() else _times(logs, weight)
            )
            for logs in (distribution.log_on, distribution.log_off)
        )

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K)."""
        xp = self.xp
        on = xp.astype(rows > self.threshold, rows.dtype)
        there = xp.astype(~xp.isnan(rows), rows.dtype)
        return self.on.of(on) + self.off.of(there - on)


class MultinomialForm:
    """Σ x ln p; a missing count is left out, and the other probabilities are rescaled."""

    def __init__(
        self,
        library: ArrayLibrary,
        distribution: MultinomialDistribution,
        _columns: Sequence[Column],
        weight: Floats,
        relative: bool,
    ) -> None:
        if not (relative or distribution.ordered):
            raise ValueError(
                "densities of counts without their order need ln n!, which arrays on a device have not; "
                f"predict_proba needs none, or {TO_THE_HOST}"
            )
        self.library, self.weight, self.relative = library, float(weight[0]), relative
        self.logs = LogSums(library, distribution.log_probability)
        self.probability = library.to_device(np.ascontiguousarray(distribution.probability.T))

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K)."""
        xp = self.library.xp
        gone = xp.isnan(rows) | (rows < 0)
        counts = xp.where(gone, xp.zeros_like(rows), rows)
        out = self.logs.of(counts)
        share = xp.astype(~gone, rows.dtype) @ self.probability
        total = xp.sum(counts, axis=1, keepdims=True)
        lost = xp.any(gone, axis=1, keepdims=True) & (total > 0) & (share > 0)
        rescaled = xp.log(xp.where(lost, share, xp.ones_like(share))) * total
        out = self.weight * xp.where(lost & ~xp.isinf(out), out - rescaled, out)
        if self.relative:
            return out
        negative = xp.any(rows < 0, axis=1, keepdims=True)
        return xp.where(negative, xp.zeros_like(out) - np.inf, out)


class CategoricalForm:
    """Look-ups of ln p(category), added over the columns."""

    def __init__(
        self,
        library: ArrayLibrary,
        distribution: CategoricalDistribution,
        columns: Sequence[Column],
        weight: Floats,
        _relative: bool,
    ) -> None:
        if distribution.joint:
            raise ValueError(f"joint tables of categories score no arrays on a device; {TO_THE_HOST}")
        self.library, self.columns = library, columns
        pairs = zip(distribution._lookup, weight, strict=True)
        self.tables = [library.to_device(_times(table, w)) for table, w in pairs]

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K)."""
        xp, out = self.library.xp, 0.0
        for j, (column, table) in enumerate(zip(self.columns, self.tables, strict=True)):
            codes = levels_of(self.library, rows[:, j], column)
            last = table.shape[0] - 1
            out = out + xp.take(table, xp.where(codes < 0, xp.zeros_like(codes) + last, codes), axis=0)
        return out


class HistogramForm:
    """Look-ups of ln p(bin), and the density within it, which all classes share, added over the columns."""

    def __init__(
        self,
        library: ArrayLibrary,
        distribution: HistogramDistribution,
        _columns: Sequence[Column],
        weight: Floats,
        relative: bool,
    ) -> None:
        self.library, self.relative, self.weight = library, relative, weight.tolist()
        self.edges = [library.to_device(edges) for edges in distribution.edges]
        parts = zip(distribution.share, weight, strict=True)
        self.shares = [library.to_device(np.ascontiguousarray(_times(safe_log(s), w).T)) for s, w in parts]
        ends = zip(distribution.edges, distribution.tail, strict=True)
        self.widths = [
            library.to_device(np.concatenate([tail[:1], np.diff(edges), tail[1:]])) for edges, tail in ends
        ]

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K)."""
        xp, out = self.library.xp, 0.0
        for j, (edges, shares) in enumerate(zip(self.edges, self.shares, strict=True)):
            missing = xp.isnan(rows[:, j])
            x = xp.where(missing, xp.zeros_like(rows[:, j]) + edges[0], rows[:, j])
            place = self.library.indices(xp.searchsorted(edges, x, side="right"))
            terms = xp.take(shares, place, axis=0)
            if not self.relative and self.weight[j] > 0:
                terms = terms + self.weight[j] * self._height(j, x, place)[:, None]
            out = out + xp.where(missing[:, None], xp.zeros_like(terms), terms)
        return out

    def _height(self, j: int, x: Any, place: Any) -> Any:
        """The log density of values within their bins: even between edges, exponential outside."""
        xp, edges, last = self.library.xp, self.edges[j], self.edges[j].shape[0]
        width = xp.take(self.widths[j], place, axis=0)
        above = xp.where(place == last, x - edges[-1], xp.zeros_like(x))
        return -xp.log(width) - xp.where(place == 0, edges[0] - x, above) / width


class FewValuesForm:
    """The sum over columns with a distribution each, in the form of its own."""

    def __init__(
        self,
        library: ArrayLibrary,
        distribution: FewValuesDistribution,
        columns: Sequence[Column],
        weight: Floats,
        relative: bool,
    ) -> None:
        self.forms = [
            form_of(library, member, columns[j : j + 1], weight[j : j + 1], relative=relative)
            for j, member in enumerate(distribution.members)
        ]

    def log_density(self, rows: Any) -> Any:
        """Log densities (m, K)."""
        return sum(form.log_density(rows[:, j : j + 1]) for j, form in enumerate(self.forms))


class LogSums:
    """Counts times logarithms, Σ_j x_j ln p_kj, in which 0 times −inf is 0."""

    def __init__(self, library: ArrayLibrary, logs: Floats) -> None:
        self.xp = library.xp
        never = np.isneginf(logs)
        self.logs = library.to_device(np.ascontiguousarray(np.where(never, 0.0, logs).T))
        self.never = (
            library.to_device(np.ascontiguousarray(never.T.astype(np.float64))) if never.any() else None
        )

    def of(self, counts: Any) -> Any:
        """The sums (m, K) of counts (m, d) that are not negative."""
        out = counts @ self.logs
        if self.never is None:
            return out
        xp = self.xp
        impossible = xp.astype(counts > 0, counts.dtype) @ self.never > 0.5
        return xp.where(impossible, xp.zeros_like(out) - np.inf, out)


def _times(logs: Floats, weight: Any) -> Floats:
    """Logarithms times weights; 0 times −inf is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(np.broadcast_to(weight, logs.shape) > 0, logs * weight, 0.0)


SCORES: dict[type, Callable[..., Form]] = {
    NormalDistribution: NormalForm,
    MultivariateNormalDistribution: MultivariateNormalForm,
    BernoulliDistribution: BernoulliForm,
    CategoricalDistribution: CategoricalForm,
    FewValuesDistribution: FewValuesForm,
    HistogramDistribution: HistogramForm,
    MultinomialDistribution: MultinomialForm,
}
