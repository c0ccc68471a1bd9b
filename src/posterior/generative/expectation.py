"""Gaps filled in by expectation and maximisation, block by block in the same readings of the data.

Dempster, Laird & Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm. The class of
every row is known and blocks are independent given the class, so each block has its own gaps to fill; all
of them are filled in one reading an iteration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from posterior._types import Floats
from posterior.dataset import Chunk, Rows, read
from posterior.families import Distribution, Expected, GapFillingFamily
from posterior.generative.notes import Note, unfinished_note
from posterior.generative.plan import planned
from posterior.generative.statistics import ClassStatistics

if TYPE_CHECKING:
    from posterior.generative.spec import GenerativeSpec


@dataclass(frozen=True, eq=False)
class Filled:
    """Expected statistics of the blocks with gaps, and the log-likelihood after each iteration."""

    blocks: Mapping[int, Expected[Any]]
    path: Floats
    log_likelihood: float
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class _Expectations:
    """Expected statistics of several blocks; they add up block by block."""

    blocks: tuple[Expected[Any], ...]

    def __add__(self, other: "_Expectations") -> "_Expectations":
        return _Expectations(tuple(a + b for a, b in zip(self.blocks, other.blocks, strict=True)))

    @property
    def log_likelihood(self) -> float:
        return sum(block.log_likelihood for block in self.blocks)


@dataclass(frozen=True, eq=False)
class _Gaps:
    """The blocks with gaps: which columns of the table each describes, and by which family."""

    columns: tuple[tuple[int, ...], ...]
    families: list[GapFillingFamily[Any]]
    rows: Rows
    n_classes: int

    def expect(self, distributions: list[Distribution]) -> _Expectations:
        """One reading of the rows."""

        def expected(chunk: Chunk) -> _Expectations:
            return _Expectations(
                tuple(
                    family.expect(
                        read(chunk, family.reads, columns), chunk.y, chunk.weight, self.n_classes, given
                    )
                    for family, columns, given in zip(self.families, self.columns, distributions, strict=True)
                )
            )

        return self.rows.reduce(expected, dense=sum(map(len, self.columns)))


def filled_in(spec: "GenerativeSpec", statistics: ClassStatistics, rows: Rows) -> Filled:
    """Iterate until the log-likelihood gains less than the family's tolerance for a row.

    The iterations are by maximum likelihood, whatever the family's shrinkage: so each of them raises the
    log-likelihood. Ties and shrinkage are applied once, to what the likeliest model expects.
    """
    where = tuple(i for i, sums in enumerate(statistics.blocks) if sums.has_gaps)
    plans = [planned(spec.blocks[i], statistics.blocks[i]) for i in where]
    where = tuple(i for i, plan in zip(where, plans, strict=True) if plan.keep)
    kept = tuple(plan for plan in plans if plan.keep)
    columns = tuple(
        tuple(spec.blocks[i].columns[j] for j in plan.keep) for i, plan in zip(where, kept, strict=True)
    )
    families = [cast("GapFillingFamily[Any]", plan.family) for plan in kept]
    gaps = _Gaps(columns, families, rows, len(statistics.classes))
    likeliest = [family.likeliest for family in families]
    parts = [plan.part(statistics.blocks[i]) for i, plan in zip(where, kept, strict=True)]
    given = [family.start(part) for family, part in zip(likeliest, parts, strict=True)]
    tolerance = min((f.tol for f in likeliest), default=0.0) * float(statistics.weight.sum())
    most = max((f.max_iter for f in likeliest), default=0)
    found, path = gaps.expect(given), []
    path.append(found.log_likelihood)
    notes: tuple[Note, ...] = ()
    for _ in range(most):
        given = [f.estimate(e.statistics) for f, e in zip(likeliest, found.blocks, strict=True)]
        more = gaps.expect(given)
        if not more.log_likelihood > path[-1]:
            break
        found = more
        path.append(more.log_likelihood)
        if path[-1] - path[-2] <= tolerance:
            break
    else:
        notes = (unfinished_note(most, path[-1] - path[-2], tolerance),)
    final = [f.estimate(e.statistics) for f, e in zip(families, found.blocks, strict=True)]
    at_end = gaps.expect(final)
    blocks = {
        i: Expected(e.statistics, last.log_likelihood)
        for i, e, last in zip(where, found.blocks, at_end.blocks, strict=True)
    }
    if at_end.log_likelihood >= path[-1]:
        path.append(at_end.log_likelihood)
    return Filled(blocks, np.array(path), at_end.log_likelihood, notes)
