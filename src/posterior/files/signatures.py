"""What a file is by its first bytes: a table, a packed table, or something else that is named."""

from typing import Literal, TypeAlias

from posterior.files.errors import FileError
from posterior.files.options import Format, format_named

Packing: TypeAlias = Literal["gz", "bz2", "xz", "zst", "lz4", "zip"]

PACKINGS: dict[bytes, Packing] = {
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
}
_SUFFIXES: dict[str, Packing] = {
    "gz": "gz", "bz2": "bz2", "xz": "xz", "zst": "zst", "zstd": "zst", "lz4": "lz4", "zip": "zip",
}  # fmt: skip
_PACKERS: dict[Packing, str] = {
    "gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstandard", "lz4": "LZ4", "zip": "zip",
}  # fmt: skip

_TABLES: dict[bytes, Format] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"SQLite format 3\0": "sqlite",
    b"PK\x03\x04": "excel",  # any other archive has been unpacked
}
_DUCKDB = b"DUCK"  # after eight bytes of a checksum
_TYPED = {"parquet", "arrow", "excel", "sqlite", "duckdb"}
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_SAVE_AS = "save the sheet as .xlsx or CSV and read that"
_FOREIGN: dict[bytes, str] = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": f"an old Excel or Word file: {_SAVE_AS}",
    b"\x89HDF": "an HDF5 file: convert it to CSV or Parquet",
    b"\x93NUMPY": "a NumPy array: load it with numpy.load and use the Python interface",
    b"FEA1": "a Feather file of version 1: write it anew as Feather version 2 or Parquet",
    b"ORC": "an ORC file: convert it to Parquet",
    b"Obj\x01": "an Avro file: convert it to Parquet",
    b"RDX": "an R data file: write the table with write.csv",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    b"<?xml": "an XML document",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}
PICKLE = "a Python pickle"
_PICKLES = tuple(bytes((0x80, version)) for version in range(2, 6))
# Bytes below a space that do occur in texts: tab, line feed, form feed, carriage return, escape.
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b")


def split_suffix(name: str) -> tuple[str, Packing | None]:
    """Return the last part of a file's name that tells a format, and how the file is packed.

    >>> split_suffix("people.csv.gz"), split_suffix("people.2024.tsv"), split_suffix("people")
    (('csv', 'gz'), ('tsv', None), ('', None))
    """
    parts = name.lower().rsplit("/", 1)[-1].split(".")[1:]
    packing = _SUFFIXES.get(parts[-1]) if parts else None
    if packing is not None:
        parts.pop()
    return (parts[-1] if parts else ""), packing


def packing_of(head: bytes) -> Packing | None:
    """Return how a file is packed, by its first bytes."""
    return next((packing for magic, packing in PACKINGS.items() if head.startswith(magic)), None)


def format_of(name: str, head: bytes, encoding: str | None = None) -> Format:
    """Return the format of a file by its first bytes, or its name if they leave a doubt; refuse other things.

    >>> format_of("people.tsv", b"a,b"), format_of("-", b'{"a": 1}'), format_of("people.csv", b"PAR1")
    ('tsv', 'jsonl', 'parquet')
    """
    found = _by_signature(head)
    if found is not None:
        return found
    _refuse_other_things(name, head, is_text=encoding is not None or head.startswith(UTF16_MARKS))
    suffix = split_suffix(name)[0]
    by_name = format_named(suffix)
    if by_name in _TYPED:
        raise FileError(name, f"is named .{suffix}, but does not begin as such a file does: {_quoted(head)}")
    if by_name is not None and suffix != "txt":
        return by_name
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return "jsonl" if text[:1] in {b"{", b"["} else "csv"


def described(head: bytes) -> str:
    """Return what a file that begins like this seems to be, in words; nothing where nobody can tell.

    >>> described(bytes.fromhex("89504e470d0a1a0a")), described(b'{"a": 1}'), described(b"a,b")
    ('a PNG image', 'a JSON document', 'a text')
    """
    found, packing = _foreign(head), packing_of(head)
    if found is not None:
        return found.partition(": ")[0]
    if packing is not None:
        return f"a file packed by {_PACKERS[packing]}"
    form = _by_signature(head)
    if form is not None:
        return f"a table ({form})"
    text = head.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    if text[:1] in ("{", "["):
        return "a JSON document"
    return "" if _is_binary(head) or "\ufffd" in text[:-4] else "a text"


def _by_signature(head: bytes) -> Format | None:
    if head[8:12] == _DUCKDB:
        return "duckdb"
    return next((form for magic, form in _TABLES.items() if head.startswith(magic)), None)


def _foreign(head: bytes) -> str | None:
    """Return what a file is that holds nothing for us, with advice after a colon; None if nobody can tell."""
    if head.startswith(_PICKLES):
        return f"{PICKLE}: write the table as CSV or Parquet (a pickle can run code, and is not opened)"
    start = head[:16].lower()
    return next((what for magic, what in _FOREIGN.items() if start.startswith(magic.lower())), None)


def _refuse_other_things(name: str, head: bytes, *, is_text: bool) -> None:
    """Refuse images, documents, archives and other things that hold no table that we read."""
    found = _foreign(head)
    if found is None and head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 32:
        found = "a model file: a table of rows is needed here"
    if found is None and head[257:262] == b"ustar":
        found = "a tar archive: unpack it first"
    if found is None and len(head) > 3 and not any(head[:4096]):
        found = "nothing but NUL bytes: it may be damaged, or may never have been written"
    if found is None and not is_text and len(head) > 1 and not any(head[1:4096:2]):
        found = 'UTF-16 without its mark: pass encoding="utf-16-le" (--encoding)'
    if found is None and not is_text and _is_binary(head[:4096]):
        found = f"binary data ({_quoted(head)})"
    if found is not None:
        what, _, advice = found.partition(": ")
        raise FileError(name, f"looks like {what}, not a table" + (f"; {advice}" if advice else ""))


def _is_binary(head: bytes) -> bool:
    """Return whether bytes hold more control characters than any text would."""
    return len(head) - len(head.translate(None, _CONTROLS)) > 2 + len(head) // 100


def _quoted(head: bytes) -> str:
    return f"its first bytes are {head[:8]!r}" if head else "it is empty"
