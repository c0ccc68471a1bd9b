"""Compressed files, and archives of one file."""

import bz2
import gzip
import lzma
import zipfile
import zlib
from typing import Any, BinaryIO

import pyarrow as pa

from posterior.files.errors import FileError
from posterior.files.signatures import Packing

# What these raise, beside OSError, when the bytes are not what they should be; RuntimeError where an archive
# is encrypted, or of a version that is not known.
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, pa.ArrowException, RuntimeError)


def unpacked(name: str, file: BinaryIO, packing: Packing | None) -> Any:
    """Return what reads the unpacked bytes of a file."""
    match packing:
        case None:
            return file
        case "gz":
            return gzip.GzipFile(fileobj=file)
        case "bz2":
            return bz2.BZ2File(file)
        case "xz":
            return lzma.LZMAFile(file)
        case "zip":
            return _only_member(name, file)
        case _:
            return pa.CompressedInputStream(file, {"zst": "zstd", "lz4": "lz4"}[packing])


def is_workbook(file: BinaryIO) -> bool:
    """Return whether an archive is an Excel workbook (.xlsx, .xlsm)."""
    try:
        with zipfile.ZipFile(file) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (OSError, *DAMAGED):
        return False


def _only_member(name: str, file: BinaryIO) -> Any:
    """Return the file in an archive that holds one, and say what it is if it is no archive of a table."""
    archive = zipfile.ZipFile(file)
    members = [
        part for part in archive.namelist() if not part.endswith("/") and not part.startswith("__MACOSX")
    ]
    if any(part.startswith(("xl/", "word/", "ppt/")) or part == "content.xml" for part in members):
        raise FileError(
            name, "looks like an Office file, not a table; save the sheet as .xlsx or CSV and read that"
        )
    if members and all(part.endswith(".npy") for part in members):
        raise FileError(name, "looks like NumPy arrays (.npz), not a table; load them with numpy.load")
    if len(members) != 1:
        few = ", ".join(members[:3]) + (", …" if len(members) > 3 else "")
        raise FileError(name, f"is an archive of {len(members)} files ({few}); unpack the one you want")
    return archive.open(members[0])
