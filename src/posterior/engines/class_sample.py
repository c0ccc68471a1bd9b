"""Rows drawn from a table that is elsewhere, so many of each class, in one reading."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from posterior._types import Ints
from posterior.engines.base import Place
from posterior.engines.labels import Target
from posterior.engines.remote import Batches, scattered, table_of
from posterior.engines.survey import counting_rows

# Rows are chosen by their scattered places, below a limit that lets so many standard deviations more pass
# than are wanted; of these the first of each class stay.
MARGIN = 6.0
PLACES = float(2**48)
PLACE_COLUMN = "\0place"


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Takes the rows of each class whose scattered place is below the limit of the class."""

    target: Target
    weight: str | None
    limits: Any

    def __call__(self, batch: Any, place: Place) -> Batches | None:
        """Some rows of a batch, with their places."""
        places = scattered(place, batch.num_rows)
        numbered = table_of(batch).append_column(PLACE_COLUMN, pa.array(places))
        rows = counting_rows(numbered, self.target.name, self.weight)
        if not rows.num_rows:
            return None
        limits = self.limits[self.target.read(rows.column(self.target.name))]
        chosen = rows.column(PLACE_COLUMN).to_numpy() < limits
        return Batches((rows.filter(pa.array(chosen)),)) if chosen.any() else None


def draw_by_class(scan: Any, quotas: Mapping[Any, int]) -> Any:
    """So many rows of each class of a scan as a table of Arrow with target and weights, in their order.

    The same rows every time, whoever reads them. A class has all its rows where it has no more.
    """
    counts = scan.survey.levels[scan.target].counts
    target = Target(scan.target, scan.classes)
    wanted = np.array([quotas[label] for label in scan.classes.tolist()], dtype=np.float64)
    there = np.array([counts[label] for label in scan.classes.tolist()], dtype=np.float64)
    share = (wanted + MARGIN * np.sqrt(wanted) + 1) / there
    limits = np.where(share >= 1, PLACES, share * PLACES).astype(np.uint64)
    columns = [*scan.names, *(name for name in (scan.target, scan.weight) if name is not None)]
    found = scan.engine.fold(ClassSample(target, scan.weight, limits), columns).table
    codes = target.read(found.column(scan.target))
    places = found.column(PLACE_COLUMN).to_numpy()
    chosen = _first_of_each(codes, places, wanted.astype(np.int64))
    return found.drop_columns([PLACE_COLUMN]).take(pa.array(chosen))


def _first_of_each(codes: Ints, places: Any, wanted: Ints) -> Ints:
    """So many rows of each class with the smallest places, in the order in which they came."""
    order = np.lexsort((places, codes))
    first = np.searchsorted(codes[order], np.arange(len(wanted)))
    rank = np.arange(len(order)) - first[codes[order]]
    return np.sort(order[rank < wanted[codes[order]]])
