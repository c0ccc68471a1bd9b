"""Cells written as text: which are gaps, what a column of them holds, and the column of that type."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import pyarrow as pa
import pyarrow.compute as pc

from posterior.files.errors import FileError, in_quotes
from posterior.files.options import Reading

CellType: TypeAlias = Literal["empty", "boolean", "integer", "number", "text"]
# What a caller may say of a column; "own" is a number where the format says so, else a text as it is written.
GivenType: TypeAlias = CellType | Literal["own"]

CELL_TYPES: tuple[CellType, ...] = get_args(CellType)
ARROW_TYPES: dict[CellType, Any] = {
    "empty": pa.null(),
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "text": pa.string(),
}
GIVEN_TYPES: tuple[GivenType, ...] = (*CELL_TYPES[1:], "own")
NUMBERS: frozenset[CellType] = frozenset({"integer", "number"})
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_SPOKEN: dict[CellType, str] = {
    "empty": "empty",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "text": "a text",
}
# 00123 is a code that people write in digits, not the number 123.
_LEADING_ZERO = r"^[+-]?0[0-9]"
# More digits than a whole number of 64 bits has: a number would lose some of them.
_LONG = r"^[+-]?[0-9]{19,}$"
# A call costs as much as hundreds of cells: columns of a few rows are looked at some at a time.
GROUP_CELLS = 1 << 14


def columns_by_name(table: Any) -> dict[str, Any]:
    """Return the columns of a table; a table makes the list of its names anew whenever it is asked."""
    return dict(zip(table.column_names, table.columns, strict=True))


def groups_of(columns: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Give columns of the same length in groups, large enough for one call for all of their cells."""
    size = max(1, GROUP_CELLS // max(1, len(columns[0]))) if columns else 1
    for start in range(0, len(columns), size):
        yield columns[start : start + size]


def at_once(work: Callable[[Any], Any], columns: Sequence[Any]) -> list[Any]:
    """Return what a function makes of columns, each cell by itself: called with the cells of a whole group.

    >>> [part.to_pylist() for part in at_once(pc.negate, [pa.array([1, 2]), pa.array([3, 4])])]
    [[-1, -2], [-3, -4]]
    """
    done: list[Any] = []
    for group in groups_of(columns):
        if len(group) == 1:
            done.append(work(group[0]))
            continue
        cells, n = work(pa.concat_arrays(group)), len(group[0])
        done.extend(cells.slice(start, n) for start in range(0, len(cells), n))
    return done


def clean(column: Any, reading: Reading) -> Any:
    """Return cells without the spaces around them, and nulls where they mean a gap.

    >>> clean(pa.array([" a ", "?", "NA", " NA", ' "NA"']), Reading(missing="?")).to_pylist()
    ['a', None, 'NA', None, 'NA']
    """
    bare = pc.ascii_trim_whitespace(column) if reading.trim else column
    gap = pc.is_in(bare, pa.array(reading.gaps, pa.string()))
    padded = pc.not_equal(bare, column)
    if pc.any(padded).as_py():
        # The parser has seen no quotes in a cell with spaces around them; in the others, it has.
        gap = pc.or_(gap, pc.and_(padded, pc.is_in(bare, pa.array(reading.unquoted_gaps, pa.string()))))
        if reading.quote is not None:
            bare = pc.if_else(padded, _without_quotes(bare, reading.quote), bare)
    return pc.if_else(gap, pa.scalar(None, pa.string()), bare)


def _without_quotes(column: Any, quote: str) -> Any:
    mark = re.escape(quote)
    inside = pc.replace_substring_regex(column, rf"(?s)^{mark}(.*){mark}$", r"\1")
    return pc.if_else(pc.equal(inside, column), column, pc.replace_substring(inside, quote * 2, quote))


def type_of(column: Any, decimal: str = ".") -> CellType:
    """Return the narrowest type that all cells of a column of strings have.

    >>> [type_of(pa.array(cells)) for cells in (["1", None], ["1", "1.5"], ["1", "x"], ["007"], ["true"])]
    ['integer', 'number', 'text', 'text', 'boolean']
    """
    cells = pc.drop_null(column)
    if not len(cells):
        return "empty"
    if cells[0].as_py() in {*_TRUE, *_FALSE}:
        every = pc.all(pc.is_in(cells, pa.array((*_TRUE, *_FALSE)))).as_py()
        return "boolean" if every else "text"
    try:
        _numbers(cells, pa.float64(), decimal)
    except pa.ArrowInvalid:
        return "text"
    if pc.any(pc.match_substring_regex(cells, _LEADING_ZERO)).as_py():
        return "text"
    if _are_integers(cells, decimal):
        return "integer"
    return "text" if pc.all(pc.match_substring_regex(cells, _LONG)).as_py() else "number"


def _are_integers(cells: Any, decimal: str) -> bool:
    if pc.any(pc.match_substring(cells, decimal)).as_py():  # much faster than to fail at each cell
        return False
    try:
        _numbers(cells, pa.int64(), decimal)
    except pa.ArrowInvalid:
        return False
    return True


def types_of(columns: Sequence[Any], decimal: str = ".") -> list[CellType]:
    """Return what `type_of` returns for each of some columns of the same length.

    >>> types_of([pa.array(["1", "2"]), pa.array(["1", "1.5"]), pa.array([None, "x"])])
    ['integer', 'number', 'text']
    """
    return [kind for group in groups_of(columns) for kind in _types_of_group(group, decimal)]


def _types_of_group(columns: Sequence[Any], decimal: str) -> list[CellType]:
    if len(columns) == 1:
        return [type_of(columns[0], decimal)]
    cells = pa.concat_arrays(columns)
    kind = type_of(cells, decimal)
    if kind in {"text", "number"}:
        half = len(columns) // 2
        if kind == "number" and _each_has_fraction(cells, len(columns), decimal):
            return ["number"] * len(columns)
        return [*_types_of_group(columns[:half], decimal), *_types_of_group(columns[half:], decimal)]
    return ["empty" if column.null_count == len(column) else kind for column in columns]


def _each_has_fraction(cells: Any, n_columns: int, decimal: str) -> bool:
    """Return whether each column of numbers has a cell with a decimal mark, which no integer has."""
    found = pc.fill_null(pc.match_substring(cells, decimal), False)
    return bool(found.to_numpy(zero_copy_only=False).reshape(n_columns, -1).any(axis=1).all())


def wider(one: CellType, other: CellType) -> CellType:
    """Return the narrowest type that holds the values of both.

    >>> wider("integer", "number"), wider("empty", "boolean"), wider("boolean", "integer")
    ('number', 'boolean', 'text')
    """
    if "empty" in (one, other):
        return other if one == "empty" else one
    if one == other:
        return one
    return "number" if {one, other} == {"integer", "number"} else "text"


def as_type(column: Any, wanted: CellType, decimal: str = ".") -> Any:
    """Return cells written as text as a column of a type that they have; `pyarrow.ArrowInvalid` if not.

    >>> as_type(pa.array(["1", None, "2.5"]), "number").to_pylist()
    [1.0, None, 2.5]
    """
    if wanted == "text":
        return column
    if wanted == "empty":
        return pa.nulls(len(column))
    if wanted == "boolean":
        known = pc.is_in(column, pa.array((*_TRUE, *_FALSE, None)))
        if not pc.all(known).as_py():
            raise pa.ArrowInvalid("neither true nor false")
        true = pc.is_in(column, pa.array(_TRUE))
        return pc.if_else(pc.is_null(column), pa.scalar(None, pa.bool_()), true)
    return _numbers(column, ARROW_TYPES[wanted], decimal)


def _numbers(cells: Any, arrow_type: Any, decimal: str) -> Any:
    bare = pc.ascii_trim_whitespace(cells)
    return pc.cast(pc.replace_substring(bare, decimal, ".") if decimal != "." else bare, arrow_type)


def misfit_message(column: Any, wanted: CellType, decimal: str, where: tuple[int, str]) -> str:
    """Return which cell is the first that is not of a type; `where` is its first row, and its name."""
    good, bad = 0, len(column)  # cells that fit, and cells of which one does not
    while bad - good > 1:
        middle = (good + bad) // 2
        if _fits(column.slice(good, middle - good), wanted, decimal):
            good = middle
        else:
            bad = middle
    shown = in_quotes(column[good].as_py())
    return (
        f"has {shown} in row {where[0] + bad} of column {where[1]!r}, which is not {_SPOKEN[wanted]}; "
        f"if it marks a gap, pass missing={shown} (--missing)"
    )


def _fits(column: Any, wanted: CellType, decimal: str) -> bool:
    try:
        as_type(column, wanted, decimal)
    except pa.ArrowInvalid:
        return False
    return True


def checked_types(types: Mapping[str, str] | None) -> dict[str, GivenType] | None:
    """Return types that a caller gave, after a look at them."""
    if types is None:
        return None
    found: dict[str, GivenType] = {}
    for name, word in types.items():
        known = next((one for one in GIVEN_TYPES if one == word), None)
        if known is None:
            raise ValueError(
                f"types: {word!r} of column {name!r} is unknown; choose one of {', '.join(GIVEN_TYPES)}"
            )
        found[name] = known
    return found


def unique_names(name: str, names: Iterable[str], advice: str = "") -> tuple[str, ...]:
    """Return the names of columns, `column_3` for an empty one; refuses the same name twice."""
    found: dict[str, int] = {}
    for i, given in enumerate(names, 1):
        title = given.strip() or f"column_{i}"
        if title in found:
            raise FileError(
                name, f"has two columns named {title!r} (columns {found[title]} and {i}); rename one{advice}"
            )
        found[title] = i
    return tuple(found)
