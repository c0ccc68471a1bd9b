"""Machine code on disk: a file for each function and types, which processes may write at the same time.

What a file holds follows from its name, a fingerprint of everything that the code depends on: the sources of
all kernels, which may call each other, the types, the processor and the versions of the compiler. So two
versions of the package share a folder, no file is ever wrong for its reader, and it does not matter which of
several writers comes last. A file that cannot be read or written costs time, never the result. A process
whose sources were changed on disk after it imported them, as an upgrade does, neither reads nor writes any.
"""

import os
import pickle
import sys
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import llvmlite
import numba
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

HERE = Path(__file__).parent
DIGEST = 32  # bytes of the checksum that a file begins with


def _stamps() -> list[tuple[str, int, int]]:
    """What tells whether sources were changed, without reading them."""
    found = ((file.name, file.stat()) for file in HERE.glob("*.py"))
    return sorted((name, state.st_size, state.st_mtime_ns) for name, state in found)


# When the first of the kernels was imported. Those of a process that goes on with what it has imported would
# be kept under the name of other sources.
IMPORTED = _stamps()


@lru_cache(maxsize=1)
def _sources() -> bytes:
    return sha256(b"".join(file.read_bytes() for file in sorted(HERE.glob("*.py")))).digest()


def folders() -> list[Path]:
    """Where code may be kept: where `NUMBA_CACHE_DIR` says, else beside the source, else with the user."""
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR) / "posterior"]
    own = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir) / "posterior"
    return [HERE / "__pycache__", *([own] if own.is_absolute() else [])]  # relative: the user has no home


def file_name(function: str, signature: str, target: Any) -> str:
    """The file of a function, for these types and this processor."""
    abi = getattr(sys, "abiflags", "")  # Windows has none
    versions = (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag, abi)
    about = repr((versions, target, signature)).encode()
    return f"{function}-{sha256(_sources() + about).hexdigest()[:20]}.nbc"


def load(name: str, target_context: Any) -> Any:
    """The code of that file, None where there is none."""
    for folder in folders() if _stamps() == IMPORTED else ():
        try:
            found = (folder / name).read_bytes()
        except OSError:
            continue
        if sha256(found[DIGEST:]).digest() == found[:DIGEST]:
            return CompileResult._rebuild(target_context, *pickle.loads(found[DIGEST:]))  # noqa: S301  (ours)
    return None


def save(name: str, result: Any) -> None:
    """Keep the code in that file, where that is possible."""
    if result.library.has_dynamic_globals or _stamps() != IMPORTED:  # globals: addresses of this process
        return
    written = dumps(result._reduce())
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder / name, sha256(written).digest() + written)
        except OSError:  # no room, or not ours to write to
            continue
        return


def _write(file: Path, content: bytes) -> None:
    """Write a file so that readers see nothing or all of it."""
    draft = file.with_name(f"{file.name}.{uuid4().hex[:16]}")
    try:
        draft.write_bytes(content)
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)
