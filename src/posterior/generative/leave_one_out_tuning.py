"""Settings chosen by leaving out each row in turn: one fit for each candidate, a formula for every row."""

import numpy as np

from posterior._tasks import each
from posterior._types import AnyArray
from posterior.dataset import Chunk, Dataset
from posterior.families import NoClosedFormError
from posterior.generative.leave_one_out import INSTEAD, left_out_log_posterior
from posterior.generative.spec import GenerativeSpec
from posterior.generative.tuning import Losses, Tuning, candidates, chosen_by, open_axes, refuse_rule, settled

# What leaving out rows by fitting again may cost, where a formula is too delicate for them, about in
# nanoseconds: all candidates together; a fit, however few its rows are; and a class of it.
WORK, ONE_FIT, ONE_CLASS = 10**9, 2_500_000, 300_000
BY_FOLDS = "choose the settings by folds, cv=10"


def tune_left_out(
    spec: GenerativeSpec, data: Dataset, classes: AnyArray, rule: str = "best"
) -> tuple[GenerativeSpec, Tuning]:
    """The composition with its open settings chosen by the exact leave-one-out log loss, and what was found.

    Each row of the data set is a fold of its own: `fold` is its number. Candidates and rules are those of
    `tune`. Refused where leaving out a row has no closed form, or would take more than a few fits.
    """
    refuse_rule(rule)
    axes = open_axes(spec)
    ready = spec.prepared(data)
    tried = candidates(ready, axes)
    statistics = ready.summarize(data, classes)
    if statistics.has_gaps:
        raise NoClosedFormError(
            "gaps in a joint Gaussian block are filled in by EM, in which every row has a say: leaving one "
            f"out has no closed form; {BY_FOLDS}"
        )
    losses = np.empty((data.n_rows, len(tried)))
    few = WORK // (len(tried) * _refit_cost(data.n_rows, spec.dense, len(classes)))
    rows, y = np.arange(data.n_rows), data.map(lambda chunk: np.asarray(chunk.y), dense=0)
    for c, candidate in enumerate(each("candidate", tried, len(tried))):
        model = settled(ready, axes, candidate.values).estimate(statistics)
        try:
            losses[:, c] = -left_out_log_posterior(model, data, most_refits=few)[rows, y]
        except NoClosedFormError as error:
            raise NoClosedFormError(str(error).replace(INSTEAD, BY_FOLDS)) from error

    def summed(chunk: Chunk) -> Losses:
        return Losses.of(losses[chunk.fold], chunk.y, chunk.weight, len(classes))

    tuning = chosen_by(axes, tried, data.reduce(summed, dense=0), classes, rule)
    return settled(spec, axes, tuning.values[tuning.chosen]), tuning


def _refit_cost(n: int, d: int, n_classes: int) -> int:
    """What a fit costs: sums of n rows and a factorisation for each class, beside what any fit does."""
    return ONE_FIT + ONE_CLASS * n_classes + (n + n_classes * d) * max(d, 1) ** 2
