"""Softmax regression of rows on a device: passes over the rows there, the small systems on the host."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from posterior._types import Floats
from posterior.engines.device import cuda
from posterior.engines.device.precision import DOUBLE, SINGLE
from posterior.engines.device.rows import TO_THE_HOST, DeviceRows
from posterior.engines.device.sums import moments, scatter
from posterior.kernels import array_api
from posterior.linear import Design, Objective, Scan
from posterior.linear.basis import Basis
from posterior.linear.fit import SAMPLE, Problem
from posterior.linear.loss_sums import CurvatureSums, LinearScores, SlopeSums
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.model import LinearModel
from posterior.linear.penalties import ElasticNet
from posterior.linear.scaled_design import ScaledDesign
from posterior.linear.scan import RowBlock
from posterior.linear.solvers import Newton, Solver
from posterior.linear.solvers.base import Coordinates
from posterior.stats import Scatter

# A column that spreads less than this share of its mean is constant but for rounding.
ROUNDING = 4 * DOUBLE

S = TypeVar("S")


@dataclass(frozen=True)
class DeviceScan(Scan):
    """The rows of a table of numbers on a device."""

    reads_rows: ClassVar[bool] = False
    rows: DeviceRows = field(default=None)  # type: ignore[assignment]  # always given

    @classmethod
    def on_device(cls, rows: DeviceRows, design: Design) -> "DeviceScan":
        """The rows as a design reads them, which must be the numbers that they are."""
        if not design.as_it_is:
            raise ValueError(
                "arrays on a device are read as the numbers that they are: categories, marks of gaps and "
                f"products of columns are made on the host; use degree=1, missing='error', or {TO_THE_HOST}"
            )
        return cls(rows, design, rows=rows)  # type: ignore[arg-type]  # what is asked of it is overridden

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.rows.n_rows

    @property
    def costly(self) -> bool:
        """A pass is cheap."""
        return False

    def every(self, step: int) -> "DeviceScan":
        """The first of every `step` rows, a copy beside them."""
        return replace(self, rows=self.rows.every(step))

    def scaled(self) -> tuple["DeviceScan", ScaledDesign]:
        """A copy of the rows, divided by the standard deviations of the columns, and these."""
        rows, d = self.rows, self.n_features
        seen = moments(rows.of_one_class(), range(d))
        if not np.isfinite(seen.scatter).all():
            rows.refuse_gaps(range(d))
        tiny = seen.scatter <= (ROUNDING * seen.location.value) ** 2 * seen.weight
        design = ScaledDesign.of_moments(
            replace(seen, scatter=np.where(tiny, 0.0, seen.scatter)), self.design
        )
        return replace(self, design=design, rows=rows.divided(design.spread)), design

    def fold(self, work: Callable[[RowBlock], S], *, as_stored: bool = False) -> S:
        """Rows on a device are not handed out."""
        raise ValueError(
            "summary() and what else is worked out from rows one by one is not available after a fit to an "
            f"array on a device; to fit on the host, {TO_THE_HOST}"
        )


@dataclass(frozen=True, eq=False)
class DeviceObjective(Objective):
    """The mean softmax loss of rows on a device plus the penalty."""

    @property
    def _rows(self) -> DeviceRows:
        scan = self.scan
        assert isinstance(scan, DeviceScan)  # noqa: S101 -- for the type checker
        return scan.rows

    @property
    def _classes(self) -> SoftmaxLoss:
        if not isinstance(self.loss, SoftmaxLoss):
            raise ValueError(
                f"{type(self.loss).__name__} has no kernels for arrays on a device; {TO_THE_HOST}"
            )
        return self.loss

    def _every_class(self, line: LinearScores) -> tuple[Floats, Floats]:
        """Coefficients and offsets of the scores of all classes, the first being 0 where it is held so."""
        if self._classes.symmetric:
            return line.coef, line.offset
        return np.vstack([np.zeros_like(line.coef[:1]), line.coef]), np.append(0.0, line.offset)

    def _slope_sums(self, theta: Floats, line: LinearScores) -> SlopeSums:
        coef, offset = self._every_class(line)
        rows, first = self._rows, int(not self._classes.symmetric)
        found = cuda.softmax_slope(rows, coef, offset, line.shift)
        value, pull, level = softmax_slope(rows, coef, offset, line.shift) if found is None else found
        if not np.isfinite(pull).all() and np.isfinite(coef).all():
            rows.refuse_gaps(range(rows.table.shape[1]))
        return SlopeSums(rows.total, value, pull[first:], level[first:])

    def _curvature_sums(self, theta: Floats, *, centred: bool) -> CurvatureSums:
        rows, line = self._rows, self.line(theta, centred=True)
        coef, offset = self._every_class(line)
        library, total = rows.library, None
        shift = library.to_device(line.shift)
        on_device = library.to_device(coef), library.to_device(offset)
        first, d = int(not self._classes.symmetric), rows.table.shape[1]
        for part in rows.parts(range(d), 4 * d + 3 * len(coef)):
            found = array_api.softmax_curvature(library.xp, part.rows - shift, part.weight, *on_device, first)
            total = library.to_host(found) + (0.0 if total is None else total)
        return CurvatureSums.of(rows.total, np.asarray(total, dtype=np.float64))

    @property
    def rounding(self) -> float:
        """How exact the value is, relative to itself: rows may be scored in single precision."""
        return cuda.slope_rounding(self._rows, self._classes.n_classes, self._rows.table.shape[1])

    @property
    def noise(self) -> float:
        """Slopes of rows that are scored in single precision are as exact as these scores.

        Those of all coefficients together: a search for less went on, with curvatures of all rows.
        """
        return 2 * SINGLE if self.rounding > DOUBLE else 0.0

    @property
    def reads_once(self) -> bool:
        """A slope costs far less than a curvature."""
        return False

    def of_losses(self) -> "DeviceObjective":
        """The losses alone, of the same rows."""
        return replace(self, penalty=ElasticNet())

    def in_memory(self) -> "DeviceObjective":
        """Itself: its rows stay where they are."""
        return self

    def longest_row(self, factor: Floats) -> float:
        """Max ‖(z, 1) factor‖ over rows, z being their coordinates."""
        turned, rows = self._turn() @ factor, self._rows
        found = cuda.longest_row(rows, turned[:-1], turned[-1], self.basis.centre)
        if found is not None:
            return found
        library, longest = rows.library, 0.0
        xp, d = library.xp, rows.table.shape[1]
        centre, turn, level = (library.to_device(a) for a in (self.basis.centre, turned[:-1], turned[-1]))
        for part in rows.parts(range(d), 2 * d + 2 * turned.shape[1]):
            z = (part.rows - centre) @ turn + level
            longest = max(longest, float(library.scalar(xp.max(xp.sum(z * z, axis=1)))))
        return float(np.sqrt(longest))

    def longest_row_at_most(self, factor: Floats) -> float:
        """No bound: a pass is cheap."""
        return float("inf")


LinearAnswer = Literal["posterior", "log_posterior", "best", "scores"]


def linear_answer(model: LinearModel, rows: DeviceRows, what: LinearAnswer) -> Any:
    """Probabilities, their logs, codes of the best class, or scores of rows on a device."""
    every = model if what == "scores" else model.of_every_class
    d = rows.table.shape[1]
    if what != "scores":
        fast = cuda.linear_answer(rows, every.coef, every.level, every.centre, what)
        if fast is not None:
            return fast
    library = rows.library
    xp = library.xp
    centre, coef, level = (library.to_device(a) for a in (every.centre, every.coef.T.copy(), every.level))
    even = library.to_device(np.zeros(len(every.coef)))
    finish: dict[str, Callable[[Any], Any]] = {
        "posterior": lambda s: array_api.posteriors(xp, s, even, logs=False),
        "log_posterior": lambda s: array_api.posteriors(xp, s, even, logs=True),
        "best": lambda s: array_api.best(xp, s, even),
        "scores": lambda s: s,
    }
    parts, fine = [], True
    for part in rows.parts(range(d), 2 * d + 3 * len(every.coef)):
        scores = (part.rows - centre) @ coef + level
        fine = fine and bool(library.scalar(xp.all(xp.isfinite(scores))))
        parts.append(finish[what](scores))
    if not fine:
        rows.refuse_gaps(range(d))
    found = parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)
    return found if what == "best" or not rows.single else xp.astype(found, xp.float32)


def softmax_slope(
    rows: DeviceRows, coef: Floats, offset: Floats, shift: Floats | None
) -> tuple[float, Floats, Floats]:
    """Value and slope of the softmax loss by the array API."""
    library, d = rows.library, rows.table.shape[1]
    on_device = library.to_device(coef), library.to_device(offset)
    apart = None if shift is None else library.to_device(shift)
    value, pull, level = 0.0, np.zeros(coef.shape), np.zeros(len(coef))
    for part in rows.parts(range(d), 2 * d + 6 * len(coef)):
        cells = part.rows if apart is None else part.rows - apart
        found = array_api.softmax_slope(library.xp, cells, part.codes, part.weight, *on_device)
        value += float(library.scalar(found.value))
        pull += library.to_host(found.pull)
        level += library.to_host(found.level)
    return value, pull, level


@dataclass(frozen=True, eq=False)
class DeviceProblem(Problem):
    """What is to be learnt of rows on a device: coordinates from their moments there."""

    @cached_property
    def moments(self) -> Scatter:
        """Mean and scatter of the columns, from rows here and there where that is enough."""
        scan = self.scan
        assert isinstance(scan, DeviceScan)  # noqa: S101 -- for the type checker
        step = max(1, scan.n_rows // max(SAMPLE, 50 * scan.n_features))
        rows = scan.rows.every(step).of_one_class()
        return scatter(rows, range(scan.n_features), pooled=False, fourth=False)

    def objective(self, coordinates: Coordinates) -> Objective:
        """What is minimised, in the coordinates that a solver asks for."""
        if self.jeffreys:
            raise ValueError(f"Firth's penalty is not worked out on a device; use C=1.0, or {TO_THE_HOST}")
        if self.penalty.free:
            raise ValueError(
                "C=inf (no penalty) is not available for arrays on a device: set C, for example C=1.0, or "
                f"{TO_THE_HOST}"
            )
        return DeviceObjective(self.scan, self._loss_for_penalty(), self.penalty, self.basis(coordinates))

    def solver(self) -> Solver:
        """Newton's method, whatever the size: its small systems are solved on the host."""
        if not self.penalty.smooth:
            raise ValueError(
                "arrays on a device are fitted by Newton's method with a ridge; use l1_ratio=0, or "
                f"{TO_THE_HOST}"
            )
        return Newton(stages=True)

    def basis(self, coordinates: Coordinates, bulk: Scan | None = None) -> Basis:
        """Whitened coordinates, or scaled ones where the table is too wide, or the user's own."""
        if coordinates == "user":
            return Basis.plain(self.scan.n_features, self.intercept)
        found = self.moments
        if found.gaps is not None or not np.isfinite(found.scatter).all():
            self.scan.rows.refuse_gaps(range(self.scan.n_features))  # type: ignore[attr-defined]
        variance = np.diagonal(found.scatter[0]) / found.weight[0]
        self._refuse_huge(variance)
        if self._whitens(coordinates):
            return Basis.whitened(found, self.scan.n_rows, self.intercept, self._ridge)
        ridge = self._ridge if self.penalty.smooth else 0.0
        return Basis.scaled(found.location.value[0], variance, self.intercept, ridge)
