"""Class labels that are whole numbers close together, as codes, in two readings."""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.engines.device.arrays import ArrayLibrary
from posterior.engines.device.cuda.device import (
    CODES,
    WHOLE,
    as_cupy,
    beside,
    fetched,
    given_back,
    gpu,
    kernel,
    processors,
)
from posterior.engines.device.cuda.sources import LABELS

# Labels that are further apart are sorted.
WIDEST = 4096
THREADS = 256


def label_codes(library: ArrayLibrary, labels: Any) -> tuple[AnyArray, Any] | None:
    """Sorted distinct labels on the host, and codes on the device, in as few bytes as will do."""
    if gpu(library) is None or labels.ndim != 1 or not labels.shape[0]:
        return None
    with beside(library) as cupy:
        y = as_cupy(library, labels)
        if y.dtype.name not in WHOLE:
            return None
        n, grid = np.int64(y.size), (8 * processors(),)
        look = kernel(LABELS, "min_max", ("LT", WHOLE[y.dtype.name]), ("CT", "int"), ("NV", 1))
        ends = cupy.array([2**63 - 1, -(2**63)], dtype=np.int64)
        look(grid, (THREADS,), (y, n, ends))
        low, high = fetched(ends).tolist()
        if high - low >= WIDEST:
            return None
        width = high - low + 1
        narrow = np.uint8 if width <= 255 else np.uint16
        wide = 1 << max(width - 1, 1).bit_length()
        types = ("LT", WHOLE[y.dtype.name]), ("CT", CODES[np.dtype(narrow).name])
        encode = kernel(LABELS, "codes", *types, ("NV", max(wide, 32)))
        codes, seen = cupy.empty(y.shape, narrow), cupy.zeros(max(wide, 32), np.uint64)
        encode(grid, (THREADS,), (y, n, np.int64(low), codes, seen))
        there = np.flatnonzero(fetched(seen)[:width])
        if len(there) < width:
            new = np.zeros(width, dtype=narrow)
            new[there] = np.arange(len(there))
            codes = cupy.asarray(new)[codes]
        return (there + low).astype(y.dtype), given_back(library, codes)


def class_weights(rows: Any) -> Floats | None:
    """The weight of each class, (K,)."""
    library = rows.library
    if gpu(library) is None or rows.n_classes > WIDEST:
        return None
    if rows.weight is not None:  # bincount adds weights by atomics, in another order each time
        return None
    with beside(library) as cupy:
        y = as_cupy(library, rows.codes)
        if y.dtype.name not in CODES:
            return None
        n, wide = np.int64(y.size), max(1 << (rows.n_classes - 1).bit_length(), 32)
        types = ("LT", CODES[y.dtype.name]), ("CT", CODES[y.dtype.name])
        count = kernel(LABELS, "codes", *types, ("NV", wide))
        same, seen = cupy.empty(y.shape, y.dtype), cupy.zeros(wide, np.uint64)
        count((8 * processors(),), (THREADS,), (y, n, np.int64(0), same, seen))
        return fetched(seen)[: rows.n_classes].astype(np.float64)
