"""Rows wherever they live: what a model may ask of a data set, and nothing about where the rows are."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from posterior._types import AnyArray, Floats, Ints
from posterior.schema import Codes, Schema

S = TypeVar("S")
A = TypeVar("A", bound=AnyArray)


class Chunk(Protocol):
    """Some rows, with their columns in the three forms in which families read them."""

    @property
    def n_rows(self) -> int:
        """How many rows these are."""

    @property
    def y(self) -> Ints:
        """Class codes of the rows."""

    @property
    def weight(self) -> Floats | None:
        """Weights of the rows; None where all are 1."""

    def values(self, columns: tuple[int, ...]) -> Floats:
        """Numbers, (m, b), NaN for missing."""

    def codes(self, columns: tuple[int, ...]) -> Codes:
        """Category codes, −1 for missing."""

    def matrix(self, columns: tuple[int, ...]) -> Any:
        """A sparse matrix where the rows are sparse, else the values."""


def read(chunk: Chunk, form: str, columns: tuple[int, ...]) -> Any:
    """Columns of a chunk in the form that a family reads: "values", "codes" or "matrix"."""
    return getattr(chunk, form)(columns)


class Dataset(Protocol):
    """A table with classes and weights that can be folded over its rows."""

    @property
    def schema(self) -> Schema:
        """What the columns are."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    def reduce(self, summarize: Callable[[Chunk], S], *, dense: int) -> S:
        """Add up `summarize(chunk)` over all rows, with the same bits whatever the number of threads.

        `dense` is the number of columns that are read as values, which sets the size of a chunk.
        """

    def map(self, score: Callable[[Chunk], A], *, dense: int) -> A:
        """`score(chunk)` of all rows, in their order."""
