"""What is known of one column of a table."""

from dataclasses import dataclass
from typing import Any

from posterior.schema.kinds import Kind, Storage, listed


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its kind and why, and the categories it may hold.

    A binary column of true/false or 0/1 keeps no categories; other binary columns keep both values, and
    the second is code 1. `empty` marks a column without a single value, whose kind is only a guess unless
    it was declared; `ignored` one that no model asked for and nobody reads. `hint` says what the user may
    want to change about it. Categories that are `single` came as float32 numbers and are compared as such.
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
