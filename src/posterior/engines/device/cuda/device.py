"""CuPy beside the library of the user's arrays: modules, arrays without a copy, and the stream they share."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from posterior._loading import load_module
from posterior._types import AnyArray, Floats
from posterior.engines.device.arrays import ArrayLibrary, count_moved
from posterior.engines.device.cuda.sources import FOLD

# Types of cells and of codes, as CUDA C calls them.
CELLS = {"float32": "float", "float64": "double"}
CODES = {"uint8": "unsigned char", "uint16": "unsigned short", "int32": "int", "int64": "long long"}
WHOLE = CODES | {"int8": "signed char", "int16": "short", "uint32": "unsigned int"}


@cache
def _cupy() -> Any:
    """CuPy, or None where it is not installed or finds no GPU."""
    try:
        cupy = load_module("cupy")
        cupy.cuda.runtime.getDeviceCount()
    except Exception:
        return None
    return cupy


def gpu(library: ArrayLibrary) -> Any:
    """CuPy, if the arrays of this library are on an NVIDIA GPU; else None."""
    if library.name == "cupy" or (library.name == "torch" and "cuda" in str(library.device)):
        return _cupy()
    return None


@contextmanager
def beside(library: ArrayLibrary) -> Iterator[Any]:
    """CuPy on the device and on the stream that the user's library works on."""
    cupy = _cupy()
    if library.name != "torch":
        with library.device if hasattr(library.device, "__enter__") else cupy.cuda.Device():
            yield cupy
        return
    torch = load_module("torch")
    index = library.device.index
    here = cupy.cuda.Device(torch.cuda.current_device() if index is None else index)
    with here, _same_stream(cupy, torch.cuda.current_stream(library.device)):
        yield cupy


def _same_stream(cupy: Any, stream: Any) -> Any:
    """PyTorch's stream as one of CuPy."""
    if hasattr(cupy.cuda.Stream, "from_external"):  # since CuPy 14
        return cupy.cuda.Stream.from_external(stream)
    return cupy.cuda.ExternalStream(stream.cuda_stream)


def as_cupy(library: ArrayLibrary, array: Any) -> Any:
    """The same memory as an array of CuPy, in C order; a copy only of what lies otherwise."""
    cupy = _cupy()
    found = array if library.name == "cupy" else cupy.from_dlpack(array)
    return cupy.ascontiguousarray(found)


def given_back(library: ArrayLibrary, array: Any) -> Any:
    """An array of CuPy as one of the user's library, without a copy."""
    return array if library.name == "cupy" else load_module("torch").from_dlpack(array)


def fetched(array: Any) -> AnyArray:
    """A small array of CuPy on the host; waits for all that was asked of its stream."""
    found = np.asarray(array.get())
    count_moved(found.nbytes)
    return found


def kernel(source: str, name: str, *defines: tuple[str, Any], room: int = 0) -> Any:
    """A kernel of a source for these numbers and types, with so many bytes of shared memory.

    It is compiled once, which CuPy keeps on disk, and found once for each GPU. The memory must follow from
    the numbers: kernels of the same ones share it.
    """
    return _kernel(_cupy().cuda.runtime.getDevice(), source, name, defines, room)


@cache
def _kernel(_device: int, source: str, name: str, defines: tuple[tuple[str, Any], ...], room: int) -> Any:
    options = tuple(f"-D{key}={value}" for key, value in defines)
    found = _cupy().RawModule(code=source, options=(*options, "-std=c++17")).get_function(name)
    if room:
        found.max_dynamic_shared_size_bytes = room
    return found


@cache
def multiprocessors(device: int) -> int:
    """How many multiprocessors a GPU has."""
    return int(_cupy().cuda.runtime.getDeviceProperties(device)["multiProcessorCount"])


def processors() -> int:
    """How many multiprocessors the current GPU has."""
    return multiprocessors(_cupy().cuda.runtime.getDevice())


@cache
def _capability(device: int) -> int:
    return int(_cupy().cuda.runtime.getDeviceProperties(device)["major"])


def has_tensor_cores() -> bool:
    """Whether the current GPU multiplies matrices of numbers of 11 bits, as NVIDIA's do since 2020."""
    return _capability(_cupy().cuda.runtime.getDevice()) >= 8


# Bytes of shared memory of a block where CUDA does not say, and what kernels have beside what is asked for.
LARGEST_BLOCK, BESIDE = 227_000, 4_096


@cache
def _shared_memory(device: int) -> int:
    found = _cupy().cuda.runtime.getDeviceProperties(device).get("sharedMemPerBlockOptin")
    return int(found or LARGEST_BLOCK)


def room_of_block() -> int:
    """Bytes of shared memory that a kernel may ask for a block of threads on the current GPU."""
    cupy = _cupy()
    return (LARGEST_BLOCK if cupy is None else _shared_memory(cupy.cuda.runtime.getDevice())) - BESIDE


def is_aligned(array: Any, size: int = 16) -> bool:
    """Whether the memory of an array of CuPy begins where vectors of so many bytes do."""
    return bool(array.data.ptr % size == 0)


def shares(n: int, blocks: int, threads: int, most: int) -> tuple[int, int]:
    """Tiles of 32 rows that each warp has, at most `most`, and how many blocks of threads that takes.

    So many blocks run at once on a processor; all of them have work until the end.
    """
    warps, groups = threads // 32, -(-n // 32)
    at_once = processors() * blocks * warps
    tiles = -(-groups // (at_once * -(-groups // (at_once * most))))
    return tiles, -(-groups // (tiles * warps))


def folded(cupy: Any, part: Any, beside: Any = None) -> tuple[Floats, Floats]:
    """Partial sums of blocks (B, size) added in the order of the blocks; with what else is to be fetched."""
    blocks, size = part.shape
    more = 0 if beside is None else beside.size
    out = cupy.empty(size + more)
    kernel(FOLD, "fold")((-(-size // 4),), (256,), (part, np.int32(blocks), np.int32(size), out))
    if beside is not None:
        out[size:] = beside
    found = fetched(out)
    return found[:size], found[size:]
