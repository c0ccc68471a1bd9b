"""What each class holds in one column, in the rows and by the model: the contents of a small panel."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.families import Distribution
from posterior.plot.rows import distributions_of
from posterior.plot.word_ranking import WordPanel, text_panel
from posterior.schema import Column, LabelledTable

BINS = 24
CURVE_POINTS = 241
# Levels that a panel has room for, the rest being "other".
LEVELS = 6
OTHER = "other"


@dataclass(frozen=True, eq=False)
class NumberPanel:
    """Numbers: `rows` (K, bins) are densities between `edges`, `model` (K, m) those at `x`."""

    name: str
    edges: Floats
    rows: Floats
    x: Floats
    model: Floats | None
    gaps: Floats
    whole: bool = False


@dataclass(frozen=True, eq=False)
class LevelPanel:
    """Categories: shares (K, V) of the levels among cells that are there, in the rows and by the model."""

    name: str
    levels: tuple[str, ...]
    rows: Floats
    model: Floats | None
    gaps: Floats


Panel: TypeAlias = NumberPanel | LevelPanel | WordPanel


def panel_of(estimator: Any, rows: LabelledTable, codes: Ints, n_classes: int, j: int) -> Panel:
    """The panel of a column of any kind; without a generative model of it, of the rows alone."""
    column, model = rows.schema.columns[j], _marginal(estimator, j)
    if column.kind == "text":
        return text_panel(column.name, rows.texts(j), codes, model)
    if column.size or (model is not None and model.cut is not None):
        return _levels(column, rows, codes, n_classes, j, model)
    return _numbers(column, rows.values((j,))[:, 0], codes, n_classes, model)


def _marginal(estimator: Any, j: int) -> Distribution | None:
    """The distribution of one column given the class, where the model has one."""
    for block, distribution in distributions_of(estimator) or ():
        if j in block.columns and distribution.log_shares is None:
            return distribution.marginal([block.columns.index(j)])
    return None


# -- numbers --------------------------------------------------------------------------------------


def _numbers(
    column: Column, values: Floats, codes: Ints, n_classes: int, model: Distribution | None
) -> NumberPanel:
    there = ~np.isnan(values)
    known = values[there] if there.any() else np.zeros(1)
    whole = column.kind == "count" or _few_whole(known)
    edges = _edges(known, whole=whole)
    rows = np.stack([_share(np.histogram(values[there & (codes == k)], edges)[0]) for k in range(n_classes)])
    if column.kind == "count":
        x = np.arange(np.ceil(edges[0]), edges[-1], max(1.0, np.ceil((edges[-1] - edges[0]) / CURVE_POINTS)))
    else:
        x = np.linspace(edges[0], edges[-1], CURVE_POINTS)
    density = None if model is None else np.exp(model.log_density(x[:, None])).T
    gaps = _gaps(there, codes, n_classes)
    return NumberPanel(column.name, edges, rows / np.diff(edges), x, density, gaps, whole)


def _few_whole(values: Floats) -> bool:
    """Whether numbers are whole and lie so close that each can have a bin, such as years."""
    return bool(np.ptp(values) < BINS and (values == np.round(values)).all())


def _edges(values: Floats, *, whole: bool) -> Floats:
    """Edges of bins that hold all values; those of counts hold the same number of counts each."""
    low, high = float(values.min()), float(values.max())
    if whole:
        width = int(np.ceil((high - low + 1) / BINS))
        return np.arange(low - 0.5, high + width, width)
    room = 0.0 if high > low else max(0.1 * abs(high), 1.0)
    bins = int(np.clip(np.sqrt(len(values)), 8, BINS))
    return np.linspace(low - room, high + room, bins + 1)


def _share(counts: AnyArray) -> Floats:
    return np.asarray(counts / max(counts.sum(), 1))


def _gaps(there: AnyArray, codes: Ints, n_classes: int) -> Floats:
    """Share of the rows of each class that have no value."""
    total = np.bincount(codes, minlength=n_classes)
    return np.bincount(codes, weights=~there, minlength=n_classes) / np.maximum(total, 1)


# -- categories -----------------------------------------------------------------------------------


def _levels(
    column: Column, rows: LabelledTable, codes: Ints, n_classes: int, j: int, model: Distribution | None
) -> LevelPanel:
    names, cells = _cells(column, rows, j, model)
    there = cells >= 0
    own = [np.bincount(cells[there & (codes == k)], minlength=len(names)) for k in range(n_classes)]
    keep, rest = _shown(np.sum(own, axis=0), fixed=column.ordered)
    by_model = _probabilities(model, len(names))
    return LevelPanel(
        column.name,
        tuple(names[v] for v in keep) + ((OTHER,) if rest else ()),
        _folded(np.stack([_share(counts) for counts in own]), keep, rest),
        None if by_model is None else _folded(by_model, keep, rest),
        _gaps(there, codes, n_classes),
    )


def _cells(
    column: Column, rows: LabelledTable, j: int, model: Distribution | None
) -> tuple[list[str], AnyArray]:
    """Names of the levels and the code of each row; numbers that a model cuts in two have two levels."""
    if column.size:
        return [str(level) for level in column.levels or ()], rows.levels(j)
    cut = 0.5 if model is None or model.cut is None else model.cut
    values = rows.values((j,))[:, 0]
    return [f"≤ {cut:g}", f"> {cut:g}"], np.where(np.isnan(values), -1, values > cut)


def _shown(totals: Ints, *, fixed: bool) -> tuple[list[int], list[int]]:
    """Levels to show, the commonest first unless they have an order, and those that are "other"."""
    by_size = np.argsort(-totals, kind="stable").tolist()
    if len(by_size) <= LEVELS + 1:
        return (sorted(by_size) if fixed or len(by_size) == 2 else by_size), []
    keep = by_size[:LEVELS]
    return (sorted(keep) if fixed else keep), by_size[LEVELS:]


def _folded(shares: Floats, keep: list[int], rest: list[int]) -> Floats:
    shown = shares[:, keep]
    return np.hstack([shown, shares[:, rest].sum(axis=1, keepdims=True)]) if rest else shown


def _probabilities(model: Distribution | None, n_levels: int) -> Floats | None:
    """Probabilities (K, V) of the levels by the model, where it is one of levels."""
    if model is None or model.kind not in ("categorical", "binary"):
        return None
    cells: AnyArray = np.arange(n_levels)[:, None]
    if model.cut is not None:
        cells = model.cut + np.array([[-0.5], [0.5]])
    return np.exp(model.log_density(cells)).T
