"""What a model file says of itself, as plain data; no object is made of it."""

import os
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from typing import Any

from posterior.persistence.container import Header, read_header, read_json, read_tensor
from posterior.persistence.encoding import Node
from posterior.persistence.errors import ModelFileError
from posterior.persistence.estimators import ESTIMATORS, default_settings
from posterior.persistence.loading import opened

# An array of more numbers than this is described, not listed.
LISTED = 1000
# Values that a description may have; references repeat what they refer to.
MOST_SAID = 1 << 22
CONTAINERS = ("list", "set", "frozenset", "slice", "objects", "strings")


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Estimator, settings, classes, columns and versions of a model file, as plain data.

    Only the header is read, and short arrays; what it says is not held against the digest of the file, which
    `load` does.

    >>> import os, tempfile
    >>> from posterior import GaussianNB
    >>> from posterior.persistence import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "model.safetensors")
    ...     save(GaussianNB().fit([[-2.0], [-1.0], [1.0], [3.0]], ["low", "low", "high", "high"]), file)
    ...     found = describe(file)
    >>> found["estimator"], found["settings"], found["classes"]
    ('GaussianNB', {'priors': None, 'var_smoothing': 1e-09}, ['high', 'low'])
    >>> found["columns"]
    [{'name': 'x0', 'kind': 'continuous', 'levels': None, 'why': 'declared'}]
    """
    with opened(path) as (stream, size):
        return described(stream, size)


def described(stream: BufferedIOBase, size: int) -> dict[str, Any]:
    """What a stream of `size` bytes says of the model in it."""
    header = read_header(stream, size)
    try:
        return _described(header, _Speaker(stream, header))
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError("has a header that makes no sense: it is damaged") from error


def _described(header: Header, speaker: "_Speaker") -> dict[str, Any]:
    tree = read_json(header.text("model"))
    kind = ESTIMATORS[tree["is"]]
    nodes = list(_every(tree))
    speaker.remember(nodes)
    schema = next(node for node in nodes if node.get("is") == "schema")
    classes = (node[name] for node in nodes for name in ("classes_", "classes") if name in node)
    return {
        "estimator": kind.__name__,
        "settings": {
            name: speaker.say(tree[name]) if name in tree else default_settings(kind)[name]
            for name in kind._get_param_names()
        },
        "classes": speaker.say(next(classes, None)),
        "columns": _columns(schema["columns"]),
        "about": _about(header),
        "format_version": int(header.text("format_version")),
        "library_versions": read_json(header.text("library_versions")),
    }


def _about(header: Header) -> dict[str, Any]:
    """What was to be remembered with the model."""
    about = read_json(header.texts.get("about", "{}"))
    if not isinstance(about, dict):
        raise ModelFileError("has a header that makes no sense: it is damaged")
    return about


def _every(tree: Node) -> Iterator[dict[str, Any]]:
    """All objects of a tree, those that come first in the file first."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += reversed(node.values())
        elif isinstance(node, list):
            waiting += reversed(node)


def _columns(node: Node) -> list[dict[str, Any]]:
    """What is known of each column; very many that differ in nothing but their names are said at once."""
    if isinstance(node, list):
        return [_column(column) for column in node]
    if node["is"] == "columns":
        rows = zip(*node["each"].values(), strict=True)
        return [_column({**node["same"], **dict(zip(node["each"], row, strict=True))}) for row in rows]
    example, n = _column(node["example"]), node["n"]
    names = [f"x{j}" for j in range(n)] if n <= LISTED else [f"x0 to x{n - 1}"]
    return [example | {"name": name} for name in names]


def _column(node: Node) -> dict[str, Any]:
    return {"name": node["name"], "kind": node["kind"], "levels": node["categories"], "why": node["reason"]}


class _Speaker:
    """Says nodes in plain data."""

    def __init__(self, stream: BufferedIOBase, header: Header) -> None:
        self._stream, self._header = stream, header
        self._known: dict[Any, Node] = {}
        self._left = MOST_SAID
        self._by_tag: dict[str, Callable[[dict[str, Any]], Any]] = {
            "ref": lambda node: self.say(self._known[node["to"]]),
            "number": lambda node: float(node["of"]),
            "scalar": lambda node: self.say(node["value"]),
            "dict": self._dict,
            "array": self._numbers,
            "ints": self._numbers,
            **dict.fromkeys(CONTAINERS, lambda node: self.say(node["items"])),
        }

    def remember(self, nodes: list[dict[str, Any]]) -> None:
        """Know what references refer to."""
        self._known = {node["id"]: node for node in nodes if "id" in node}

    def say(self, node: Node) -> Any:
        """A node as None, truth value, number, string, list or dict."""
        self._left -= 1
        if self._left < 0:
            raise ModelFileError("refers to the same objects more often than any model does")
        if isinstance(node, list):
            return [self.say(item) for item in node]
        if not isinstance(node, dict):
            return node
        return self._by_tag.get(node["is"], self._parts)(node)

    def _parts(self, node: dict[str, Any]) -> Any:
        return {name: self.say(part) for name, part in node.items() if name != "id"}

    def _dict(self, node: dict[str, Any]) -> Any:
        return {str(self.say(key)): self.say(value) for key, value in node["items"]}

    def _numbers(self, node: dict[str, Any]) -> Any:
        tensor = self._header.tensors[node["of"]]
        if tensor.n_bytes > 8 * LISTED:
            return f"{' × '.join(map(str, tensor.shape))} numbers ({tensor.dtype})"
        self._stream.seek(len(self._header.raw) + tensor.begin)
        return read_tensor(self._stream, tensor).tolist()
