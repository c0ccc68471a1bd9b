"""Columns that tell the class almost alone: what each achieves by itself on held-out rows.

Such a column may be known only after the class is (a status, a date of payment, the number of a row in a
sorted file): then no figure of any model holds for new rows. Or it is simply good. Nobody can tell from the
table, so the column is named, with what it alone achieves, and models are compared with and without it.

The rule. The skill of a column is the share of the class frequencies' log loss that it alone removes on rows
held out, by the frequencies of classes in its categories or, for numbers, in the leaves of a small tree. It
is named if its skill is at least ALONE; or at least HALF, where the recommended model without any such column
has no more than half of its skill.
"""

import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from posterior._types import AnyArray, Floats, Ints
from posterior.comparison.folds import deal
from posterior.comparison.inputs import read_from
from posterior.comparison.measures import area_under_roc, log_odds
from posterior.comparison.printing import loss_text
from posterior.comparison.sampling import sample_rows
from posterior.decision import log_loss_terms
from posterior.estimators.members import take
from posterior.schema import Folds, LabelledTable, read_table

ALONE, HALF = 0.9, 0.5
# Rows that are looked at, and the most folds.
MOST_ROWS, MOST_FOLDS, FEW_FOLDS = 5_000, 10, 5
# Leaves of the tree that cuts a column of numbers, and the least share of the rows in one.
LEAVES, LEAST_SHARE = 16, 0.005
# Equal parts that a column of numbers is cut into for a first look, and the skill in sample that it needs.
PARTS, WORTH_A_LOOK = 32, 0.4
# Comparisons of numbers with cuts that are made at once.
CELLS = 1 << 22


@dataclass(frozen=True)
class Leak:
    """A column that tells the class almost alone, and how well: on held-out rows, with no other column.

    `read_from` is the column of the user's table that it is a part of, where it is not one itself.
    """

    column: str
    accuracy: float
    log_loss: float
    skill: float
    roc_auc: float | None = None
    read_from: str = ""

    @property
    def to_drop(self) -> str:
        """The column of the user's table to leave out: of a date, the date itself."""
        return self.read_from or self.column

    def __str__(self) -> str:
        area = "" if self.roc_auc is None else f", AUC {self.roc_auc:.3f}"
        loss = loss_text(self.log_loss)
        return f"{self.column!r} (by itself: accuracy {self.accuracy:.3f}, log loss {loss}{area})"


def strong_columns(rows: LabelledTable, folds: Folds) -> tuple[Leak, ...]:
    """The columns whose skill is HALF or more, the best first; none of a sparse table, and no text.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["no", "yes"], 100)
    >>> table = LabelledTable.of(np.column_stack([np.arange(200), rng.normal(size=200)]), y)
    >>> strong_columns(table, deal(table.codes, folds=5)[0])
    (Leak(column='x0', accuracy=1.0, log_loss=0.006..., skill=0.99..., roc_auc=1.0, ...),)
    """
    usable = [j for j in rows.where("continuous", "binary", "categorical", "count") if not _ignored(rows, j)]
    if rows.is_sparse or len(usable) < 2:
        return ()
    if len(rows) > MOST_ROWS:
        chosen = sample_rows(rows.codes, MOST_ROWS, rows.groups)
        rows, folds = rows.part(chosen), folds.take(chosen)
    if folds.n_models > MOST_FOLDS:
        folds = deal(rows.codes, folds=FEW_FOLDS, repeats=1, groups=rows.groups)[0]
    trial = _Trial(rows.codes, len(rows.classes), folds)
    looked = list(_worth_a_look(rows, usable, trial))
    found = [trial.leak(rows.schema.names[j], _cells(rows, j)) for j in looked]
    named = [
        leak
        if (origin := read_from(rows.schema, leak.column)) == leak.column
        else replace(leak, read_from=origin)
        for leak in found
        if leak is not None
    ]
    return tuple(sorted(named, key=lambda leak: -leak.skill))


def certain_leaks(rows: LabelledTable) -> tuple[Leak, ...]:
    """The columns whose skill is ALONE or more, for whoever fits one model and compares none."""
    folds = deal(rows.codes, folds=min(FEW_FOLDS, len(rows)), repeats=1, groups=rows.groups)[0]
    return tuple(leak for leak in strong_columns(rows, folds) if leak.skill >= ALONE)


def named_leaks(strong: Sequence[Leak], skill_without: Callable[[], float]) -> tuple[Leak, ...]:
    """Those of the strong columns that the rule names; `skill_without` is a model's without any of them.

    >>> better, weaker = Leak("a", 0.99, 0.03, 0.95), Leak("b", 0.9, 0.2, 0.7)
    >>> [leak.column for leak in named_leaks([better, weaker], lambda: 0.5)]
    ['a']
    >>> [leak.column for leak in named_leaks([better, weaker], lambda: 0.1)]
    ['a', 'b']
    """
    if not strong:
        return ()
    rest = skill_without() if any(leak.skill < ALONE for leak in strong) else None
    return tuple(
        leak for leak in strong if leak.skill >= ALONE or (rest is not None and rest <= HALF * leak.skill)
    )


def drop_options(leaks: Sequence[Leak]) -> str:
    """The options that leave these columns out, each once, as a shell takes them.

    >>> month = Leak("paid on[month]", 1.0, 0.0, 1.0, read_from="paid on")
    >>> drop_options([month, Leak("paid", 1.0, 0.0, 1.0)])
    "--drop 'paid on' --drop paid"
    """
    return " ".join(f"--drop {shlex.quote(name)}" for name in dict.fromkeys(leak.to_drop for leak in leaks))


def caution_of(leaks: Sequence[Leak]) -> str:
    """What is said of columns that tell the class almost alone; nothing where there are none.

    >>> caution_of([Leak("paid", 0.98, 0.05, 0.93)])
    "Careful: 'paid' (by itself: accuracy 0.980, log loss 0.050) tells the class almost alone. If it is known
    only after the class is, no figure here holds for new rows: leave it out (--drop paid)."
    """
    if not leaks:
        return ""
    *others, last = map(str, leaks)
    named = f"{', '.join(others)} and {last}" if others else last
    tells, known, it = ("each tell", "they are", "them") if others else ("tells", "it is", "it")
    drop = drop_options(leaks)
    return (
        f"Careful: {named} {tells} the class almost alone. If {known} known only after the class is, no "
        f"figure here holds for new rows: leave {it} out ({drop})."
    )


def skill_of(log_loss: float | None, codes: Ints) -> float:
    """The share of the class frequencies' log loss that a model removes; 0 for one without probabilities."""
    share = np.bincount(codes) / len(codes)
    entropy = -float(np.log(share[codes]).mean())
    return 0.0 if log_loss is None or not entropy else 1 - log_loss / entropy


def without_columns(table: LabelledTable, names: Sequence[str]) -> LabelledTable | None:
    """The same rows without some columns, all parts of a date together; None where no other is left."""
    source, schema = table.source, table.schema
    called = schema.names if source.names is None else source.names
    gone = {read_from(schema, name) for name in names}
    kept = [j for j, name in enumerate(called) if read_from(schema, name) not in gone]
    if not kept:
        return None
    declared = {column.name: column.kind for column in schema.columns if column.declared}
    kinds: dict[Any, Any] = {
        called[j] if schema.named else i: declared[called[j]]
        for i, j in enumerate(kept)
        if called[j] in declared
    }
    return replace(table, X=read_table(take(source, kept)), kinds=kinds or None)


@dataclass(frozen=True, eq=False)
class _Trial:
    """Classes of rows, and the folds by which one column after the other is tried."""

    codes: Ints
    n_classes: int
    folds: Folds

    def leak(self, name: str, cells: "tuple[AnyArray, bool]") -> Leak | None:
        """What a column achieves by itself; None where its skill is below HALF."""
        values, is_number = cells
        logs, plain = np.full((2, len(values), self.n_classes), np.nan)
        for learnt, held_out in self.folds.parts():
            levels = _leaves(values, self.codes, learnt) if is_number else values
            logs[held_out] = self._told(levels, learnt, held_out)
            plain[held_out] = self._told(np.zeros(len(values), np.int64), learnt, held_out)
        known = self.folds.predicted & ~self.folds.unknowable(self.codes)
        if not known.any():
            return None
        logs, plain, codes = logs[known], plain[known], self.codes[known]
        loss, least = (float(log_loss_terms(codes, each).mean()) for each in (logs, plain))
        skill = 1 - loss / least if least > 0 else 0.0
        if skill < HALF:
            return None
        area = None
        if self.n_classes == 2:
            area = area_under_roc(log_odds(logs, 1), codes == 1, self.folds.numbers[known])
        return Leak(name, float((logs.argmax(axis=1) == codes).mean()), loss, skill, area)

    def _told(self, levels: Ints, learnt: Ints, held_out: Ints) -> Floats:
        """Log frequencies of the classes in the level of each row, one row of the class frequencies added."""
        place = np.unique(levels, return_inverse=True)[1].reshape(-1)
        counts = self._counts(place[learnt], self.codes[learnt], int(place.max()) + 1)
        share = counts.sum(axis=0) / len(learnt)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log((counts + share) / (counts.sum(axis=1, keepdims=True) + 1))
        return logs[place[held_out]]

    def _counts(self, place: Ints, codes: Ints, n_levels: int) -> Floats:
        found = np.bincount(place * self.n_classes + codes, minlength=n_levels * self.n_classes)
        return found.reshape(n_levels, self.n_classes).astype(np.float64)

    def skill_in_sample(self, levels: Ints) -> float:
        """The share of the entropy of the class that levels remove on the rows, less that by chance.

        By chance each level beyond the first removes (K − 1)/2 nats of all rows together (Miller 1955).
        """
        place = np.unique(levels, return_inverse=True)[1].reshape(-1)
        counts = self._counts(place, self.codes, int(place.max()) + 1)
        own = counts[place, self.codes] / counts.sum(axis=1)[place]
        share = counts.sum(axis=0) / len(place)
        entropy = -float(np.log(share[self.codes]).mean())
        if not entropy > 0:
            return 0.0
        by_chance = (len(counts) - 1) * (self.n_classes - 1) / (2 * len(place) * entropy)
        return 1 + float(np.log(own).mean()) / entropy - by_chance


def _worth_a_look(rows: LabelledTable, columns: Sequence[int], trial: _Trial) -> Iterator[int]:
    """The columns that tell enough of the class on the rows themselves, numbers cut into equal parts."""
    numbers = [j for j in columns if not rows.schema.columns[j].size]
    for j in sorted(set(columns) - set(numbers)):
        if trial.skill_in_sample(rows.levels(j)) >= WORTH_A_LOOK:
            yield j
    at_once = max(1, CELLS // (PARTS * len(rows)))
    for start in range(0, len(numbers), at_once):
        some = tuple(numbers[start : start + at_once])
        for j, parts in zip(some, _parts(rows.values(some)).T, strict=True):
            if trial.skill_in_sample(parts) >= WORTH_A_LOOK:
                yield j


def _cells(rows: LabelledTable, j: int) -> "tuple[AnyArray, bool]":
    """The codes of a column of categories, or its numbers, and whether they are numbers."""
    if rows.schema.columns[j].size:
        return rows.levels(j), False
    return rows.values((j,))[:, 0], True


def _ignored(rows: LabelledTable, j: int) -> bool:
    return rows.schema.columns[j].ignored


def _parts(values: Floats) -> Ints:
    """Columns (n, m) of numbers, each cut into parts of about as many rows; gaps are one of their own."""
    shares = np.arange(1, PARTS) / PARTS
    gaps = np.isnan(values)
    if not gaps.any():
        cuts = np.quantile(values, shares, axis=0)
        return np.asarray((values > cuts[:, None]).sum(axis=0))
    out = np.full(values.shape, -1)
    for j in range(values.shape[1]):
        there = ~gaps[:, j]
        if there.any():
            cuts = np.quantile(values[there, j], shares)
            out[there, j] = np.searchsorted(cuts, values[there, j], side="left")
    return out


def _leaves(values: Floats, codes: Ints, learnt: Ints) -> Ints:
    """The leaf of each number in a small tree that is grown on the rows learnt from; −1 for a gap."""
    there = np.isfinite(values)
    grown = learnt[there[learnt]]
    out = np.full(len(values), -1, np.int64)
    if not len(grown):
        return out
    least = max(1, int(LEAST_SHARE * len(grown)))
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, min_samples_leaf=least, random_state=0)
    # A tree compares numbers in single precision, in which large ones run together; their ranks do not.
    ranks = np.searchsorted(np.unique(values[there]), values[there])[:, None]
    place = np.empty(len(values), np.int64)
    place[there] = np.arange(there.sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree.fit(ranks[place[grown]], codes[grown])
    out[there] = tree.apply(ranks)
    return out
