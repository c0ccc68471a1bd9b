"""Rows of a table that is elsewhere, drawn by class so that models can be compared on them in memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.comparison.inputs import compared_table
from posterior.comparison.sampling import rows_of_classes
from posterior.estimators.target import scanned_table
from posterior.estimators.training_rows import refuse_one_reading
from posterior.schema import LabelledTable

# Cells of the drawn rows that are taken into memory at most.
MOST_CELLS = 1 << 24


@dataclass(frozen=True, eq=False)
class DrawnScan:
    """Rows that were drawn from a scan, as a table in memory, and how many there are in the scan."""

    table: LabelledTable
    n_rows: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        given: Any,
        y: Any,
        max_rows: int | None,
        *,
        groups: Any = None,
        time: Any = None,
        kinds: Any = None,
    ) -> "DrawnScan":
        """Draw rows by class in one reading, after one that counted the classes."""
        scan = scanned_table(given, y, None, "compare")
        refuse_one_reading(scan, "compare")
        for what, column in (("groups", groups), ("time", time)):
            if column is not None and not isinstance(column, str):
                raise ValueError(f"{what} of a scan must be the name of one of its columns, found {column!r}")
        target, classes = scan.target_name("compare"), scan.classes
        counts = scan.survey.levels[target].counts
        sizes = np.array([counts[label] for label in classes.tolist()], dtype=np.int64)
        quotas = rows_of_classes(sizes, max_rows, MOST_CELLS // len(scan.names))
        rows = scan.draw(dict(zip(classes.tolist(), quotas.tolist(), strict=True)))
        if scan.weight is not None:
            rows = rows.drop_columns([scan.weight])
        table = compared_table(rows, target, groups=groups, time=time, kinds=_declared(scan, kinds))
        return cls(table, scan.n_rows, tuple(_notes(scan)))


def _declared(scan: Any, kinds: Any) -> Any:
    """The kinds of columns, the classes being what is written, as `fit` of the scan takes them."""
    kinds = scan.kinds if kinds is None else kinds
    if kinds is not None and not isinstance(kinds, Mapping):
        return kinds
    return {**(kinds or {}), scan.target: "categorical"}


def _notes(scan: Any) -> list[str]:
    missing = scan.survey.levels[scan.target].n_missing
    told = [f"rows without a class, left out: {missing} of {scan.n_rows + missing}"] if missing else []
    if scan.weight is not None:
        told.append(f"rows are compared without their weights ({scan.weight!r}), which `fit` takes")
    return told
