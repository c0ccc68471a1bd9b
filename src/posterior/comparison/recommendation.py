"""Which model to use, and why: the best, those that cannot be told from it, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.comparison.measures import NOISE, Mean, clustered, exceeds_noise
from posterior.comparison.printing import loss_text
from posterior.comparison.result import Result

# So many ties are named.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Ranking:
    """Results, the best first, by their average cost where costs are given and else by their log loss.

    `codes` are the classes of the rows, `knowable` the rows that count in the log loss, and `groups` say
    which rows belong together, if any do.
    """

    results: tuple[Result, ...]
    codes: Ints
    knowable: Bools
    by_cost: bool
    groups: Ints | None = None

    @classmethod
    def of(
        cls,
        results: Sequence[Result],
        codes: Ints,
        knowable: Bools,
        *,
        by_cost: bool,
        groups: Ints | None = None,
    ) -> "Ranking":
        """Order results; those without the measure come last, by their accuracy.

        A pool is first only where it is ahead of the best single model beyond noise; else it comes after it.
        """

        def key(result: Result) -> tuple[float, ...]:
            loss = np.inf if result.log_loss is None else result.log_loss
            value = result.average_cost if by_cost else result.log_loss
            return (value is None, np.inf if value is None else value, loss, -result.accuracy)

        found = cls(tuple(sorted(results, key=key)), codes, knowable, by_cost, groups)
        single = next((result for result in found.results if result.approach != "pool"), None)
        if found.best.approach != "pool" or single is None:
            return found
        behind = found._differences(single)
        if behind is not None and exceeds_noise(behind):
            mean = Mean.of(behind)
            # A few rows that one model finds very hard make no clear gain, however lopsided they are.
            if not mean.value <= NOISE * mean.error:
                return found
        rest = tuple(result for result in found.results if result is not single)
        return replace(found, results=(single, *rest))

    @property
    def best(self) -> Result:
        """The first."""
        return self.results[0]

    @property
    def measure(self) -> str:
        """What the order goes by."""
        return "average cost" if self.by_cost else "log loss"

    def mean(self, result: Result) -> Mean | None:
        """What the order goes by, of one result."""
        if self.by_cost:
            value, error = result.average_cost, result.average_cost_se
        else:
            value, error = result.log_loss, result.log_loss_se
        return None if value is None or error is None else Mean(value, error)

    def _differences(self, result: Result) -> Floats | None:
        """How much more than the best each row has, or each group where rows belong together."""
        if self.by_cost:
            mine, best = result.row_costs, self.best.row_costs
        else:
            mine, best = result.losses, self.best.losses
        if mine is None or best is None:
            return None
        with np.errstate(invalid="ignore"):
            difference = mine - best
        if self.by_cost:
            return clustered(difference, self.groups)
        return clustered(
            difference[self.knowable], None if self.groups is None else self.groups[self.knowable]
        )

    def behind(self, result: Result) -> Mean | None:
        """How much more than the best on the same rows, with the standard error of that difference."""
        differences = self._differences(result)
        return None if differences is None else Mean.of(differences)

    def ties(self) -> tuple[Result, ...]:
        """The others whose difference from the best is within noise, two standard errors of it."""
        found = [(result, self._differences(result)) for result in self.results[1:]]
        return tuple(
            r for r, differences in found if differences is not None and not exceeds_noise(differences)
        )

    def sentence(self) -> str:
        """What to use, and why, in one sentence."""
        best, ties = self.best, tuple(r for r in self.ties() if r.approach != "pool")
        mean = self.mean(best)
        if mean is None:
            accuracy = f"accuracy {best.accuracy:.3f} ± {best.accuracy_se:.3f}"
            return f"Use {best.name} ({best.about}): {accuracy}; it has no probabilities."
        if self.nothing_found:
            return self._nothing_told(ties)
        told = f"Use {best.name} ({best.about}): {self.measure} {_with_error(mean)}{self._ahead(ties)}"
        return f"{told}; {self._tied(ties)}." if ties else f"{told}."

    def pooled(self) -> str:
        """What a pool that is not recommended gains over the best model; empty where there is none."""
        pool = next((result for result in self.results if result.approach == "pool"), None)
        single = next((result for result in self.results if result.approach != "pool"), None)
        if pool is None or self.best is not single or self.nothing_found:
            return ""
        differences = self._differences(pool)
        if differences is None:
            return ""
        found = Mean.of(differences)
        if not found.value < 0:
            return f"A {pool.title} of models ({pool.about}) gains nothing over {single.title}."
        gain = _with_error(Mean(-found.value, found.error))
        return f"A {pool.title} of models ({pool.about}) gains {gain} over {single.title}, within noise."

    def against(self, reference: Result) -> str:
        """How the best does beside an outside reference, in a sentence; empty where that has no measure."""
        differences = self._differences(reference)
        if differences is None:
            return ""
        behind, name = Mean.of(differences), f"the outside reference, {reference.title}"
        if behind.value == np.inf:
            return f"To {name}, something that happened was impossible."
        if self.baseline is not None and not self._better_than_frequencies(reference, self.baseline):
            return f"{name[:1].upper()}{name[1:]}, does no better than the class frequencies."
        if exceeds_noise(-differences):
            ahead = _with_error(Mean(-behind.value, behind.error))
            return (
                f"But {name}, is ahead by {ahead}: it finds curves or columns that act together, which none "
                "of these models has; it is not kept, and shows what better columns could gain."
            )
        if exceeds_noise(differences):
            return f"That is {_short(behind.value)} below {name}."
        return f"It does as well as {name}."

    def _better_than_frequencies(self, reference: Result, baseline: Result) -> bool:
        """Whether a reference does better than the class frequencies, by what the order goes by."""
        theirs, plain = self.mean(reference), self.mean(baseline)
        return theirs is None or plain is None or theirs.value < plain.value

    @cached_property
    def baseline(self) -> Result | None:
        """The class frequencies, where they were tried."""
        return next((r for r in self.results if r.approach == "baseline"), None)

    @cached_property
    def nothing_found(self) -> bool:
        """Whether the best model is not shown to be better than always answering the class frequencies.

        Neither in what the order goes by, nor in how often it is right, nor in its log loss: few rows of a
        rare class show that it can be told long before they show what that saves. Where the class frequencies
        were not tried, and the order goes by the log loss, they are those of all rows.
        """
        best, baseline = self.best, self.baseline
        if self.mean(best) is None:
            return False
        if baseline is not None:
            as_good = baseline in (best, *self.ties()) and not self._knows_more(best, baseline)
        elif self.by_cost or best.losses is None:
            return False
        else:
            as_good = not exceeds_noise(self._below_frequencies(best.losses))
        return as_good and not self._more_often_right(best)

    def _knows_more(self, best: Result, baseline: Result) -> bool:
        """Whether models go by their cost, and the log loss of one is below another's beyond noise."""
        if not self.by_cost or best.losses is None or baseline.losses is None:
            return False
        less = baseline.losses[self.knowable] - best.losses[self.knowable]
        groups = None if self.groups is None else self.groups[self.knowable]
        return exceeds_noise(clustered(less, groups))

    def _below_frequencies(self, losses: Floats) -> Floats:
        """How much less than the class frequencies of all rows each row costs, or each group."""
        plain = -np.log(np.bincount(self.codes) / len(self.codes))[self.codes]
        groups = None if self.groups is None else self.groups[self.knowable]
        return clustered((plain - losses)[self.knowable], groups)

    def _more_often_right(self, result: Result) -> bool:
        """Whether one names the right class more often than the most common class is, beyond noise.

        That of all rows, too: of balanced classes the most common one elsewhere is the rarer one in a fold,
        so that the class frequencies are right less often than a coin.
        """
        mine = (result.predicted == self.codes).astype(np.float64)
        rivals = [self.codes == np.bincount(self.codes).argmax()]
        if self.baseline is not None:
            rivals.append(self.baseline.predicted == self.codes)
        return all(exceeds_noise(clustered(mine - theirs, self.groups)) for theirs in rivals)

    def _nothing_told(self, ties: Sequence[Result]) -> str:
        """What is said where guessing by the class frequencies does as well."""
        baseline = self.baseline
        if baseline is None:
            share = np.bincount(self.codes) / len(self.codes)
            own, best = -float(np.log(share[self.codes]).mean()), self.mean(self.best)
            shown = "" if best is None else f", that of {self.best.title} {_with_error(best)}"
            return (
                f"Nothing here beats the class frequencies: their log loss is {_short(own)}{shown}; more "
                f"rows, "
                "other columns or other models are needed."
            )
        mean = self.mean(baseline)
        shown = "" if mean is None else f" ({self.measure} {_with_error(mean)})"
        if len(self.results) == 1:
            return (
                f"Nothing but the class frequencies{shown} was tried: try other models to see whether the "
                "columns say anything of the class."
            )
        told = f"Nothing here beats the class frequencies{shown}, {self._beside(baseline, ties)}"
        surest = max(self.results, key=lambda r: r.accuracy)
        if self._more_often_right(surest):
            plain = max(baseline.accuracy, float(np.bincount(self.codes).max() / len(self.codes)))
            return (
                f"{told}; but {surest.title} is right more often (accuracy {surest.accuracy:.3f} against "
                f"{plain:.3f} by naming the most common class): the columns do say something of the class, "
                "and more rows, fewer columns or calibration may bring it out."
            )
        return (
            f"{told}: by {self.measure} these rows do not show that the columns say anything of the class, "
            "and no model is right more often beyond noise; more rows or other columns are needed."
        )

    def _beside(self, baseline: Result, ties: Sequence[Result]) -> str:
        """How the others compare with the class frequencies, where these do best or tie with the best."""
        close = [r.title for r in (self.best, *ties) if r is not baseline]
        if close:
            return f"{_listed(close[:NAMED])} within noise of it"
        measured = any(self.mean(r) is not None for r in self.results if r is not baseline)
        return "every other model does worse" if measured else "no other model has probabilities"

    def _ahead(self, ties: Sequence[Result]) -> str:
        """How far behind the first is that is no tie; behind a pool, the best single model."""
        if self.best.approach == "pool" and len(self.results) > 1:
            behind, single = self.behind(self.results[1]), self.results[1].title
            return "" if behind is None else f", {_with_error(behind)} below the best single model, {single}"
        for result in self.results[1:]:
            behind = self.behind(result)
            if result not in ties and result.approach != "pool" and behind is not None:
                return f", {_short(behind.value)} below {result.title}"
        return ""

    def _tied(self, ties: Sequence[Result]) -> str:
        """Who ties with the best, and whether one of them is simpler."""
        differences = [(result.title, self.behind(result)) for result in ties[:NAMED]]
        shown = [f"{title} (difference {_with_error(d)})" for title, d in differences if d is not None]
        shown += [f"{len(ties) - NAMED} more"] if len(ties) > NAMED else []
        told = f"{_listed(shown)} {'ties' if len(shown) == 1 else 'tie'} with it"
        most = self.best.n_parameters
        simpler = [
            r for r in ties if most is not None and r.n_parameters is not None and r.n_parameters < most
        ]
        if not simpler:
            return told
        least = min(simpler, key=lambda r: r.n_parameters or 0)
        who = "" if len(ties) == 1 else f"{least.title} "
        return f"{told}, {who}with fewer parameters ({least.n_parameters:,} instead of {most:,})"


def _with_error(mean: Mean) -> str:
    return f"{_short(mean.value)} ± {_short(mean.error)}"


def _short(value: float) -> str:
    """Three digits behind the point, or two digits of a small number, of which three would show little."""
    if not 1e-7 <= abs(value) < 0.01:
        return loss_text(value)
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
