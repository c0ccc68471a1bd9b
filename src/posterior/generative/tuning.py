"""Settings chosen by cross-validation, from the statistics of the folds.

One reading sums the folds, one more scores every row under every candidate by the model that has not seen
the row. Hastie, Tibshirani & Friedman (2009), The elements of statistical learning, section 7.10.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any

import numpy as np

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._tasks import each
from posterior._types import AnyArray, Floats, Ints
from posterior.dataset import Chunk, ReadOnce, Rows
from posterior.families import Family
from posterior.generative.expectation_maximization import filled_in
from posterior.generative.folds import Score, TrainingPart, held_out_score, training_parts
from posterior.generative.model import FittedBlock
from posterior.generative.notes import Note, unscored_note
from posterior.generative.plan import Block, Plan, planned
from posterior.generative.spec import GenerativeSpec
from posterior.stats import Moments, Statistics

RULES = ("best", "one_se")
WEIGHTS = "weights"
# The exponents that all columns may share, from 1 on: below 1 they temper what dependent columns say twice.
EXPONENTS = tuple(
    round(float(2**-i), 4) for i in (*np.arange(0, 1, 0.25), *np.arange(1, 6, 0.5), -0.25, -0.5, -1)
)


@dataclass(frozen=True)
class Axis:
    """A setting to be chosen, its values from the simplest on, and the blocks that share it."""

    name: str
    setting: str
    values: tuple[Any, ...]
    blocks: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tuning:
    """What a cross-validation found: the log loss of every candidate, with its standard error.

    `values` holds a row of settings for each candidate; `complexity` is the sum over the settings of how
    far, from 0 to 1, the value stands from the simplest. Rows that every candidate finds impossible are
    left out of the comparison; `notes` say of which classes.
    """

    settings: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    complexity: Annotated[Floats, "C finite"]
    log_loss: Annotated[Floats, "C any"]
    standard_error: Annotated[Floats, "C any"]
    chosen: int
    notes: tuple[Note, ...] = ()

    def table(self) -> dict[str, list[Any]]:
        """Columns of a table with a row for each candidate."""
        columns = {name: [row[i] for row in self.values] for i, name in enumerate(self.settings)}
        chosen = [c == self.chosen for c in range(len(self.values))]
        losses = {"log_loss": self.log_loss.tolist(), "standard_error": self.standard_error.tolist()}
        return {**columns, **losses, "chosen": chosen}

    @property
    def choice(self) -> dict[str, Any]:
        """The settings that were chosen."""
        return dict(zip(self.settings, self.values[self.chosen], strict=True))


@dataclass(frozen=True, eq=False)
class _Candidate:
    values: tuple[Any, ...]
    families: tuple[Family[Any], ...]
    complexity: float
    exponent: float = 1.0


@dataclass(frozen=True)
class Losses:
    """Losses by candidate; the weight of rows impossible to a candidate, and to all of them by class."""

    moments: Moments
    impossible: Floats
    left_out: Floats

    @classmethod
    def of(cls, losses: Floats, y: Ints, weight: Floats | None, n_classes: int) -> "Losses":
        """Those of some rows, (n, C)."""
        infinite = np.isinf(losses)
        nowhere = infinite.all(axis=1)
        one = np.ones(len(y)) if weight is None else weight
        moments = Moments.of(np.where(infinite, np.nan, losses), np.zeros_like(y), weight, 1)
        impossible = one[~nowhere] @ infinite[~nowhere]
        return cls(moments, impossible, np.bincount(y[nowhere], one[nowhere], n_classes).astype(np.float64))

    def __add__(self, other: "Losses") -> "Losses":
        return Losses(
            self.moments + other.moments,
            self.impossible + other.impossible,
            self.left_out + other.left_out,
        )

    def mean(self) -> Floats:
        """The mean loss of each candidate; infinite where a row is impossible to it but not to others."""
        return np.where(self.impossible > 0, np.inf, self.moments.location.value[0])

    def standard_error(self) -> Floats:
        """Standard deviation of the losses over the root of the weight."""
        return np.where(
            self.impossible > 0, np.nan, np.sqrt(self.moments.scatter[0]) / self.moments.weight[0]
        )


@dataclass(frozen=True, eq=False)
class _FoldScores:
    """The models of one fold's training part: for each block one distribution for each of its options."""

    log_prior: Floats
    blocks: tuple[tuple[FittedBlock, ...], ...]
    weights: Floats

    def losses(self, chunk: Chunk, picks: Sequence[tuple[tuple[int, ...], float]]) -> Floats:
        """−ln p(true class | row) under each candidate, (n, C).

        `picks` says which option of each block it takes, and the exponent of the columns.
        """
        parts = [
            [_log_relative(fitted, self.weights[list(fitted.columns)], chunk) for fitted in options]
            for options in self.blocks
        ]
        fixed = sum((p[0] for p in parts if len(p) == 1), np.zeros((chunk.n_rows, len(self.log_prior))))
        varied = [i for i, p in enumerate(parts) if len(p) > 1]
        out = np.empty((chunk.n_rows, len(picks)))
        exponents: dict[tuple[int, ...], list[int]] = {}
        for c, (pick, _) in enumerate(picks):
            exponents.setdefault(pick, []).append(c)
        for pick, where in exponents.items():
            scores = sum((parts[i][pick[i]] for i in varied), fixed)
            out[:, where] = self._losses(scores, chunk.y, np.array([picks[c][1] for c in where]))
        return out

    def _losses(self, scores: Floats, y: Ints, exponents: Floats) -> Floats:
        """−ln p(true class | row) of rows with these log densities (n, K) to the power of each exponent."""
        n, n_classes = scores.shape
        powers = exponents[:, None, None] * scores + self.log_prior
        logs = powers.reshape(-1, n_classes)
        kernels.posteriors(logs, self.log_prior, logs=True)
        return -logs.reshape(powers.shape)[:, np.arange(n), y].T


def _log_relative(fitted: FittedBlock, weight: Floats, chunk: Chunk) -> Any:
    """Weighted log densities up to a term of the row; −inf where they overflow, so far off is the row."""
    if fitted.distribution is None:
        return 0.0
    found = np.zeros((chunk.n_rows, fitted.distribution.n_classes))
    with np.errstate(over="ignore", invalid="ignore"):
        fitted.distribution.add_weighted(fitted.read(chunk), weight, found)
    return np.where(np.isnan(found), -np.inf, found)


def tune(
    spec: GenerativeSpec, rows: Rows, classes: AnyArray, n_folds: int, rule: str = "best"
) -> tuple[GenerativeSpec, Tuning]:
    """The composition with its open settings chosen by the log loss of rows held out, and what was found.

    Blocks with the same open setting and the same values share it; otherwise each setting has its own
    axis, and every combination is a candidate. `rule` takes the "best", or by "one_se" the simplest whose
    loss is within one standard error of it (Breiman, Friedman, Olshen & Stone, 1984, section 3.4.3).

    Where a block has gaps, they are filled in once for each fold, by EM under its least simple settings,
    and all candidates are estimated from the statistics to be expected under those.
    """
    refuse_rule(rule)
    axes = open_axes(spec)
    ready = spec.prepared(rows)
    tried = candidates(ready, axes)
    options = tuple(_distinct(families) for families in zip(*(c.families for c in tried), strict=True))
    picks = [(tuple(o.index(f) for o, f in zip(options, c.families, strict=True)), c.exponent) for c in tried]
    reference = settled(ready, axes, [axis.values[-1] for axis in axes])
    if spec.learn_weights:  # the exponent is applied to what is summed
        reference = replace(reference, weights=())

    def learn(part: TrainingPart) -> Score:
        with one_blas_thread:  # many small factorisations
            models = _fold_scores(reference, part, options)
        return lambda chunk: models.losses(ReadOnce(chunk), picks)

    dense = max(spec.dense, len(tried))
    parts = each("fold", training_parts(ready, rows, classes, n_folds), n_folds, leaves=False)
    score = held_out_score(rows, parts, learn, len(tried), dense)
    found = rows.reduce(
        lambda chunk: Losses.of(score(chunk), chunk.y, chunk.weight, len(classes)), dense=dense
    )
    tuning = chosen_by(axes, tried, found, classes, rule)
    return settled(spec, axes, tuning.values[tuning.chosen]), tuning


def refuse_rule(rule: str) -> None:
    """Raise the error of a rule that there is not."""
    if rule not in RULES:
        raise ValueError(f"selection must be 'best' or 'one_se', found {rule!r}")


def open_axes(spec: GenerativeSpec) -> tuple[Axis, ...]:
    """The settings to be chosen."""
    groups: dict[tuple[str, tuple[Any, ...]], list[int]] = {}
    for i, block in enumerate(spec.blocks):
        for setting, values in block.family.open_settings.items():
            groups.setdefault((setting, values), []).append(i)
    settings = [setting for setting, _ in groups]
    axes = []
    for (setting, values), blocks in groups.items():
        whose = type(spec.blocks[blocks[0]].family).__name__
        name = setting if settings.count(setting) == 1 else f"{setting} of {whose}"
        axes.append(Axis(name, setting, values, tuple(blocks)))
    if spec.learn_weights:
        axes.append(Axis(WEIGHTS, WEIGHTS, EXPONENTS, ()))
    return tuple(axes)


def settled(spec: GenerativeSpec, axes: Sequence[Axis], values: Sequence[Any]) -> GenerativeSpec:
    """The composition with a value for each open setting."""
    settings: list[dict[str, Any]] = [{} for _ in spec.blocks]
    for axis, value in zip(axes, values, strict=True):
        for i in axis.blocks:
            settings[i][axis.setting] = value
    blocks = tuple(
        replace(block, family=replace(block.family, **chosen)) if chosen else block  # type: ignore[type-var]  # families are dataclasses
        for block, chosen in zip(spec.blocks, settings, strict=True)
    )
    exponent = [value for axis, value in zip(axes, values, strict=True) if axis.setting == WEIGHTS]
    if not exponent:
        return replace(spec, blocks=blocks)
    return replace(spec, blocks=blocks, weights=tuple(exponent), learn_weights="", n_learnt_weights=1)


def candidates(spec: GenerativeSpec, axes: Sequence[Axis]) -> tuple[_Candidate, ...]:
    """Every combination of values, the simplest first; of those that are the same model only the plainest."""
    tuned = sorted({i for axis in axes for i in axis.blocks})
    same: dict[tuple[tuple[Family[Any], ...], float], list[_Candidate]] = {}
    for places in product(*(range(len(axis.values)) for axis in axes)):
        values = tuple(axis.values[p] for axis, p in zip(axes, places, strict=True))
        chosen = settled(spec, axes, values)
        families = tuple(block.family for block in chosen.blocks)
        exponent = chosen.weights[0] if spec.learn_weights else 1.0
        steps = (p / max(len(axis.values) - 1, 1) for axis, p in zip(axes, places, strict=True))
        plainest = tuple(families[i].plainest for i in tuned)
        same.setdefault((plainest, exponent), []).append(_Candidate(values, families, sum(steps), exponent))
    return tuple(_plainest(plain, group, tuned) for (plain, _), group in same.items())


def _plainest(
    plain: tuple[Family[Any], ...], group: Sequence[_Candidate], tuned: Sequence[int]
) -> _Candidate:
    """The candidate without idle settings, which is as simple as the simplest of its equals."""
    same = [c for c in group if tuple(c.families[i] for i in tuned) == plain]
    return replace((same or group)[0], complexity=min(c.complexity for c in group))


def _distinct(families: Sequence[Family[Any]]) -> list[Family[Any]]:
    found: list[Family[Any]] = []
    for family in families:
        if family not in found:
            found.append(family)
    return found


def _fold_scores(
    reference: GenerativeSpec, part: TrainingPart, options: Sequence[Sequence[Family[Any]]]
) -> _FoldScores:
    """Every option of every block, estimated from a training part."""
    statistics = part.statistics
    blocks = []
    for i, (block, sums, families) in enumerate(
        zip(reference.blocks, statistics.blocks, options, strict=True)
    ):
        pairs = _filled(reference, i, part, families) if sums.has_gaps else _complete(block, sums, families)
        blocks.append(tuple(_fitted(block, plan, known) for plan, known in pairs))
    log_prior = reference.priors.log_prior(statistics.weight, statistics.classes)
    weights = reference.column_weights(n := len(statistics.schema))
    return _FoldScores(part.seen_only(log_prior), tuple(blocks), np.ones(n) if weights is None else weights)


def _filled(
    reference: GenerativeSpec, i: int, part: TrainingPart, families: Sequence[Family[Any]]
) -> list[tuple[Plan, Any]]:
    """What is kept of a block with gaps and the statistics to be expected of it, for each family.

    The gaps are filled in once for all families that mind the same problems.
    """
    statistics = replace(
        part.statistics, columns=(part.statistics.columns[i],), blocks=(part.statistics.blocks[i],)
    )
    unharmed = [family.unharmed_by for family in families]
    known: dict[Any, tuple[Plan, Any]] = {}
    # The least simple one first: it fills in the gaps.
    for family, problems in reversed(list(zip(families, unharmed, strict=True))):
        if problems not in known:
            spec = replace(reference, blocks=(replace(reference.blocks[i], family=family),))
            plans = spec.plans(statistics, part.rows)
            found = filled_in(spec.blocks, plans, statistics, part.rows).blocks
            known[problems] = plans[0], found[0].statistics if found else None
    pairs = [(family, *known[problems]) for family, problems in zip(families, unharmed, strict=True)]
    return [(plan.described_by(family), found) for family, plan, found in pairs]


def _complete(
    block: Block, sums: Statistics, families: Sequence[Family[Any]]
) -> list[tuple[Plan, Statistics]]:
    """What is kept of a block without gaps and its statistics, for each family.

    They are looked up once for all families that mind the same problems.
    """
    unharmed = [family.unharmed_by for family in families]
    known: dict[Any, tuple[Plan, Statistics]] = {}
    for family, problems in zip(families, unharmed, strict=True):
        if problems not in known:
            plan = planned(replace(block, family=family), sums)
            known[problems] = plan, plan.part(sums)
    pairs = [(family, *known[problems]) for family, problems in zip(families, unharmed, strict=True)]
    return [(plan.described_by(family), found) for family, plan, found in pairs]


def _fitted(block: Block, plan: Plan, statistics: Any) -> FittedBlock:
    if not plan.keep:
        return FittedBlock((), None)
    columns = block.columns if plan.whole else tuple(block.columns[j] for j in plan.keep)
    with np.errstate(over="ignore", invalid="ignore"):
        return FittedBlock(columns, plan.family.estimate(statistics), reads=block.family.reads)


def chosen_by(
    axes: Sequence[Axis], tried: Sequence[_Candidate], found: Losses, classes: AnyArray, rule: str
) -> Tuning:
    """The candidates with their losses, and which of them the rule takes."""
    if not found.moments.weight.any():
        raise ValueError(
            "no class has rows in two folds, so that no row can be scored by a model that has seen its "
            "class: nothing can be chosen; set the values instead of 'auto'"
        )
    log_loss, error = found.mean(), found.standard_error()
    complexity = np.array([c.complexity for c in tried])
    chosen = int(np.lexsort((complexity, log_loss))[0])
    if rule == "one_se":
        within = np.flatnonzero(log_loss <= log_loss[chosen] + error[chosen])
        chosen = int(within[np.lexsort((log_loss[within], complexity[within]))[0]])
    notes = tuple(
        unscored_note(str(label), weight)
        for label, weight in zip(classes.tolist(), found.left_out.tolist(), strict=True)
        if weight
    )
    names = tuple(axis.name for axis in axes)
    return Tuning(names, tuple(c.values for c in tried), complexity, log_loss, error, chosen, notes)
