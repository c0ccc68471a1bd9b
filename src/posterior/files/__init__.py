"""Tables from files and to files: CSV, TSV, JSON, Parquet, Arrow and Feather; from Excel, SQLite, DuckDB."""

from posterior.files.errors import FileError
from posterior.files.options import FORMATS, Reading
from posterior.files.parts import split_part
from posterior.files.reading import batches, default_target, is_bundled, read
from posterior.files.writing import write_batches, writing

__all__ = [
    "FORMATS",
    "FileError",
    "Reading",
    "batches",
    "default_target",
    "is_bundled",
    "read",
    "split_part",
    "write_batches",
    "writing",
]
