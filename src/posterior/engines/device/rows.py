"""Rows on a device with their classes and weights: sums over them are taken there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from posterior._text import listed
from posterior._types import Floats, Ints
from posterior.dataset import Chunk
from posterior.engines.device.arrays import ArrayLibrary, chunks
from posterior.engines.device.categories import levels_of
from posterior.engines.local import LocalDataset
from posterior.kernels import array_api
from posterior.schema import Schema, read_table
from posterior.schema.kinds import infinity_message

S = TypeVar("S")

TO_THE_HOST = (
    "move the table to the host: X.get() in CuPy, X.cpu().numpy() in PyTorch, numpy.asarray(X) otherwise"
)


class DevicePart(NamedTuple):
    """Some rows in the dtype of sums, NaN for missing; codes of classes; weights, None where all are 1."""

    rows: Any
    codes: Any
    weight: Any


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """A table on a device, with class codes and weights there, read by a schema."""

    costly: ClassVar[bool] = True
    keeps_places: ClassVar[bool] = False

    library: ArrayLibrary
    table: Any
    schema: Schema
    codes: Any = None
    weight: Any = None
    n_classes: int = 0
    single: bool = False
    _kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.table.shape[0])

    @property
    def total(self) -> float:
        """The weight of all rows."""
        if self.weight is None:
            return float(self.n_rows)
        if "total" not in self._kept:
            self._kept["total"] = float(self.library.scalar(self.library.xp.sum(self.weight)))
        return float(self._kept["total"])

    def every(self, step: int) -> "DeviceRows":
        """The first of every `step` rows, a copy beside them."""
        if step == 1:
            return self
        if ("every", step) not in self._kept:
            codes = None if self.codes is None else self.codes[::step]
            weight = None if self.weight is None else self.weight[::step]
            some = replace(self, table=self.table[::step, :], codes=codes, weight=weight, _kept={})
            self._kept["every", step] = some
        found: DeviceRows = self._kept["every", step]
        return found

    def of_one_class(self) -> "DeviceRows":
        """The same rows as if all were of one class."""
        none = self.library.xp.zeros((self.n_rows,), dtype=self.library.xp.int64, device=self.library.device)
        return replace(self, codes=none, n_classes=1, _kept={})

    def divided(self, by: Floats) -> "DeviceRows":
        """The same rows, each column divided by a number: a copy in the dtype of sums beside them.

        Quotients in single precision would lose the spread of a column that is far from zero.
        """
        table = self.numbers(self.table) / self.library.to_device(by)
        single = table.dtype == self.library.xp.float32
        return replace(self, table=table, single=single, _kept={})

    def block(self, columns: Sequence[int]) -> Any:
        """Some columns as they lie on the device; all of them without a copy."""
        if list(columns) == list(range(self.table.shape[1])):
            return self.table
        key = tuple(columns)
        if key not in self._kept:
            places = self.library.to_device(np.asarray(columns, dtype=np.int64))
            self._kept[key] = self.library.xp.take(self.table, places, axis=1)
        return self._kept[key]

    def parts(self, columns: Sequence[int], cells: int = 0) -> Iterator[DevicePart]:
        """The rows of some columns in chunks, as numbers in the dtype of sums."""
        block = self.block(columns)
        for rows in chunks(self.n_rows, max(cells, len(columns) + self.n_classes, 1)):
            weight = None if self.weight is None else self.weight[rows]
            codes = None if self.codes is None else self.library.indices(self.codes[rows])
            yield DevicePart(self.numbers(block[rows, :]), codes, weight)

    def numbers(self, block: Any) -> Any:
        """Cells in the dtype of sums."""
        xp, dtype = self.library.xp, self.library.floats
        return block if block.dtype == dtype else xp.astype(block, dtype)

    @property
    def spacing(self) -> int:
        """How many rows lie from one of about a thousand, here and there, to the next."""
        return max(1, self.n_rows // 1024)

    def here_and_there(self, columns: Sequence[int]) -> Floats:
        """Some columns of about a thousand rows on the host; they are kept."""
        key = "here and there", tuple(columns)
        if key not in self._kept:
            self._kept[key] = self.library.to_host(self.numbers(self.block(columns)[:: self.spacing, :]))
        found: Floats = self._kept[key]
        return found

    def kept(self, key: Any, make: Callable[[], S]) -> S:
        """What `make` gives, worked out once."""
        if key not in self._kept:
            self._kept[key] = make()
        found: S = self._kept[key]
        return found

    def pivots(self, columns: Sequence[int]) -> Floats:
        """A cell of each class in each column, (K, d); 0 where a class shows no number.

        The median of rows here and there, which no single row moves far; where these lack a class or a column
        of it, the largest of all its cells.
        """
        return self.kept(("pivots", tuple(columns)), lambda: self._pivots(columns))

    def _pivots(self, columns: Sequence[int]) -> Floats:
        cells, codes = self.here_and_there(columns), self.library.to_host(self.codes[:: self.spacing])
        out = np.full((self.n_classes, len(columns)), np.nan)
        for k in np.unique(codes).tolist():
            own = cells[codes == k]
            own = np.sort(np.where(np.isfinite(own), own, np.nan), axis=0)  # NaN goes to the end
            middle = (np.isfinite(own).sum(axis=0) - 1) // 2
            out[k] = np.where(middle < 0, np.nan, own[middle, np.arange(len(columns))])
        for k in np.flatnonzero(np.isnan(out).any(axis=1)).tolist():
            out[k] = np.where(np.isnan(out[k]), self._largest(columns, k), out[k])
        return out

    def _largest(self, columns: Sequence[int], k: int) -> Floats:
        """The largest number that a class has in each column, (d,); 0 where it has none."""
        xp, block, found = self.library.xp, self.block(columns), np.full(len(columns), -np.inf)
        places = xp.nonzero(self.codes == k)[0]
        for some in chunks(places.shape[0], len(columns)):
            cells = self.numbers(xp.take(block, places[some], axis=0))
            there = xp.where(xp.isfinite(cells), cells, xp.zeros_like(cells) - np.inf)
            found = np.maximum(found, self.library.to_host(xp.max(there, axis=0)))
        return np.where(np.isfinite(found), found, 0.0)

    def sample(self, n: int) -> LocalDataset:
        """Some rows, spread over the table, on the host."""
        step = max(1, -(-self.n_rows // n))
        host = self.library.to_host
        codes = None if self.codes is None else host(self.codes[::step]).astype(np.int64)
        weight = None if self.weight is None else host(self.weight[::step]).astype(np.float64)
        rows = read_table(host(self.table[::step, :]))
        return LocalDataset(self.schema, self.schema.encode(rows), codes, weight)

    def reduce(self, summarize: Callable[[Chunk], S], *, dense: int, size: int = 0) -> S:
        """Rows on a device are not handed out."""
        if gaps := self.with_gaps(range(self.table.shape[1])):
            raise ValueError(
                "models that describe several columns together, as LDA and QDA do, are fitted to rows with "
                f"gaps (NaN) on the host; {gaps}: fill the gaps, or {TO_THE_HOST}"
            )
        raise ValueError(f"this is worked out from rows one by one, on the host; {TO_THE_HOST}")

    def with_gaps(self, columns: Sequence[int]) -> str:
        """Which of some columns have gaps, in words; empty where none has."""
        gaps = np.flatnonzero(self.count(columns, self.library.xp.isnan))
        names = [self.schema.names[columns[j]] for j in gaps.tolist()]
        return f"columns with gaps: {listed(names, 5)}" if names else ""

    def count(self, columns: Sequence[int], test: Callable[[Any], Any]) -> Ints:
        """In how many rows of each column a cell is what the test says, and not infinite, (b,)."""
        xp, total = self.library.xp, np.zeros(len(columns), dtype=np.int64)
        for part in self.parts(columns):
            found = test(part.rows) & ~xp.isinf(part.rows)  # which is an error of its own
            total += self.library.to_host(xp.sum(xp.astype(found, xp.int64), axis=0))
        return total

    def unseen(self, columns: Sequence[int]) -> dict[str, dict[Any, int]]:
        """How many rows hold each category that training did not show, by column."""
        found: dict[str, dict[Any, int]] = {}
        xp, host = self.library.xp, self.library.to_host
        for j in columns:
            if j not in self.schema.with_categories:
                continue
            column = self.schema.columns[j]
            for part in self.parts((j,)):
                new = levels_of(self.library, part.rows[:, 0], column) == len(column.levels or ())
                new = new & ~xp.isinf(part.rows[:, 0])  # which is an error of its own
                if self.library.scalar(xp.any(new)):
                    values = xp.take(part.rows[:, 0], xp.nonzero(new)[0], axis=0)
                    told = xp.unique_counts(values)
                    counts = found.setdefault(column.name, {})
                    for value, n in zip(host(told.values).tolist(), host(told.counts).tolist(), strict=True):
                        counts[value] = counts.get(value, 0) + n
        return found

    def refuse_gaps(self, columns: Sequence[int]) -> None:
        """Raise the error of a cell that is missing or infinite; nothing where there is none."""
        self.refuse_infinity(columns)
        gaps = self.count(columns, self.library.xp.isnan)
        if gaps.any():
            j = int(gaps.argmax())
            raise ValueError(
                f"Input X contains NaN: column {self.schema.names[columns[j]]!r} has no value in {gaps[j]} "
                f"rows; fill the gaps (SimpleImputer), or use missing='indicator' on the host: {TO_THE_HOST}"
            )

    def refuse_infinity(self, columns: Sequence[int]) -> None:
        """Raise the error of an infinite number, naming its column and row; nothing where there is none."""
        xp, first = self.library.xp, 0
        for part in self.parts(columns):
            wrong = xp.isinf(part.rows)
            if self.library.scalar(xp.any(wrong)):
                row = int(self.library.scalar(xp.argmax(xp.astype(xp.any(wrong, axis=1), xp.int32))))
                cells = self.library.to_host(part.rows[row : row + 1, :])[0]
                j = int(np.isinf(cells).argmax())
                raise ValueError(
                    infinity_message(self.schema.names[columns[j]], float(cells[j]), first + row)
                )
            first += part.rows.shape[0]


def class_weights(rows: DeviceRows) -> Floats:
    """The weight of each class, (K,)."""
    library, total = rows.library, np.zeros(rows.n_classes)
    for part in chunks(rows.n_rows, rows.n_classes):
        weight = None if rows.weight is None else rows.weight[part]
        found = array_api.class_weights(
            library.xp, library.indices(rows.codes[part]), weight, rows.n_classes, library.floats
        )
        total += library.to_host(found)
    return total
