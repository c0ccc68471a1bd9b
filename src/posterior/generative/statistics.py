"""Statistics of a whole table by class: what a generative model is estimated from."""

from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.schema import Schema
from posterior.stats import Statistics


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Class labels and weights, the schema that gives codes their meaning, and the statistics of each block.

    Tables that saw other classes or other categories add up too: both sides are first brought to the
    union of the classes and of the categories.
    """

    classes: Annotated[AnyArray, "K any"]
    schema: Schema
    weight: Annotated[Floats, "K >=0"]
    n_rows: int
    columns: tuple[tuple[int, ...], ...]
    blocks: tuple[Statistics, ...]

    @property
    def has_gaps(self) -> bool:
        """Whether gaps must be filled in before a model can be estimated."""
        return any(block.has_gaps for block in self.blocks)

    def __add__(self, other: Self) -> Self:
        classes = union_of_classes(self.classes, other.classes)
        schema = self.schema.union(other.schema)
        a, b = self.aligned(classes, schema), other.aligned(classes, schema)
        return replace(
            a,
            weight=a.weight + b.weight,
            n_rows=a.n_rows + b.n_rows,
            blocks=tuple(x + y for x, y in zip(a.blocks, b.blocks, strict=True)),
        )

    def aligned(self, classes: AnyArray, schema: Schema) -> Self:
        """The same statistics with room for more classes and categories."""
        place = np.searchsorted(classes, self.classes)
        recoding = self.schema.recoding(schema)
        blocks = []
        for columns, block in zip(self.columns, self.blocks, strict=True):
            recoded = block.recode([recoding[j] for j in columns], schema.sizes_of(columns))
            blocks.append(recoded.reindex(place, len(classes)))
        weight = np.zeros(len(classes))
        weight[place] = self.weight
        return replace(self, classes=classes, schema=schema, weight=weight, blocks=tuple(blocks))


def union_of_classes(a: AnyArray, b: AnyArray) -> AnyArray:
    """The sorted union of two sets of labels of the same type."""
    if (a.dtype.kind in "OUS") != (b.dtype.kind in "OUS"):
        raise ValueError(
            f"classes of different types: {a.tolist()[:3]} and {b.tolist()[:3]}; "
            "convert the labels to one type"
        )
    return np.unique(np.concatenate([a, b]))
