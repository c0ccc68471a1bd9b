"""Tables from files and to files: CSV, TSV, JSON lines, Parquet, Arrow and Feather, packed or not."""

from posterior.files.errors import FileError
from posterior.files.options import FORMATS, Reading
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
    "write_batches",
    "writing",
]
