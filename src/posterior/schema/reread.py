"""Which columns of a table are read otherwise than by their type, and the table read so."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeAlias

from posterior.schema.cells import Cells, Labels
from posterior.schema.infer import declared_kinds
from posterior.schema.kinds import WRITTEN, Declared
from posterior.schema.readings import Reading
from posterior.schema.readings.find_numbers import find_numbers
from posterior.schema.readings.numbers import Decimal
from posterior.schema.sources import ArraySource, ReadFrame, Source, SparseSource, names_of

Finder: TypeAlias = Callable[[int, str, Cells, Declared | None], Reading | None]


class Reread(NamedTuple):
    """A table read so that types tell what its columns are, with what was declared of these columns."""

    source: Source
    kinds: Any
    only: Collection[int] | None


def reread(source: Source, kinds: Any, only: Collection[int] | None) -> Reread:
    """Return the table with columns that are not what their type says read as what they are."""
    typed = isinstance(source, SparseSource) or (isinstance(source, ArraySource) and source.block is not None)
    if typed or source.readings:
        return Reread(source, kinds, only)
    names = names_of(source)
    declared = declared_kinds(kinds, names, source)
    readings = tuple(
        reading
        for j, name in enumerate(names)
        if (only is None or j in only) and (reading := _found(j, name, source, declared.get(j))) is not None
    )
    if not readings:
        return Reread(source, kinds, only)
    read = source.read_with(readings)
    origins = read.origins if isinstance(read, ReadFrame) else range(source.n_columns)
    known = [(j, declared[place]) for j, place in enumerate(origins) if place in declared]
    used = None if only is None else {j for j, place in enumerate(origins) if place in only}
    return Reread(read, known, used)


def _found(place: int, name: str, source: Source, declared: Declared | None) -> Reading | None:
    if declared in {"categorical", "text", "binary"}:
        return None
    cells = source.column(place)
    return next((found for find in FINDERS if (found := find(place, name, cells, declared))), None)


def _disguised_numbers(place: int, name: str, cells: Cells, declared: Declared | None) -> Reading | None:
    if not isinstance(cells, Labels) or cells.storage != "string":
        return None
    mark: Decimal | None = "," if declared == "decimal-comma" else "." if declared in WRITTEN else None
    found = find_numbers(place, name, cells, mark, asked=declared is not None)
    if found is None and declared in WRITTEN:
        raise ValueError(
            f"column {name!r} is declared {declared}, and its cells are no such numbers, such as "
            f"{cells.example()}; declare it categorical, or correct the cells"
        )
    return found


FINDERS: tuple[Finder, ...] = (_disguised_numbers,)
