"""Values as a tree of JSON with tensors beside it.

None, truth values, strings and numbers stand for themselves and an array of JSON is a tuple; all else is an
object of JSON that says what it `is`. An object that is met again is referred to by its `id`, so that what
was one object in memory is one again.
"""

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from posterior._text import quoted
from posterior._types import AnyArray
from posterior.persistence.container import NAMES
from posterior.persistence.errors import ModelFileError
from posterior.persistence.registry import BY_KIND
from posterior.schema import Column

Node: TypeAlias = Any

MOST_DEPTH = 100
# A longer tuple of whole numbers is a tensor, and one of columns is written part by part.
LONG = 32
# Flags of regular expressions that are part of what they mean.
FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.UNICODE


class Encoder:
    """Writes values; `tensors` are the arrays that they hold, by name.

    What has a method `summarized` is written as that, unless `rows` are to be kept.
    """

    def __init__(self, *, rows: bool = False) -> None:
        self._rows = rows
        self.tensors: dict[str, AnyArray] = {}
        self._known: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._n_ids = 0
        self._by_type: dict[type, Callable[[Any, str, int], Node]] = {
            int: _number,
            float: _number,
            np.ndarray: self._array,
            np.memmap: self._array,
            tuple: self._tuple,
            list: self._items,
            set: self._sorted,
            frozenset: self._sorted,
            slice: self._slice,
            re.Pattern: self._pattern,
        }

    def encode(self, value: Any, place: str, depth: int = 0) -> Node:
        """A value as JSON; `place` says in messages and in names of tensors where it is."""
        if depth > MOST_DEPTH:
            raise ModelFileError(f"is nested more than {MOST_DEPTH} deep in {place}")
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if id(value) in self._known:
            return self._reference(self._known[id(value)][1])
        write = self._record if kind in BY_KIND else self._by_type.get(kind, self._other)
        return write(value, place, depth + 1)

    def _other(self, value: Any, place: str, depth: int) -> Node:
        if isinstance(value, np.str_):
            return {"is": "scalar", "dtype": "str", "value": str(value)}
        if isinstance(value, np.generic) and value.dtype.name in NAMES:
            return {"is": "scalar", "dtype": value.dtype.name, "value": _number(value.item(), place, depth)}
        if isinstance(value, type) and value in BY_KIND:
            return {"is": "class", "of": BY_KIND[value].tag}
        if isinstance(value, type) and issubclass(value, np.generic) and np.dtype(value).name in NAMES:
            return {"is": "dtype", "of": np.dtype(value).name}
        if isinstance(value, Mapping):
            return self._mapping(value, place, depth)
        shown = " ".join(quoted(value).split())
        raise ModelFileError(f"has {shown} in {place}, and {_why_not(value)}")

    # -- one object, however often it is met ------------------------------------------------------

    def _once(self, value: Any, node: dict[str, Any]) -> dict[str, Any]:
        self._known[id(value)] = value, node  # the value too, lest another gets its id
        return node

    def _reference(self, node: dict[str, Any]) -> Node:
        if "id" not in node:
            node["id"] = self._n_ids
            self._n_ids += 1
        return {"is": "ref", "to": node["id"]}

    # -- containers -------------------------------------------------------------------------------

    def _each(self, values: Any, place: str, depth: int) -> list[Node]:
        return [self.encode(value, f"{place}[{i}]", depth) for i, value in enumerate(values)]

    def _tuple(self, value: tuple[Any, ...], place: str, depth: int) -> Node:
        if len(value) > LONG and all(type(item) is Column for item in value):
            return self._once(value, self._columns(value, place, depth))
        if len(value) <= LONG or not all(type(item) is int and abs(item) < 2**63 for item in value):
            return self._each(value, place, depth)
        return self._once(value, {"is": "ints", "of": self._tensor(np.array(value, dtype=np.int64), place)})

    def _columns(self, columns: tuple[Column, ...], place: str, depth: int) -> dict[str, Any]:
        """The columns of a wide table: what all have in common once, the rest as a list for each part."""
        same, each = {}, {}
        for name in BY_KIND[Column].hints:
            values = [getattr(column, name) for column in columns]
            first = values[0]
            if all(type(value) is type(first) and value == first for value in values) and name != "name":
                same[name] = self.encode(first, f"{place}.{name}", depth)
            else:
                each[name] = self._each(values, f"{place}.{name}", depth)
        return {"is": "columns", "same": same, "each": each}

    def _items(self, value: list[Any], place: str, depth: int) -> Node:
        return {"is": "list", "items": self._each(value, place, depth)}

    def _sorted(self, value: Any, place: str, depth: int) -> Node:
        items = sorted(value, key=lambda item: (type(item).__name__, repr(item)))
        return {"is": type(value).__name__, "items": self._each(items, place, depth)}

    def _mapping(self, value: Mapping[Any, Any], place: str, depth: int) -> Node:
        pairs = [
            [self.encode(k, f"a key of {place}", depth), self.encode(v, f"{place}[{quoted(k)}]", depth)]
            for k, v in value.items()
        ]
        return {"is": "dict", "items": pairs}

    def _slice(self, value: slice, place: str, depth: int) -> Node:
        return {"is": "slice", "items": self._each((value.start, value.stop, value.step), place, depth)}

    def _pattern(self, value: re.Pattern[Any], place: str, _: int) -> Node:
        if not isinstance(value.pattern, str):
            raise ModelFileError(f"has a pattern of bytes in {place}; write it as a string")
        return {"is": "pattern", "of": value.pattern, "flags": int(value.flags & FLAGS)}

    # -- arrays and objects -----------------------------------------------------------------------

    def _array(self, value: AnyArray, place: str, depth: int) -> Node:
        if value.dtype.kind in "OU":
            items = [
                self.encode(item, f"{place}[{i}]", depth) for i, item in enumerate(value.ravel().tolist())
            ]
            node: dict[str, Any] = {"is": "objects", "shape": list(value.shape), "items": items}
            if value.dtype.kind == "U":
                node |= {"is": "strings", "width": value.dtype.itemsize // 4}
            return self._once(value, node)
        if value.dtype.name not in NAMES:
            raise ModelFileError(f"has {value.dtype} values in {place}, which have no place in a model file")
        # As it lies in memory, for sums over it to give the same bits: BLAS adds in another order otherwise.
        axes = sorted(range(value.ndim), key=lambda axis: -abs(value.strides[axis]))
        node = {"is": "array", "of": self._tensor(value.transpose(axes), place)}
        if axes != list(range(value.ndim)):
            node["axes"] = axes
        return self._once(value, node)

    def _tensor(self, array: AnyArray, place: str) -> str:
        name, again = place, 1
        while name in self.tensors:
            again += 1
            name = f"{place} ({again})"
        self.tensors[name] = np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=None)
        return name

    def _record(self, value: Any, place: str, depth: int) -> Node:
        record = BY_KIND[type(value)]
        node: dict[str, Any] = {"is": record.tag}
        kept = value if self._rows or not hasattr(value, "summarized") else value.summarized()
        for name, part in record.apart(kept).items():
            node[name] = self.encode(part, f"{place}.{name}" if place else name, depth)
        return self._once(value, node)


def _number(value: Any, place: str, _: int) -> Node:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ModelFileError(f"has {quoted(value)} in {place}, a number of more than 64 bits")
        return value
    return value if isfinite(value) else {"is": "number", "of": repr(value)}


def _why_not(value: Any) -> str:
    """Why a value has no place in a model file, and what to do."""
    name = type(value).__name__
    if isinstance(value, BaseEstimator):
        return (
            f"a model file holds estimators of this library only, exactly as they are, no {name}; keep that "
            "one by other means (skops, ONNX), and put this library's estimator around it when it is loaded"
        )
    if callable(value):
        return (
            "a function or a class of one's own is a program, of which a model file holds none; use names, "
            "positions or settings instead"
        )
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return "the state of a generator is not kept; set a whole number as the seed"
    if hasattr(value, "to_numpy") or hasattr(value, "to_pylist"):
        return "a data frame or a column of one is not kept; pass an array or a dict"
    return f"a model file holds no {name}; use numbers, strings, arrays, lists or dicts"
