"""Model files that were altered, by accident and on purpose, each again from its name, seed and number.

The forger knows how a model file is built: it changes the tree of values and the tensors by their types, and
makes the digest fit.
"""

import hashlib
import json
from copy import deepcopy

import numpy as np

from posterior.persistence.container import DTYPES, START
from posterior.persistence.registry import BY_TAG

TAGS = [*BY_TAG, "list", "dict", "array", "ints", "strings", "ref", "class"]
WORDS = (
    "",
    "auto",
    "codes",
    "matrix",
    "texts",
    "values",
    "categorical",
    "text",
    "\x1b[2J",
    "x" * 999,
    "(a+)+$",
)
VALUES = (
    *(None, True, False, 0, 1, -1, 3, 100, 2**31, 2**40, 2**62, -(2**63), 2**64, 10**30),
    *(0.0, -0.0, 0.5, -1.5, 1e-300, 1e300, -1e308, *WORDS),
    *([], [0], [1, 2], [[]], [None, "a", 1]),
    *({"is": "number", "of": kind} for kind in ("nan", "inf", "-inf", "1")),
    *({"is": "ref", "to": number} for number in (0, 1, 99)),
    {"is": "list", "items": []},
    {"is": "dict", "items": [["a", 1]]},
    {"is": "strings", "items": ["a"], "shape": [1], "width": 2**40},
    {"is": "scalar", "dtype": "float64", "value": 1.5},
    {"is": "pattern", "of": "(a+)+$", "flags": 0},
    {"is": "class", "of": "normal"},
    {"is": "slice", "items": [None, None, 0]},
    {"is": "objects", "items": ["a", None], "shape": [2]},
)
NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, -1e308, 1e-320, 1e150, 0.5, 2.0, -0.3)
WHOLE = (-1, 0, 1, 2, 5, 100, 2**40, -(2**63))


# -- the parts of a file --------------------------------------------------------------------------


def apart(data):
    """The entries of the header, the tree of the model, and the data."""
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    return entries, json.loads(entries["__metadata__"]["model"]), data[8 + length :]


def together(entries, tree, data):
    """The file of these parts, with a digest that fits."""
    entries["__metadata__"]["model"] = json.dumps(tree)
    header = json.dumps(entries, separators=(",", ":")).encode()
    return with_digest(len(header).to_bytes(8, "little") + header + data)


def with_digest(data):
    """The file with a digest that fits, if there is room for one."""
    at = 8 + len(START)
    blank = data[:at] + b"0" * 64 + data[at + 64 :]
    return data[:at] + hashlib.sha256(blank).hexdigest().encode() + data[at + 64 :]


def one_of(rng, values):
    """A value drawn at random."""
    return deepcopy(values[rng.integers(len(values))])


def one_of_these(rng, values):
    """A value drawn at random, itself; None of none."""
    return values[rng.integers(len(values))] if values else None


# -- accidents ------------------------------------------------------------------------------------


def altered_bytes(data, rng):
    """Bits turned, the end lost, bytes overwritten, moved, put in or left out."""
    out, at, n = bytearray(data), int(rng.integers(len(data))), int(rng.integers(1, 99))
    match rng.integers(6):
        case 0:
            out[at] ^= 1 << rng.integers(8)
        case 1:
            del out[at:]
        case 2:
            out[at] = rng.integers(256)
        case 3:
            start = int(rng.integers(len(data)))
            out[at : at + n] = data[start : start + n]
        case 4:
            out[at:at] = rng.bytes(n)
        case 5:
            del out[at : at + n]
    return bytes(out)


# -- intent ---------------------------------------------------------------------------------------


def places_in(tree):
    """Every place of a tree, as a container and a key."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            found.append((node, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return found


def alter_tree(tree, rng):
    """A value replaced, left out, copied from elsewhere, swapped, renamed, made longer or put in a list."""
    places = places_in(tree)
    (node, key), (other, at) = (places[i] for i in rng.integers(len(places), size=2))
    value = node[key]
    match rng.integers(8):
        case 0 | 1:
            node[key] = one_of(rng, VALUES)
        case 2:
            del node[key]
        case 3:
            node[key] = deepcopy(other[at])
        case 4:
            node[key], other[at] = deepcopy(other[at]), deepcopy(value)
        case 5:
            node[key] = near(value, rng)
        case 6:
            node[key] = [value]
        case 7 if isinstance(node, dict):
            node[one_of(rng, ("is", "id", "of", "axes", "items", "columns", "extra"))] = one_of(rng, VALUES)
        case 7:
            node.insert(key, one_of(rng, VALUES))


def near(value, rng):
    """A value of the same type that is a little different."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.integers(-2, 3))
    if isinstance(value, float):
        return value * one_of(rng, (-1.0, 0.0, 1e-200, 1e200, 2.0))
    if isinstance(value, str):
        return value[:-1] or "x"
    if isinstance(value, list):
        return [*value[1:], *value[:1]] if rng.random() < 0.5 else value + value[:1]
    return value | {"is": one_of(rng, TAGS)} if isinstance(value, dict) else 0


def alter_part(tree, rng):
    """A part of an object replaced by another value, by that of another object, or by one a little different.

    Objects are drawn before their parts: a setting is as likely to be changed as one of a thousand columns.
    """
    objects = [node[key] for node, key in places_in([tree]) if isinstance(node[key], dict)]
    objects = [node for node in objects if str(node.get("is")) in BY_TAG and len(node) > 1]
    if not objects:
        return
    node, other = one_of_these(rng, objects), one_of_these(rng, objects)
    name = one_of_these(rng, [key for key in node if key != "is"])
    match rng.integers(5):
        case 0:
            node[name] = one_of(rng, VALUES)
        case 1:
            node[name] = near(node[name], rng)
        case 2:
            node[name] = deepcopy(other[one_of_these(rng, list(other))])
        case 3 if name in other:
            node[name], other[name] = other[name], node[name]
        case 3:
            node["is"] = one_of(rng, TAGS)
        case 4:
            for _ in range(int(rng.choice([1, 5, 200]))):
                node[name] = [node[name]]


def alter_tensor(entries, data, rng):
    """All numbers of a tensor replaced by one, scaled, permuted, or taken from anywhere."""
    entry = one_of_these(rng, there(entries, data))
    if entry is None:
        return data
    begin, end = entry["data_offsets"]
    old = np.frombuffer(data[begin:end], np.float64 if entry["dtype"] == "F64" else np.int64)
    match rng.integers(4):
        case 0:
            new = np.full_like(old, one_of(rng, NUMBERS if old.dtype == float else WHOLE))
        case 1:
            with np.errstate(all="ignore"):
                new = (old * rng.choice([-1.0, 0.0, 1e-160, 1e160, 3.0])).astype(old.dtype)
        case 2:
            new = rng.permutation(old)
        case 3:
            start = int(rng.integers(len(data) - (end - begin) + 1)) // 8 * 8
            new = np.frombuffer(data[start : start + end - begin], np.uint8)
    return data[:begin] + new.tobytes() + data[end:]


def there(entries, data):
    """The tensors of numbers that are where their entries say."""
    tensors = [e for name, e in entries.items() if name != "__metadata__" and e["dtype"] in ("F64", "I64")]
    spans = [(e, *e["data_offsets"]) for e in tensors]
    return [e for e, begin, end in spans if 0 <= begin < end <= len(data) and (end - begin) % 8 == 0]


def alter_numbers(entries, data, rng):
    """A number of a tensor replaced by one that is none, negative, huge, or a little different."""
    entry = one_of_these(rng, there(entries, data))
    if entry is None:
        return data
    at = entry["data_offsets"][0] + 8 * int(rng.integers(np.diff(entry["data_offsets"])[0] // 8))
    if entry["dtype"] == "I64":
        new = np.int64(one_of(rng, WHOLE))
    elif rng.random() < 0.7:
        new = np.float64(one_of(rng, NUMBERS))
    else:
        with np.errstate(over="ignore"):
            new = np.frombuffer(data, np.float64, 1, at)[0] * rng.choice([-1.0, 1e10, 1e-10, 1.0001])
    return data[:at] + new.tobytes() + data[at + 8 :]


def alter_tensors(entries, rng):
    """A tensor of another type, of another shape, elsewhere, or where another is."""
    names = [name for name in entries if name != "__metadata__"]
    if not names:
        return
    entry, other = (entries[name] for name in rng.choice(names, 2))
    shape = entry["shape"]
    match rng.integers(6):
        case 0:
            entry["dtype"] = one_of(rng, ("F64", "I64", "U64", "F32", "BOOL", "U8", "C64", ""))
        case 1:
            entry["shape"] = shape[::-1]
        case 2:
            entry["shape"] = [int(np.prod(shape))]
        case 3:
            entry["shape"] = [*shape, 1]
        case 4:
            entry["shape"] = [one_of(rng, (0, 1, -1, 2**40, 10**30)), *shape[1:]]
        case 5:
            entry["data_offsets"] = [entry["data_offsets"][0], other["data_offsets"][1]]


def resize(entries, data, rng):
    """A tensor that is longer or shorter along its first axis, or of another type, with the bytes for it."""
    names = [name for name in entries if name != "__metadata__"]
    name = one_of_these(rng, names)
    if name is None:
        return data
    begin, end = entries[name]["data_offsets"]
    dtype, shape = np.dtype(DTYPES.get(entries[name]["dtype"], "uint8")), entries[name]["shape"]
    try:
        array = np.frombuffer(data[begin:end], dtype).reshape(shape)
        match rng.integers(3):
            case 0:
                array = array[: int(rng.integers(len(array) + 1))]
            case 1:
                array = np.concatenate([array, array[: int(rng.integers(1, 3))]])
            case 2:
                with np.errstate(all="ignore"):
                    array = array.astype(DTYPES[one_of(rng, [*DTYPES])])
    except (ValueError, TypeError, IndexError):  # the file does not hold such a tensor any more
        return data
    codes = {name: code for code, name in DTYPES.items()}
    longer = len(array.tobytes()) - (end - begin)
    entries[name] |= {"dtype": codes[array.dtype.name], "shape": list(array.shape)}
    for other in names[names.index(name) :]:
        offsets = entries[other]["data_offsets"]
        entries[other]["data_offsets"] = [offsets[0] + (longer if other != name else 0), offsets[1] + longer]
    return data[:begin] + array.tobytes() + data[end:]


def forged(data, rng):
    """A file that was altered on purpose: one part or a few, and a digest that fits."""
    if rng.random() < 0.05:
        return with_digest(altered_bytes(data, rng))
    entries, tree, numbers = apart(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        part = rng.random()
        if part < 0.25:
            alter_tree(tree, rng)
        elif part < 0.6:
            alter_part(tree, rng)
        elif part < 0.75:
            numbers = alter_numbers(entries, numbers, rng)
        elif part < 0.9:
            numbers = alter_tensor(entries, numbers, rng)
        elif part < 0.95:
            numbers = resize(entries, numbers, rng)
        else:
            alter_tensors(entries, rng)
    return together(entries, tree, numbers)


def forgery(data, seed, number):
    """The forged file of this number; the same for the same seed."""
    return forged(data, np.random.default_rng([seed, number]))
