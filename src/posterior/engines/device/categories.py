"""Categories that are numbers, as codes on a device, and the distinct numbers of a column."""

from typing import Any

import numpy as np

from posterior.engines.device.arrays import ArrayLibrary
from posterior.schema import Column


def levels_of(library: ArrayLibrary, cells: Any, column: Column) -> Any:
    """The codes of the cells of a column: −1 for missing, the number of categories for what is new."""
    known = column.levels
    if known is None or not all(isinstance(level, int | float | bool) for level in known):
        raise ValueError(
            f"column {column.name!r} has categories that are no numbers, such as "
            f"{(known or ('none',))[0]!r}, and an array on a device holds numbers; pass the kind of table "
            "that the model was fitted to"
        )
    xp, n = library.xp, len(known)
    sorted_levels = np.asarray(known, dtype=np.float64)
    if column.single:
        sorted_levels = sorted_levels.astype(np.float32).astype(np.float64)
    missing = xp.isnan(cells)
    if n == 0:
        new = xp.zeros(cells.shape, dtype=xp.int64, device=library.device)
        return xp.where(missing, new - 1, new)
    values = library.to_device(sorted_levels)
    safe = xp.where(missing, xp.zeros_like(cells), cells)
    place = xp.astype(xp.searchsorted(values, safe), xp.int64)
    place = xp.where(place >= n, xp.zeros_like(place) + (n - 1), place)
    found = xp.take(values, place, axis=0) == safe
    codes = xp.where(found, place, xp.zeros_like(place) + n)
    return xp.where(missing, xp.zeros_like(codes) - 1, codes)


def distinct(library: ArrayLibrary, cells: Any) -> Any:
    """The sorted distinct numbers of a column, gaps left out, on the device."""
    xp = library.xp
    if xp.isdtype(cells.dtype, "real floating"):
        cells = cells[~xp.isnan(cells)]
    return xp.unique_values(cells)


def places_of(library: ArrayLibrary, cells: Any, values: Any) -> Any:
    """Where cells are among sorted values, which hold all of them: −1 for missing."""
    xp, missing = library.xp, library.xp.isnan(cells)
    place = xp.astype(xp.searchsorted(values, xp.where(missing, xp.zeros_like(cells), cells)), xp.int64)
    return xp.where(missing, xp.zeros_like(place) - 1, place)
