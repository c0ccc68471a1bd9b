"""A tree of JSON and tensors as values again, each checked before anything is made of it."""

import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from posterior._types import AnyArray
from posterior.persistence.container import NAMES
from posterior.persistence.encoding import FLAGS, MOST_DEPTH, Node
from posterior.persistence.errors import ModelFileError
from posterior.persistence.patterns import check_pattern
from posterior.persistence.registry import BY_TAG
from posterior.schema.columns import Alike, Column

MOST_CHARACTERS = 1 << 20
# An object may be referred to again and again; whoever walks through all of it sees it as often. That may be
# so many times as much as the file holds.
MOST_UNFOLDED = 32
# A column of a table takes so many bytes at least, in coefficients or parameters.
COLUMN_BYTES = 16
# A string array is as wide as its longest string; it may take so many times the room of the header.
WIDTH_ROOM = 64


class Decoder:
    """Reads values; `tensors` are the arrays that they hold, each of which is used once."""

    def __init__(self, tensors: Mapping[str, AnyArray], room: int) -> None:
        self._tensors, self._room = tensors, room
        self._unused = set(tensors)
        self._known: dict[int, tuple[Any, int]] = {}
        self._unfolded = 0
        self._by_tag: dict[str, tuple[set[str], Callable[..., Any]]] = {
            "ref": ({"to"}, self._reference),
            "number": ({"of"}, self._number),
            "scalar": ({"dtype", "value"}, self._scalar),
            "list": ({"items"}, self._list),
            "set": ({"items"}, self._set),
            "frozenset": ({"items"}, self._frozenset),
            "dict": ({"items"}, self._dict),
            "slice": ({"items"}, self._slice),
            "pattern": ({"of", "flags"}, self._pattern),
            "ints": ({"of"}, self._ints),
            "array": ({"of", "axes"}, self._array),
            "objects": ({"shape", "items"}, self._objects),
            "strings": ({"shape", "items", "width"}, self._strings),
            "columns": ({"same", "each"}, self._columns),
            "class": ({"of"}, self._class),
            "dtype": ({"of"}, self._dtype),
        }

    def decode(self, node: Node, depth: int = 0) -> Any:
        """The value of a node."""
        if depth > MOST_DEPTH:
            raise ModelFileError(f"is nested more than {MOST_DEPTH} deep: it is damaged, or not ours")
        self._unfolded += 1
        if isinstance(node, str) and len(node) > MOST_CHARACTERS:
            raise ModelFileError(f"holds a string of more than {MOST_CHARACTERS:,} characters")
        if isinstance(node, list):
            return tuple([self.decode(item, depth + 1) for item in node])
        if not isinstance(node, dict):
            return node
        before = self._unfolded
        parts = dict(node)
        tag, own_id = parts.pop("is", None), parts.pop("id", None)
        value = self._made(tag, parts, depth + 1)
        if own_id is not None:
            self._remember(own_id, value, self._unfolded - before)
        return value

    def finish(self) -> None:
        """Refuse a file that holds more than it uses."""
        for name in sorted(self._unused):
            raise ModelFileError(f"holds a tensor {name!r:.60} that belongs to nothing: it is damaged")

    def _made(self, tag: Any, parts: dict[str, Any], depth: int) -> Any:
        if not isinstance(tag, str):
            raise ModelFileError("holds an object that does not say what it is: it is damaged")
        if tag in BY_TAG:
            record = BY_TAG[tag]
            record.refuse_names(set(parts))
            built = record.built({name: self.decode(part, depth) for name, part in parts.items()})
            if isinstance(built, Alike) and len(built) * COLUMN_BYTES > self._room:
                raise ModelFileError(f"claims {len(built):,} columns, more than it has room for")
            return built
        if tag not in self._by_tag:
            raise ModelFileError(
                f"holds something called {tag!r:.60}, which this posterior does not know"
                + "; register its class first (posterior.persistence.register)" * ("." in tag)
            )
        names, make = self._by_tag[tag]
        if not set(parts) <= names:
            raise ModelFileError(f"holds a {tag!r} with parts that it does not have: it is damaged")
        try:
            return make(depth, **parts)
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"holds a {tag!r} that makes no sense: it is damaged") from error

    # -- references -------------------------------------------------------------------------------

    def _remember(self, own_id: Any, value: Any, size: int) -> None:
        if type(own_id) is not int or own_id in self._known:
            raise ModelFileError("holds two objects with one number: it is damaged")
        self._known[own_id] = value, size

    def _reference(self, _: int, to: Any) -> Any:
        if type(to) is not int or to not in self._known:
            raise ModelFileError("refers to an object that is not there: it is damaged")
        value, size = self._known[to]
        self._unfolded += size
        if self._unfolded > MOST_UNFOLDED * self._room:
            raise ModelFileError("refers to the same objects more often than any model does")
        return value

    def _tensor(self, name: Any) -> AnyArray:
        if not isinstance(name, str) or name not in self._unused:
            raise ModelFileError(f"has no tensor {name!r:.60}, or uses it twice: it is damaged")
        self._unused.remove(name)
        array = self._tensors[name]
        self._unfolded += array.nbytes
        return array

    # -- plain values -----------------------------------------------------------------------------

    def _number(self, _: int, of: str) -> float:
        return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[of]

    def _scalar(self, depth: int, dtype: str, value: Any) -> Any:
        found = self.decode(value, depth)
        if dtype == "str":
            return np.str_(found)
        scalar = _dtype(dtype)(found)
        if type(found) not in (bool, int, float) or repr(scalar.item()) != repr(found):
            raise ModelFileError(f"holds a scalar that is no {dtype!r:.20}: it is damaged")
        return scalar

    def _items(self, items: Any, depth: int) -> list[Any]:
        return [self.decode(item, depth) for item in _listed(items)]

    def _list(self, depth: int, items: Any) -> list[Any]:
        return self._items(items, depth)

    def _set(self, depth: int, items: Any) -> set[Any]:
        return set(self._items(items, depth))

    def _frozenset(self, depth: int, items: Any) -> frozenset[Any]:
        return frozenset(self._items(items, depth))

    def _dict(self, depth: int, items: Any) -> dict[Any, Any]:
        pairs = [self._items(pair, depth) for pair in _listed(items)]
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ModelFileError("holds a dict with one key twice: it is damaged")
        return found

    def _slice(self, depth: int, items: Any) -> slice:
        start, stop, step = self._items(items, depth)
        return slice(start, stop, step)

    def _pattern(self, _: int, of: str, flags: int) -> re.Pattern[str]:
        check_pattern(of)
        if flags & re.VERBOSE:
            raise ModelFileError(f"has the pattern {of!r:.60} with re.VERBOSE; write it without")
        if type(flags) is not int or flags & ~int(FLAGS):
            raise ModelFileError("holds a pattern that is none of ours: it is damaged")
        return re.compile(of, flags)

    def _class(self, _: int, of: str) -> type:
        return BY_TAG[of].kind

    def _dtype(self, _: int, of: str) -> type:
        return _dtype(of)

    def _columns(self, depth: int, same: dict[str, Any], each: dict[str, Any]) -> tuple[Column, ...]:
        record = BY_TAG["column"]
        if "name" not in each or set(same) & set(each):
            raise ModelFileError("holds columns with one part twice, or without names: it is damaged")
        record.refuse_names({*same, *each})
        return record.built_each(
            {name: self.decode(part, depth) for name, part in same.items()},
            {name: self._items(part, depth) for name, part in each.items()},
        )

    # -- arrays -----------------------------------------------------------------------------------

    def _array(self, _: int, of: Any, axes: Any = None) -> AnyArray:
        array = self._tensor(of)
        return array if axes is None else array.transpose(np.argsort(_permutation(axes)))

    def _ints(self, _: int, of: Any) -> tuple[int, ...]:
        array = self._tensor(of)
        if array.dtype != np.int64 or array.ndim != 1:
            raise ModelFileError("holds a row of whole numbers that is none: it is damaged")
        return tuple(array.tolist())

    def _objects(self, depth: int, shape: Any, items: Any) -> AnyArray:
        found = self._items(items, depth)
        array = np.fromiter(found, dtype=object, count=len(found))
        return array.reshape(_shape(shape, len(found)))

    def _strings(self, depth: int, shape: Any, items: Any, width: Any) -> AnyArray:
        found = self._items(items, depth)
        if type(width) is not int or not 0 <= 4 * width * len(found) <= WIDTH_ROOM * (self._room + 64):
            raise ModelFileError("holds strings of an impossible width: it is damaged")
        if not all(isinstance(item, str) and len(item) <= max(width, 1) for item in found):
            raise ModelFileError("holds strings that are none, or too long: it is damaged")
        return np.array(found, dtype=f"U{max(width, 1)}").reshape(_shape(shape, len(found)))


def _listed(items: Any) -> list[Any]:
    if not isinstance(items, list):
        raise ModelFileError("holds a container without its items: it is damaged")
    return items


def _shape(shape: Any, n: int) -> tuple[int, ...]:
    if not all(type(size) is int and 0 <= size <= n for size in _listed(shape)) or prod(shape) != n:
        raise ModelFileError("holds an array whose items do not make its shape: it is damaged")
    return tuple(shape)


def _permutation(axes: Any) -> list[int]:
    order = _listed(axes)
    if sorted(order) != list(range(len(order))):
        raise ModelFileError("holds an array with its axes in no order: it is damaged")
    return order


def _dtype(name: Any) -> type:
    """The type of a number, by one of the names that we write."""
    if name not in NAMES:
        raise ModelFileError(f"holds numbers of the unknown type {name!r:.20}: it is damaged")
    kind: type = np.dtype(name).type
    return kind
