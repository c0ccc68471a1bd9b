"""What a section is made of: paragraphs, tables, figures, lists, commands. The templates draw them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias


@dataclass(frozen=True)
class Text:
    """A paragraph; `aside` sets it smaller, as a remark."""

    macro: ClassVar[str] = "text"
    words: str
    aside: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list; an item is a sentence, or a pair of what it is about and the sentence."""

    macro: ClassVar[str] = "bullets"
    items: Sequence[str | tuple[str, str]]


@dataclass(frozen=True)
class Definitions:
    """Terms: the id of each, the word, and what it means."""

    macro: ClassVar[str] = "definitions"
    terms: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class SideBySide:
    """Blocks beside each other where there is room."""

    macro: ClassVar[str] = "side_by_side"
    blocks: Sequence["PageBlock"]


@dataclass(frozen=True)
class Commands:
    """Lines to be typed, each with a word on what it does."""

    macro: ClassVar[str] = "commands"
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Figure:
    """A picture: its SVG, what it shows for those who cannot see it, and a caption, below or `beside` it.

    `legend` are the classes, with their codes.
    """

    macro: ClassVar[str] = "figure"
    svg: str
    label: str
    caption: str
    beside: bool = False
    legend: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Figures:
    """Pictures side by side where there is room, `small` ones in threes."""

    macro: ClassVar[str] = "figures"
    figures: Sequence[Figure]
    small: bool = False


@dataclass(frozen=True)
class Legend:
    """Which colour is which class, by its code."""

    macro: ClassVar[str] = "legend"
    classes: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Details:
    """Blocks that unfold when they are asked for."""

    macro: ClassVar[str] = "details"
    summary: str
    blocks: Sequence["PageBlock"]


# -- tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """Words in a table; `tags` are pairs of a class of the style sheet and a word."""

    macro: ClassVar[str] = "words"
    words: str
    tags: Sequence[tuple[str, str]] = ()
    below: str = ""


@dataclass(frozen=True)
class Name:
    """A name from the data, of any length and in any script, cut where it is too long."""

    macro: ClassVar[str] = "name"
    words: str


@dataclass(frozen=True)
class Number:
    """A number as it is to be read, with what it is uncertain by."""

    macro: ClassVar[str] = "number"
    words: str
    margin: str = ""


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1 as a bar, beside the number; `series` is one of the class colours."""

    macro: ClassVar[str] = "bar"
    share: float
    words: str
    series: int | None = None


@dataclass(frozen=True)
class Interval:
    """A dot in its interval, as shares of the width; `mark` is a line across all rows."""

    macro: ClassVar[str] = "interval"
    low: float
    at: float
    high: float
    mark: float
    best: bool = False


@dataclass(frozen=True)
class Tinted:
    """A count whose cell is the darker the larger its share; `right` are those one wants to see."""

    macro: ClassVar[str] = "tinted"
    words: str
    share: float
    right: bool


AnyCell: TypeAlias = Cell | Name | Number | Bar | Interval | Tinted


@dataclass(frozen=True)
class Head:
    """The head of a column; `set_as` is the class in the style sheet by which its cells are set."""

    words: str
    set_as: str = "words"
    meaning: str = ""
    ticks: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class PageTable:
    """A table; `marked` are the positions of rows that stand out."""

    macro: ClassVar[str] = "table"
    caption: str
    head: Sequence[Head]
    rows: Sequence[Sequence[AnyCell]]
    marked: frozenset[int] = field(default_factory=frozenset)


PageBlock: TypeAlias = (
    Text | Bullets | Commands | Figure | Figures | Legend | Details | PageTable | Definitions | SideBySide
)


@dataclass(frozen=True)
class PageSection:
    """A part of the page under its heading."""

    key: str
    title: str
    blocks: Sequence[PageBlock]


@dataclass(frozen=True)
class Tile:
    """A key figure: what it is, the figure, and a word beside it."""

    name: str
    figure: str
    beside: str = ""
