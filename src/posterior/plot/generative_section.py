"""Sections through a generative model: what is not held is integrated out, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior._types import Floats
from posterior.dataset import Chunk
from posterior.engines import LocalDataset
from posterior.estimators.base import GenerativeEstimator
from posterior.families import Distribution
from posterior.forms import QuadraticScores
from posterior.generative import FittedBlock
from posterior.generative.model import weighted_quadratic
from posterior.plot.section import Section, Values, table_of
from posterior.schema import Schema, read_table


@dataclass(frozen=True, eq=False)
class _BlockSection:
    """Some columns of a block: those at `axes` are coordinates `which` of a point, others have `values`."""

    distribution: Distribution
    weight: Floats
    axes: list[int]
    which: list[int]
    values: Floats

    @classmethod
    def of(
        cls,
        block: FittedBlock,
        distribution: Distribution,
        weight: Floats,
        columns: Sequence[int],
        values: Floats,
    ) -> "_BlockSection":
        keep = [i for i, j in enumerate(block.columns) if j in columns or not np.isnan(values[i])]
        place = {j: c for c, j in enumerate(columns)}
        axes = [a for a, i in enumerate(keep) if block.columns[i] in place]
        which = [place[block.columns[keep[a]]] for a in axes]
        return cls(distribution.marginal(keep), weight[keep], axes, which, values[keep])

    def log_density(self, points: Floats) -> Floats:
        """Log density of the columns under each class, (n, K)."""
        return self.distribution.log_density(self._rows(points))

    def log_score(self, points: Floats) -> Floats:
        """The log density in which each column counts with its weight; −inf where there is none."""
        density = self.log_density(points)
        if (self.weight == 1).all():
            return density
        scores = np.zeros_like(density)
        self.distribution.add_weighted(self._rows(points), self.weight, scores)
        scores[np.isneginf(density)] = -np.inf
        return scores

    def _rows(self, points: Floats) -> Floats:
        rows = np.tile(self.values, (len(points), 1))
        rows[:, self.axes] = points[:, self.which]
        return rows

    def quadratic(self) -> QuadraticScores:
        """The log density as a function of the coordinates, where it is quadratic."""
        form, free = weighted_quadratic(self.distribution, self.weight), self.axes
        fixed = [i for i in range(len(self.values)) if i not in free]
        z = self.values[fixed] - form.centre[fixed]
        pull = np.einsum("kij,j->ki", form.quadratic[:, :, fixed], z)
        return QuadraticScores(
            centre=form.centre[free],
            quadratic=form.quadratic[:, free][:, :, free],
            linear=form.linear[:, free] + 2 * pull[:, free],
            constant=form.constant + (pull[:, fixed] + form.linear[:, fixed]) @ z,
            scale=form.scale[free],
        )


def generative_section(
    estimator: GenerativeEstimator, columns: tuple[int, ...], held: Values, others: str
) -> Section:
    """The section in which some columns vary and some are held; all other columns are integrated out."""
    model, schema = estimator.model_, estimator.model_.schema
    row = _one_row(schema, held) if held else None
    level, score, parts = np.zeros(model.n_classes), np.zeros((1, model.n_classes)), []
    for block, distribution in model.distributions:
        if set(columns) & set(block.columns):
            loose = np.full(len(block.columns), np.nan)
            values = loose if row is None else row.values(block.columns)[0]
            parts.append(_BlockSection.of(block, distribution, model.weight_of(block), columns, values))
        elif row is not None and set(held) & set(block.columns):
            level = level + distribution.log_density(cells := block.read(row))[0]
            distribution.add_weighted(cells, model.weight_of(block), score)

    def log_density(points: Floats) -> Floats:
        return np.asarray(level + sum(part.log_density(points) for part in parts))

    def log_joint(points: Floats) -> Floats:
        return np.asarray(score + model.log_prior + sum(part.log_score(points) for part in parts))

    names = tuple(schema.names[j] for j in columns)
    return Section(
        names,
        model.classes,
        log_joint,
        others,
        log_density,
        model.log_prior,
        _joined(parts, score[0] + model.log_prior, names),
    )


def _one_row(schema: Schema, held: Values) -> Chunk:
    """The row in which some columns have a value and the others are missing."""
    source = schema.align(read_table(table_of(schema, held)))
    return LocalDataset(schema, schema.encode(source)).chunk(slice(0, 1))


def _joined(parts: Sequence[_BlockSection], level: Floats, names: tuple[str, ...]) -> QuadraticScores | None:
    """The forms of all blocks as one, coordinates in their order; None where one is not quadratic."""
    try:
        forms = [part.quadratic() for part in parts]
    except ValueError:
        return None
    order = np.argsort([c for part in parts for c in part.which]).tolist()
    return QuadraticScores.block_diagonal(forms).shifted(level).reordered(order, names)
