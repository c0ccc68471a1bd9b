"""Where rows live and how they are folded. Engines know chunks and `+`, never models."""

from typing import TYPE_CHECKING, Any

from posterior._loading import load_module
from posterior.engines.base import ScannedTable
from posterior.engines.local import LocalDataset
from posterior.engines.workers import n_threads, threads

if TYPE_CHECKING:
    from posterior.engines.opening import scan
    from posterior.engines.table_scan import TableScan

__all__ = ["LocalDataset", "ScannedTable", "TableScan", "n_threads", "scan", "threads"]

# What needs pyarrow is imported when it is used.
_LAZY = {"scan": "posterior.engines.opening", "TableScan": "posterior.engines.table_scan"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        try:
            return getattr(load_module(_LAZY[name]), name)
        except ModuleNotFoundError as error:
            if error.name != "pyarrow":
                raise
            raise ModuleNotFoundError(
                "rows are scanned by pyarrow, which is not installed; run `pip install 'posterior[arrow]'`",
                name="pyarrow",
            ) from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
