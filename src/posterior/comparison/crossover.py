"""Where one learning curve passes another for good."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior._types import Floats, Ints
from posterior.comparison.experiments import margin, spread


@dataclass(frozen=True)
class Crossover:
    """The number of rows at which the model that is better in the end overtakes the other for good.

    `rows` lies `between` two sizes that were tried, where the mean difference of the losses, as a line in
    log n, is zero. `clear_until` is the last size at which the `early` model is ahead by more than chance
    (Student's 95 % interval of the paired differences), `clear_from` the first from which on the `late` one
    is; None where there is no such size. `early_at` are the sizes at which the early model is ahead, and
    `late_before` those below the last of them at which the late one is, where they cross more than once.
    """

    early: str
    late: str
    rows: float
    between: tuple[int, int]
    clear_until: int | None = None
    clear_from: int | None = None
    early_at: tuple[int, ...] = ()
    late_before: tuple[int, ...] = ()

    @property
    def is_clear(self) -> bool:
        """Whether both models are ahead by more than chance somewhere."""
        return self.clear_until is not None and self.clear_from is not None


def find_crossover(sizes: Sequence[int], differences: Floats, names: tuple[str, str]) -> Crossover | None:
    """The last change of sign of the mean difference of two curves, the first less the second.

    `differences` (n_sizes, n_repeats) are paired: each from the same rows. None where the model that is ahead
    in the end was never behind.

    >>> found = find_crossover([10, 40, 160], np.array([[-0.4, 0.0], [0.0, 0.4], [0.5, 0.5]]), ("a", "b"))
    >>> found.early, found.late, round(found.rows, 6), found.clear_until, found.clear_from
    ('a', 'b', 20.0, None, 160)
    """
    mean, error = spread(differences)
    known = np.flatnonzero(~np.isnan(mean))
    if not len(known) or mean[known[-1]] == 0:
        return None
    tried, sign = np.asarray(sizes)[known], np.sign(mean[known[-1]])
    lead = sign * mean[known]  # of the model that is ahead in the end
    chance = margin(error[known], differences.shape[1])
    behind = np.flatnonzero(lead < 0)
    if not len(behind):
        return None
    last = int(behind[-1])
    first, second = names if sign > 0 else names[::-1]
    return Crossover(
        early=first,
        late=second,
        rows=_root(tried[last : last + 2], lead[last : last + 2]),
        between=(int(tried[last]), int(tried[last + 1])),
        clear_until=_last(tried, -lead > chance),
        clear_from=_from_on(tried, lead > chance),
        early_at=tuple(tried[behind].tolist()),
        late_before=tuple(tried[:last][lead[:last] > 0].tolist()),
    )


def _root(sizes: Ints, lead: Floats) -> float:
    """Where the line through two points is zero, in log n; an infinite end is as far off as can be."""
    low, high = -float(lead[0]), float(lead[1])
    share = 1.0 / (1.0 + high / low) if np.isfinite([low, high]).any() else 0.5
    start, end = np.log(sizes)
    return float(np.exp(start + share * (end - start)))


def _last(sizes: Ints, holds: Floats) -> int | None:
    found = np.flatnonzero(holds)
    return int(sizes[found[-1]]) if len(found) else None


def _from_on(sizes: Ints, holds: Floats) -> int | None:
    fails = np.flatnonzero(~np.asarray(holds, dtype=np.bool_))
    first = int(fails[-1]) + 1 if len(fails) else 0
    return int(sizes[first]) if first < len(sizes) else None
