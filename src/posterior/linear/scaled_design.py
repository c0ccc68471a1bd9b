"""A design whose columns are divided by their standard deviations, so that a penalty treats them alike."""

from dataclasses import dataclass, field, fields, replace

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._types import Floats
from posterior.dataset import Chunk, Dataset
from posterior.linear.basis import column_moments
from posterior.linear.design import Design, Matrix
from posterior.linear.model import LinearModel
from posterior.linear.scan import Scan
from posterior.stats.moments import Moments


@dataclass(frozen=True, eq=False)
class ScaledDesign(Design):
    """A design whose columns are divided by `spread`, (d,).

    Numbers and products of them have their standard deviation there; what is 0 or 1 already (categories, true
    and false, marks of gaps) has 1.
    """

    spread: Floats = field(default_factory=lambda: np.ones(0))

    @classmethod
    def learnt_from(cls, rows: Dataset, design: Design) -> "ScaledDesign":
        """The design in units of what these rows spread."""
        return cls.of_moments(column_moments(Scan.of(rows, design)), design)

    @classmethod
    def of_moments(cls, seen: Moments, design: Design) -> "ScaledDesign":
        """The design in units of the spread of its columns, whose moments are those of one class."""
        spread = np.sqrt(seen.scatter[0] / seen.weight[0])
        n_numbers, n_squares = len(design.numbers), len(design.squares)
        spread[n_numbers : len(spread) - n_squares] = 1.0
        spread[[i for i, j in enumerate(design.numbers) if design.schema.kinds[j] == "binary"]] = 1.0
        spread[~(spread > 0) | ~np.isfinite(spread)] = 1.0
        return cls(**{f.name: getattr(design, f.name) for f in fields(Design)}, spread=spread)

    @property
    def as_it_is(self) -> bool:
        """Never: the numbers are scaled."""
        return False

    def matrix(self, chunk: Chunk) -> Matrix:
        """The numbers of some rows, scaled."""
        found = super().matrix(chunk)
        if kernels.is_sparse(found):
            return sparse.csr_array(found @ sparse.diags_array(1.0 / self.spread))
        return found / self.spread

    def unscaled(self, model: LinearModel) -> LinearModel:
        """A model of the scaled columns as one of the columns themselves."""
        return replace(model, coef=model.coef / self.spread, centre=model.centre * self.spread)

    def scaled(self, model: LinearModel) -> LinearModel:
        """A model of the columns themselves as one of the scaled columns."""
        return replace(model, coef=model.coef * self.spread, centre=model.centre / self.spread)
