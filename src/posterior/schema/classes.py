"""The classes of rows: labels as codes of the sorted distinct ones."""

from typing import Any

import numpy as np

from posterior import kernels
from posterior._over_rows import PART, each_part, least_and_most, taken
from posterior._types import AnyArray, Floats, Ints
from posterior.schema.cells import sorted_levels

# Whole numbers that are counted, and the size up to which all of them are doubles.
FEW, LARGEST = 1 << 10, 2.0**53


def encode_labels(labels: AnyArray, classes: Any = None) -> tuple[AnyArray, Ints]:
    """Sorted classes and the code of each row; `classes` may name some that these rows lack."""
    found, codes = distinct(labels)
    if classes is None:
        return found, codes
    wanted, places = places_among(found, classes)
    return wanted, places[codes]


def places_among(found: AnyArray, classes: Any) -> tuple[AnyArray, Ints]:
    """Classes that were named, sorted, and the places of distinct labels among them; others are refused."""
    wanted = np.unique(np.asarray(classes))
    unknown = [v for v in found.tolist() if v not in wanted.tolist()]
    if unknown:
        raise ValueError(
            f"The target label(s) {unknown} in y do not exist in the initial classes {wanted.tolist()}; name "
            "all classes in the first call"
        )
    return wanted, np.asarray(np.searchsorted(wanted, found), dtype=np.int64)


def distinct(labels: AnyArray) -> tuple[AnyArray, Ints]:
    """Sorted distinct labels and the code of each row.

    Small whole numbers are counted, strings looked up: sorting all rows would take longer than the fit.
    """
    if labels.dtype.kind in "biuf" and len(labels):
        counted = _counted(labels) if labels.dtype in (np.int64, np.int32) else None
        counted = counted or _spread(labels)
        if counted is not None:
            return counted
    if labels.dtype.kind in "OU":
        return sorted_levels(labels)
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes.reshape(-1).astype(np.int64)


def _counted(labels: AnyArray) -> tuple[AnyArray, Ints] | None:
    """Those of whole numbers from 0 on that are few, as most are, by one look at each; None of others."""
    counts = kernels.count_small(labels, FEW)
    if counts is None:
        return None
    seen = counts > 0
    found = np.flatnonzero(seen)
    if found[-1] + 1 == len(found) and labels.dtype == np.int64:
        return found, labels
    codes, code_of = np.empty(len(labels), dtype=np.int64), np.cumsum(seen) - 1

    def look_up(part: slice) -> None:
        np.take(code_of, labels[part], out=codes[part], mode="clip")  # which needs no copy of `out`

    each_part(look_up, len(labels))
    return found.astype(labels.dtype), codes


def class_weights(codes: Ints, weight: Floats | None, n_classes: int) -> Floats:
    """The weight of the rows of each class.

    >>> class_weights(np.array([0, 2, 2]), None, 3)
    array([1., 0., 2.])
    """
    if n_classes > FEW:  # sums of every part would take more memory than the rows
        return kernels.class_weights(codes, weight, n_classes)
    counts = kernels.count_small(codes, n_classes) if weight is None else None
    if counts is not None:
        return counts.astype(np.float64)
    found = np.zeros((-(-len(codes) // PART), n_classes))

    def add(part: slice) -> None:
        some = None if weight is None else weight[part]
        found[part.start // PART] = kernels.class_weights(codes[part], some, n_classes)

    each_part(add, len(codes))
    return np.asarray(found.sum(axis=0))


def _spread(labels: AnyArray) -> tuple[AnyArray, Ints] | None:
    """Those of whole numbers, of any type, in a range no wider than there are rows; None of others."""
    low, high = least_and_most(labels)
    if not (high - low < len(labels) and max(abs(low), abs(high)) < LARGEST and low % 1 == 0):
        return None
    places, broken = np.empty(len(labels), np.int64), np.zeros(-(-len(labels) // PART), np.bool_)
    first = int(low)

    def place(part: slice) -> None:
        own = labels[part].astype(np.int64)
        broken[part.start // PART] = labels.dtype.kind == "f" and (own != labels[part]).any()
        np.subtract(own, first, out=places[part])

    each_part(place, len(labels))
    if broken.any():
        return None
    n = int(high) - first + 1
    seen = class_weights(places, None, n) > 0
    found = (np.flatnonzero(seen) + first).astype(labels.dtype)
    return found, places if seen.all() else taken(np.cumsum(seen) - 1, places)


def known_codes(labels: AnyArray, classes: AnyArray) -> Ints:
    """The code of each row among sorted classes; a class that is not one of them is refused."""
    refuse_other_type(labels, classes)
    found, codes = distinct(labels)
    places = np.minimum(np.searchsorted(classes, found), len(classes) - 1)
    unknown = classes[places] != found
    if unknown.any():
        raise ValueError(
            f"y holds the class {found[unknown].tolist()[0]!r}, which is not one of the classes of the "
            f"model, {classes.tolist()}; pass the class column of training"
        )
    return np.asarray(places[codes], dtype=np.int64)


def refuse_other_type(labels: AnyArray, classes: AnyArray) -> None:
    """Raise the error of strings where the classes of a model are numbers, or the other way round."""
    if (labels.dtype.kind in "OUS") != (classes.dtype.kind in "OUS"):
        raise ValueError(
            f"y holds the class {labels.tolist()[0]!r}, and the classes of the model are "
            f"{classes.tolist()[:3]}: labels of another type; pass the class column of training"
        )


def refuse_one_class(classes: AnyArray) -> None:
    """Raise the error of a table in which there is nothing to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"the number of classes has to be greater than one; got 1 class, {classes.tolist()[0]!r}: "
            "there is nothing to tell apart, check the class column (rows of weight 0 do not count)"
        )
