"""How a file is to be read, where it does not say so itself."""

import codecs
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

WrittenFormat: TypeAlias = Literal["csv", "tsv", "jsonl", "parquet", "arrow"]
Format: TypeAlias = WrittenFormat | Literal["excel", "sqlite", "duckdb"]

WRITTEN: tuple[WrittenFormat, ...] = get_args(WrittenFormat)
FORMATS: tuple[Format, ...] = (*WRITTEN, "excel", "sqlite", "duckdb")

# What a gap is called without anybody having said so, in files that have no other way to write one.
USUAL_MISSING = ("", "NA", "NaN", "nan", "null", "NULL", "N/A")

_ALIASES: dict[str, Format] = {
    "txt": "csv",
    "tab": "tsv",
    "json": "jsonl",
    "ndjson": "jsonl",
    "pq": "parquet",
    "feather": "arrow",
    "ipc": "arrow",
    "arrows": "arrow",
    "xlsx": "excel",
    "xlsm": "excel",
    "db": "sqlite",
    "db3": "sqlite",
    "sqlite3": "sqlite",
    "ddb": "duckdb",
}
# Codecs for names of computers on the internet, and for none at all.
_NO_TEXT = ("idna", "punycode", "undefined")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def format_named(name: str) -> Format | None:
    """Return the format that a word or a suffix stands for.

    >>> format_named("Feather"), format_named(".ndjson"), format_named("xlsx"), format_named("doc")
    ('arrow', 'jsonl', 'excel', None)
    """
    word = name.lower().removeprefix(".")
    return next((known for known in FORMATS if known == word), _ALIASES.get(word))


@dataclass(frozen=True)
class Reading:
    r"""How to read a file: every setting has a default, and `read` takes each by its name.

    `missing` are words that mean a gap, beside the usual ones ("", NA, NaN, nan, null, NULL, N/A); with
    `usual_missing=False` they are the only ones. `header=False` says that the first row is data; `names` then
    names the columns (with a header, it replaces it). `skip` lines, or rows of a sheet, stand above the
    table; they are found out where that is plain. `foot` rows below it, such as a sum, are left out.
    `quote=None` makes quotes ordinary characters. `delimiter` is found out unless given, `decimal` is ","
    in much of Europe, and `trim=False` keeps the spaces around cells. `encoding` is UTF-8 (or UTF-16 with
    its mark) unless given, `format` is told from the first bytes and the name.

    >>> Reading(missing="?", delimiter="tab")
    Reading(missing=('?',), usual_missing=True, header=True, names=None, quote='"', delimiter='\t',
            decimal='.', trim=True, encoding=None, format=None, skip=None, foot=0)
    """

    missing: str | Iterable[str] = ()
    usual_missing: bool = True
    header: bool = True
    names: Iterable[str] | None = None
    quote: str | None = '"'
    delimiter: str | None = None
    decimal: str = "."
    trim: bool = True
    encoding: str | None = None
    format: str | None = None
    skip: int | None = None
    foot: int = 0

    def __post_init__(self) -> None:
        missing = (self.missing,) if isinstance(self.missing, str) else tuple(self.missing)
        self._set("missing", tuple(word.strip() for word in missing))
        if self.names is not None:
            self._set("names", _checked_names(self.names))
        self._set("quote", None if self.quote in (None, "", "none") else self.quote)
        if self.delimiter is not None:
            self._set("delimiter", _DELIMITERS.get(self.delimiter, self.delimiter))
        self._check_characters()
        if self.encoding is not None:
            _refuse_encoding(self.encoding)
        if self.format is not None:
            known = format_named(self.format)
            if known is None:
                raise ValueError(f"unknown format {self.format!r}; choose one of {', '.join(FORMATS)}")
            self._set("format", known)
        if self.skip is not None and self.skip < 0:
            raise ValueError(f"skip must be 0 or more, not {self.skip}")
        if self.foot < 0:
            raise ValueError(f"foot must be 0 or more, not {self.foot}")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_characters(self) -> None:
        for name, value in (("quote", self.quote), ("delimiter", self.delimiter)):
            if value is not None and (len(value) != 1 or not value.isascii() or value in "\r\n\0"):
                raise ValueError(f"{name} must be one plain character, not {value!r}")
        if self.quote is not None and self.quote == self.delimiter:
            raise ValueError(f"quote and delimiter cannot both be {self.quote!r}")
        if self.decimal not in {".", ","}:
            raise ValueError(f'decimal must be "." or ",", not {self.decimal!r}')

    @property
    def gaps(self) -> tuple[str, ...]:
        """The words that mean a gap wherever they stand, quoted or not."""
        return (*tuple(self.missing), *(("",) if self.usual_missing else ()))

    @property
    def unquoted_gaps(self) -> tuple[str, ...]:
        """The words that mean a gap where they are not quoted: a quoted "NA" is a text."""
        return USUAL_MISSING if self.usual_missing else ()


def _refuse_encoding(encoding: str) -> None:
    """Refuse what no file of text is written in; Python has codecs for other things under such names."""
    try:
        name = codecs.lookup(encoding).name
        "a".encode(encoding)  # a codec of bytes (zlib, hex) or of texts (rot13) is refused here
        if name not in _NO_TEXT:
            return
    except (LookupError, ValueError) as error:
        if "text encoding" not in str(error) and not isinstance(error, UnicodeError):
            raise ValueError(f'unknown encoding {encoding!r}; say "utf-8", "latin-1", …') from None
    raise ValueError(f'{encoding!r} is no encoding of text files; say "utf-8", "latin-1", …')


def _checked_names(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"names must be a list of strings such as [{names!r}], not a string")
    names = tuple(names)
    twice = next((name for name, n in Counter(names).items() if n > 1), None)
    if twice is not None:
        raise ValueError(f"names holds {twice!r} twice; columns need different names")
    return names
