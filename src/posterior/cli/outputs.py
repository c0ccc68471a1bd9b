"""Where a command may write: refused before the work is done, not after."""

import os
from pathlib import Path
from typing import Any

from posterior.files import split_part

PICTURES = ("png", "svg", "pdf")


def refuse_output(path: str, *inputs: str) -> None:
    """Refuse a path that nothing can be written to, or that is one of the files that are read."""
    where = Path(path).expanduser()
    if path == "-":
        return
    if "://" in path:
        raise ValueError(
            f"{path}: files are written to this machine, whole or not at all; copy it from there"
        )
    if where.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file")
    folder = where.parent
    if not folder.is_dir():
        raise ValueError(f"there is no folder {str(folder)!r} to write {where.name} to; create it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: the folder {str(folder)!r} is read-only")
    for source in inputs:
        there = Path(split_part(source)[0]).expanduser()
        if there.exists() and where.exists() and there.samefile(where):
            raise ValueError(f"{path} is what is read, and would be lost; write to another file")


def refuse_scanned(path: str, engine: Any) -> None:
    """Refuse a path at which the next scan of the same files would take scores for rows."""
    if path != "-" and engine.would_read(Path(path)):
        raise ValueError(
            f"{path} lies where {engine.name} is read from: the next scan would take the scores "
            "for rows; write to another folder"
        )


def refuse_picture(path: str, *inputs: str) -> None:
    """Refuse a path that is not one of a picture."""
    refuse_output(path, *inputs)
    if path.rpartition(".")[2].lower() not in PICTURES:
        raise ValueError(f"{path}: the name of a picture ends in .{', .'.join(PICTURES)}")
