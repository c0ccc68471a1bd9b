"""The bytes of a model file: safetensors, written in one way only and read with suspicion.

Eight bytes say how long the header is; the header is a JSON object, which says of each tensor its type, its
shape and where its bytes are; the bytes of the tensors follow, one after the other. Our header begins with a
digest of the whole file, in which the digest itself is taken for zeros. The safetensors library reads these
files. It does not write them: the order of its metadata changes from one run to the next.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedIOBase
from math import isfinite, prod
from typing import Any

import numpy as np

from posterior._types import AnyArray
from posterior.files.signatures import PICKLE, described
from posterior.persistence.errors import ModelFileError

FORMAT = "posterior model"
VERSION = 2

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}
NAMES = {name: code for code, name in DTYPES.items()}

START = b'{"__metadata__":{"digest":"'
ZEROS = b"0" * 64
# What a header may hold: bytes, JSON values, digits of a whole number, tensors' dimensions.
MOST_HEADER = 1 << 26
MOST_VALUES = 1 << 22
MOST_DIGITS = 20
MOST_DIMENSIONS = 8

MADE_BY = "`posterior fit` and `posterior.save` write them"
UNREADABLE = "has a header that cannot be read: it is damaged"
OTHER = "is a safetensors file, but none that posterior has written: it holds no model"
CUT = "has {found:,} bytes where its header asks for {expected:,}: it was cut off, or altered"
ALTERED = "was altered since it was written: its contents do not fit the digest in its header"


@dataclass(frozen=True)
class Tensor:
    """Where a tensor is and what it is."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @classmethod
    def read(cls, name: str, entry: Any, size: int) -> "Tensor":
        """A tensor from its entry in the header, within `size` bytes of data."""
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ModelFileError(f"has a header that describes the tensor {name!r} in another way than ours")
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise ModelFileError(f"has a tensor {name!r} of an unknown type, {dtype!r:.20}")
        if not _are_sizes(offsets, size) or len(offsets) != 2:
            raise ModelFileError(
                f"has a tensor {name!r} that ends after the file: it was cut off, or altered"
            )
        if not _are_sizes(shape, size) or len(shape) > MOST_DIMENSIONS:
            raise ModelFileError(f"has a tensor {name!r} of an impossible shape")
        found = cls(DTYPES[dtype], tuple(shape), *offsets)
        if found.end - found.begin != found.n_bytes:
            raise ModelFileError(f"has a tensor {name!r} whose bytes do not make its shape, {list(shape)}")
        return found

    @property
    def n_bytes(self) -> int:
        """How many bytes it takes."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize


def _are_sizes(values: Any, most: int) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value <= most for value in values)


@dataclass(frozen=True)
class Header:
    """What a file says of itself: its texts by name, its tensors by name, and its digest."""

    texts: Mapping[str, str]
    tensors: Mapping[str, Tensor]
    digest: bytes
    raw: bytes

    def text(self, name: str) -> str:
        """A text that there must be."""
        if name not in self.texts:
            raise ModelFileError(f"has a header without its part {name!r}: it is damaged")
        return self.texts[name]


# -- writing --------------------------------------------------------------------------------------


def packed(texts: Mapping[str, str], tensors: Mapping[str, AnyArray]) -> list[bytes | memoryview]:
    """The bytes of a file, part by part; the same for the same contents."""
    entries: dict[str, Any] = {"__metadata__": {"digest": ZEROS.decode()} | dict(sorted(texts.items()))}
    at = 0
    for name, array in tensors.items():
        entries[name] = {
            "dtype": NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = json.dumps(entries, separators=(",", ":"))
    header = text.encode("ascii") + b" " * (-len(text) % 8)
    if len(header) > MOST_HEADER or _n_values(text) > MOST_VALUES:
        raise ModelFileError(
            f"is too large for a model file: its names, categories and words take {len(header):,} bytes, and "
            f"{MOST_HEADER:,} is the limit; leave columns out, or use BagOfWords(hashing=True)"
        )
    first = len(header).to_bytes(8, "little") + header
    digest = hashlib.sha256(first)
    for array in tensors.values():
        digest.update(_bytes_of(array))
    return [first.replace(ZEROS, digest.hexdigest().encode("ascii"), 1), *map(_bytes_of, tensors.values())]


def _bytes_of(array: AnyArray) -> memoryview:
    """The bytes of an array in C order, where they are."""
    return array.reshape(-1).view(np.uint8).data


# -- reading --------------------------------------------------------------------------------------


def read_header(stream: BufferedIOBase, size: int) -> Header:
    """The header of a file of `size` bytes, checked in itself and against the size."""
    if not size:
        raise ModelFileError("is empty")
    first = stream.read(8)
    length = int.from_bytes(first, "little")
    start = stream.read(len(START))
    if not start or not start.startswith(START[: min(len(start), 2)]):
        found = described(first + start)
        found += ", which may run any program when it is opened (it was not opened)" * (found == PICKLE)
        raise ModelFileError(
            "is not a model file of posterior" + (f", but {found}" if found else "") + "; " + MADE_BY
        )
    if length > MOST_HEADER:
        raise ModelFileError(
            f"has a header of {length:,} bytes, and {MOST_HEADER:,} is the limit: it is damaged, or not ours"
        )
    if 8 + length > size:
        raise ModelFileError(CUT.format(found=size, expected=8 + length))
    if start != START or length < len(START) + len(ZEROS):
        raise ModelFileError(OTHER)
    header = start + stream.read(length - len(start))
    if len(header) != length:
        raise ModelFileError(CUT.format(found=8 + len(header), expected=8 + length))
    return _parsed(first, header, size)


def _parsed(first: bytes, header: bytes, size: int) -> Header:
    try:
        entries = read_json(header.decode("ascii"))
    except UnicodeDecodeError as error:
        raise ModelFileError(UNREADABLE) from error
    texts = entries.pop("__metadata__")
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ModelFileError("has a header that is none of ours: it is damaged")
    _refuse_version(texts)
    end = len(START) + len(ZEROS)
    digest, raw = header[len(START) : end], first + START + ZEROS + header[end:]
    if texts["digest"].encode() != digest:
        raise ModelFileError("has a digest of another kind than ours: it is damaged")
    return Header(texts, _tensors(entries, size - len(raw)), digest, raw)


def _tensors(entries: Mapping[str, Any], size: int) -> dict[str, Tensor]:
    """The tensors by name, which fill `size` bytes without holes."""
    tensors = {name: Tensor.read(name, entry, size) for name, entry in entries.items()}
    at = 0
    for name, tensor in tensors.items():
        if tensor.begin != at:
            raise ModelFileError(f"has a tensor {name!r} that overlaps another, or leaves a hole before it")
        at = tensor.end
    if at != size:
        raise ModelFileError(f"has {size:,} bytes of data where {at:,} belong: it was cut off, or altered")
    return tensors


def _refuse_version(texts: Mapping[str, str]) -> None:
    if texts.get("format") != FORMAT:
        raise ModelFileError(OTHER)
    version = texts.get("format_version", "")
    if not version.isascii() or not version.isdigit() or len(version) > MOST_DIGITS:
        raise ModelFileError("does not say in which version of the format it was written: it is damaged")
    if int(version) > VERSION:
        raise ModelFileError(
            f"was written by a newer posterior (format {int(version)}; this one reads up to {VERSION}); "
            "upgrade: pip install --upgrade posterior"
        )


def read_tensors(stream: BufferedIOBase, header: Header) -> dict[str, AnyArray]:
    """All tensors, from a stream that stands where the header ends; refused if the digest does not fit."""
    found = hashlib.sha256(header.raw)
    arrays = {}
    for name, tensor in header.tensors.items():
        arrays[name] = read_tensor(stream, tensor)
        found.update(_bytes_of(arrays[name]))
    if found.hexdigest().encode("ascii") != header.digest:
        raise ModelFileError(ALTERED)
    for name, array in arrays.items():
        if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
            raise ModelFileError(f"has a tensor {name!r} of truth values other than 0 and 1")
    return arrays


def read_tensor(stream: BufferedIOBase, tensor: Tensor) -> AnyArray:
    """The tensor at which a stream stands."""
    array: AnyArray = np.empty(tensor.shape, dtype=tensor.dtype)
    found = stream.readinto(_bytes_of(array))
    if found != tensor.n_bytes:
        raise ModelFileError(CUT.format(found=tensor.begin + found, expected=tensor.end))
    return array


# -- JSON -----------------------------------------------------------------------------------------


def read_json(text: str) -> Any:
    """A JSON document without surprises: nothing said twice, no endless numbers, not too many values."""
    if _n_values(text) > MOST_VALUES:
        raise ModelFileError(f"has a header of more than {MOST_VALUES:,} values: it is damaged, or not ours")
    try:
        return READER.decode(text)
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(UNREADABLE) from error


def _n_values(text: str) -> int:
    """No fewer than the values of a JSON document: each comes after one of these, or is the first."""
    return sum(text.count(mark) for mark in ",[{:")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ModelFileError("has a header with a whole number of too many digits: it is damaged")
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ModelFileError("has a header with a number beyond all floats: it is damaged")
    return value


def _constant(name: str) -> float:
    raise ModelFileError(f"has a header with {name}, which is no JSON: it is damaged")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("has a header that says something twice: it is damaged")
    return found


READER = json.JSONDecoder(
    parse_int=_whole, parse_float=_real, parse_constant=_constant, object_pairs_hook=_object
)
