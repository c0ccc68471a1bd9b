"""What is known of one column of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, overload

from posterior._text import listed
from posterior.schema.kinds import Kind, Storage


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its kind and why, and the categories it may hold.

    A binary column of true/false or 0/1 keeps no categories; other binary columns keep both values, and
    the second is code 1. `empty` marks a column without a single value, whose kind is only a guess unless
    it was declared; `ignored` one that no model asked for and nobody reads. `hint` says what the user may
    want to change about it. A column that is `single` came as float32 numbers, and is compared as such.
    """

    name: str
    kind: Kind
    reason: str
    categories: tuple[Any, ...] | None = None
    declared: bool = False
    levels_fixed: bool = False
    ordered: bool = False
    empty: bool = False
    storage: Storage = "float"
    ignored: bool = False
    hint: str = ""
    single: bool = False

    @property
    def levels(self) -> tuple[Any, ...] | None:
        """The values behind the codes 0, 1, …; None for columns of numbers and texts."""
        if self.categories is None and self.kind == "binary":
            return (False, True) if self.storage == "boolean" else (0, 1)
        return self.categories

    @property
    def size(self) -> int:
        """The number of codes: two for a binary column, even if only one value was seen; 0 without codes."""
        return 2 if self.kind == "binary" else len(self.categories or ())

    def described_levels(self) -> str:
        """Return the categories, shortened for a line of a table."""
        levels = self.levels
        return "" if levels is None else listed(levels, 4)


@lru_cache(maxsize=2)
def all_places(n: int) -> tuple[int, ...]:
    """The places of n columns in their order: one object, which is recognised without a look inside.

    >>> all_places(3), all_places(3) is all_places(3)
    ((0, 1, 2), True)
    """
    return tuple(range(n))


class Alike(Sequence[Column]):
    """Columns x0, x1, … that differ in nothing but their names, each made when it is asked for.

    A table of words may have a million columns, of which nobody looks at one.

    >>> columns = Alike(Column("", "count", "sparse, non-negative integers"), 3)
    >>> columns[2].name, len(columns), columns == tuple(columns)
    ('x2', 3, True)
    """

    def __init__(self, example: Column, n: int) -> None:
        self.example, self._n = example, n

    @cached_property
    def _all(self) -> tuple[Column, ...]:
        rest = self._rest
        return tuple(Column(f"x{j}", *rest) for j in range(self._n))

    @cached_property
    def _rest(self) -> tuple[Any, ...]:
        """What all columns share: everything but the name, in the order of the fields."""
        return tuple(getattr(self.example, field.name) for field in fields(Column)[1:])

    def merged(self, first: Column) -> "Alike":
        """As many columns that are like the first of them, which was merged with another table's."""
        return Alike(replace(first, name=self.example.name), self._n)

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, position: int) -> Column: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, position: int | slice) -> Column | tuple[Column, ...]:
        if isinstance(position, slice):
            return self._all[position]
        return Column(f"x{range(self._n)[position]}", *self._rest)

    def __iter__(self) -> Iterator[Column]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Alike):
            return (self.example, self._n) == (other.example, other._n)
        return isinstance(other, tuple) and len(other) == self._n and self._all == other

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return repr(self._all)

    def __reduce__(self) -> Any:
        # Without what was cached, so that looking at the columns changes no pickle.
        return Alike, (self.example, self._n)
