"""Squared distances of rows from many class means under one covariance, where some means are far apart."""

import numpy as np

from posterior._linalg import AT_ONCE, FAR_APART, NEGLIGIBLE
from posterior._types import Bools, Floats, Ints
from posterior.stats import Location

# Classes and columns from which on all of it is faster than a product for each class.
MANY_CLASSES, MANY_COLUMNS = 8, 50
# How often longer than a distance two numbers may be whose difference it is: it costs a digit.
LONGER = 8.0
# The same, squared, of a squared distance as a difference of squares: it costs three digits of sixteen.
LARGER = 1024.0
# Classes whose distances from all others are worked out at once.
BLOCK = 128
# Cells of pairs of a row and a class that are worked on at once.
PAIR_CELLS = 1 << 16


class FarClasses:
    """|(x − μ_k)W|² of rows and classes (n, K), with digits as if each class were worked out by itself.

    Products about a common centre c give |z|² − 2z·m_k + |m_k|², with z = (x − c)W and m_k = (μ_k − c)W.
    Where that is much less than its terms, as where W is large because the covariance is nearly singular, it
    is |z − m_k|². And where x − c and μ_k − c themselves are much longer than x − μ_k, the centre is another:
    the mean of a class near by.

    >>> line, zero, one = Location.at([[0.0], [1.0], [2.0]]), Location.at([0.0]), np.ones(1)
    >>> FarClasses(line, zero, np.eye(1), line.value, one).squares(np.zeros((1, 1)))
    array([[0., 1., 4.]])
    """

    @np.errstate(over="ignore", invalid="ignore")  # of means too far apart for their squares
    def __init__(
        self, location: Location, centre: Location, white: Floats, means: Floats, sd: Floats
    ) -> None:
        self._location, self._centre, self._white, self._means, self._sd = location, centre, white, means, sd
        # On the scale of standard deviations, on which it is seen what is near.
        self._scaled = (location - centre) / sd
        self._groups = self._far_groups()
        self._pivots = np.array([own[0] for own in self._groups], dtype=np.int64)
        self._about_pivots = [self._about_the_first(own) for own in self._groups]

    def _far_groups(self) -> list[Ints]:
        """Classes far from the centre, each with others near by."""
        most, scaled = LONGER**2 * len(self._sd), self._scaled
        lengths = (scaled**2).sum(axis=1)
        far, groups = np.flatnonzero(lengths > most), []
        left = lengths > most
        for start in range(0, len(far), BLOCK):
            some, others = far[start : start + BLOCK], far[start:]
            sums = lengths[some, None] + lengths[others]
            may_be_near = sums - 2.0 * (scaled[some] @ scaled[others].T) <= most + NEGLIGIBLE * sums
            for first, may_be in zip(some.tolist(), may_be_near, strict=True):
                if left[first]:
                    left[first] = False
                    near = others[may_be & left[others]]
                    near = near[((scaled[near] - scaled[first]) ** 2).sum(axis=1) <= most]
                    left[near] = False
                    groups.append(np.append(first, near))
        return groups

    def _about_the_first(self, own: Ints) -> Floats:
        """The means of a group about the first of them."""
        if len(own) == 1:
            return np.zeros((1, len(self._sd)))
        return np.asarray((self._location[own] - self._location[own[:1]]) @ self._white)

    def squares(self, block: Floats) -> Floats:
        """The squared distances of complete rows, in bounded memory."""
        out = np.empty((len(block), len(self._means)))
        step = max(1, AT_ONCE // max(out.shape[1], block.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(block), step):
                self._write(block[start : start + step], out[start : start + step])
        return out

    def _write(self, rows: Floats, out: Floats) -> None:
        apart = self._centre.deviation(rows)
        out[:] = _squares(apart @ self._white, self._means)
        if not self._groups:
            return
        group, row = np.nonzero(self._near(apart / self._sd).T)
        step = max(1, AT_ONCE // rows.shape[1])
        for start in range(0, len(row), step):
            g, i = group[start : start + step], row[start : start + step]
            pivots = self._location[self._pivots[g]]
            z = pivots.deviation(rows[i]) @ self._white
            first = np.flatnonzero(np.diff(g, prepend=-1))
            for begin, end in zip(first.tolist(), [*first[1:].tolist(), len(g)], strict=True):
                own = np.ix_(i[begin:end], self._groups[g[begin]])
                out[own] = _squares(z[begin:end], self._about_pivots[g[begin]])

    def _near(self, rows: Floats) -> Bools:
        """Which rows are much nearer to the pivot of a group than both are to the centre."""
        pivots = self._scaled[self._pivots]
        lengths = (rows**2).sum(axis=1)[:, None] + (pivots**2).sum(axis=1)
        return np.asarray((lengths - 2.0 * (rows @ pivots.T)) * LONGER**2 < lengths)


def _squares(z: Floats, means: Floats) -> Floats:
    """|z − m|² of rows and means, by a product; where digits are lost, one by one."""
    terms = (z**2).sum(axis=1)[:, None] + (means**2).sum(axis=1)
    out = z @ means.T
    out *= -2.0
    out += terms
    lost = ~(out * LARGER >= terms) & ~(terms <= FAR_APART**2)
    rows, classes = np.nonzero(lost)
    step = max(1, PAIR_CELLS // z.shape[1])
    for start in range(0, len(rows), step):
        i, k = rows[start : start + step], classes[start : start + step]
        apart = z[i] - means[k]
        out[i, k] = np.einsum("ij,ij->i", apart, apart)
    return out
