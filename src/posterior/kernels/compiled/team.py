"""Threads that run a kernel without ever being in Python.

A thread of Python needs the interpreter's lock before it is in compiled code. The lock is handed on from one
to the next, each of which has to wake up first: the last of sixteen threads began a millisecond and a half
after the first. So the calling thread alone is one of Python. The others are made by the operating system,
with the kernel as all that they do, and end with it. Nothing waits for work between two passes, and nothing
is left behind by a fork.
"""

import ctypes
import os
from collections.abc import Callable
from threading import get_ident
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.compiler_lock import global_compiler_lock

from posterior._pool import each
from posterior._types import AnyArray, Ints
from posterior.kernels.compiled.jit import kernel
from posterior.kernels.memory import team_memory
from posterior.kernels.shares import take_parts

# Threads as POSIX has them: not on Windows.
POSIX = os.name == "posix"
# What a thread is handed, in words of 8 bytes: the address of the kernel, its status and what it returned,
# once it has ended, and its arguments.
STATUS, RETURNED, ARGUMENTS = 1, 2, 3
WORD = ir.IntType(64)
# Words of an array before its address: who owns it (two, of nobody here), its cells, and bytes of a cell.
BEFORE_ADDRESS = 4
# Bytes of a thread's stack, of which kernels use little; and of what describes how a thread is to be made.
STACK, DESCRIPTION = 1 << 21, 256
# As many parts as there are.
ALL = 1 << 62

pthread_create = types.ExternalFunction(
    "pthread_create", types.intc(types.intp, types.intp, types.intp, types.intp)
)
pthread_join = types.ExternalFunction("pthread_join", types.intc(types.uint64, types.intp))


@kernel("void(uint64[::1], int64, int64, int64[:, ::1])")
def begin_threads(threads: AnyArray, description: int, begin: int, orders: Ints) -> None:
    """Begin a thread for each order, or as many as the system allows; those of the others stay 0."""
    for i in range(len(threads)):
        thread, order = threads[i:].ctypes.data, orders[i].ctypes.data
        if pthread_create(thread, description, begin, order):
            threads[i] = 0
            break


@kernel("void(uint64[::1])")
def await_threads(threads: AnyArray) -> None:
    """Wait for all threads that were begun. One call: Ctrl-C never comes between two of them."""
    for i in range(len(threads)):
        if threads[i]:
            pthread_join(threads[i], 0)
            threads[i] = 0


class Entry:
    """A compiled function as threads of the operating system call it.

    Of the arrays whose names are among its `own`, every thread has another.
    """

    def __init__(self, compiled: Any, own: tuple[str, ...]) -> None:
        described, context = compiled.fndesc, compiled.target_context
        self._types, self._own = described.argtypes, {described.args.index(name) for name in own}
        self._most = described.args.index("most")
        self.says = described.restype == types.boolean
        function = context.call_conv.get_function_type(described.restype, described.argtypes)
        words = sum(5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1 for kind in self._types)
        if words != len(function.args) - 2:  # less room for what it returns, and for an error
            raise TypeError(f"{described.qualname} takes arguments that are not arrays or numbers")
        self._kernel = compiled.library.get_pointer_to_function(described.llvm_func_name)
        self.begin = _beginning(context, function)

    def orders(self, arguments: tuple[Any, ...], n: int) -> tuple[Ints, Any]:
        """What n threads are handed, a line each, and what must be there as long as they run.

        They are those of the calling thread, but for their own arrays, and for how many parts they take.
        """
        words, places = [self._kernel, 0, 0], []
        for i, (kind, argument) in enumerate(zip(self._types, arguments, strict=True)):
            if i in self._own:
                places.append((len(words) + BEFORE_ADDRESS, argument.nbytes))
            words += _words(kind, ALL if i == self._most else argument)
        orders = np.tile(np.array(words, np.int64), (n, 1))
        memory = [team_memory(use, n, size) for use, (_, size) in enumerate(places)]
        for (place, _), room in zip(places, memory, strict=True):
            orders[:, place] = _address(room) + room.strides[0] * np.arange(n)
        return orders, (memory, arguments)


def _words(kind: Any, argument: Any) -> list[int]:
    """An argument as compiled code takes it: an array as a list of numbers."""
    if isinstance(kind, types.Array):
        n, size = argument.size, argument.itemsize
        return [0, 0, n, size, _address(argument), *argument.shape, *argument.strides]
    if isinstance(kind, types.Float):
        return [int(np.float64(argument).view(np.int64))]
    return [int(argument)]


def _address(array: AnyArray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


# By the type of the kernel: libraries of compiled code, and the address of a function in it.
_beginnings: dict[str, tuple[Any, int]] = {}


def _beginning(context: Any, function: ir.FunctionType) -> int:
    """The address of what a thread begins with: it calls the kernel of this type with what it is handed."""
    name = str(function)
    with global_compiler_lock:
        if name not in _beginnings:
            library = context.codegen().create_library("posterior.team")
            module = library.create_ir_module("team")
            _write_beginning(module, function)
            library.add_ir_module(module)
            library.finalize()
            _beginnings[name] = library, library.get_pointer_to_function("begin")
        return _beginnings[name][1]


def _write_beginning(module: ir.Module, function: ir.FunctionType) -> None:
    pointer = ir.IntType(8).as_pointer()
    begin = ir.Function(module, ir.FunctionType(pointer, [pointer]), "begin")
    builder = ir.IRBuilder(begin.append_basic_block())
    order = builder.bitcast(begin.args[0], WORD.as_pointer())

    def word(i: int) -> Any:
        return builder.gep(order, [ir.Constant(WORD, i)])

    returned, error, *kinds = function.args
    arguments = [builder.bitcast(word(RETURNED), returned), builder.alloca(error.pointee)]
    for i, kind in enumerate(kinds):
        number = builder.load(word(ARGUMENTS + i))
        if isinstance(kind, ir.PointerType):
            arguments.append(builder.inttoptr(number, kind))
        elif isinstance(kind, ir.IntType):
            arguments.append(builder.trunc(number, kind) if kind.width < WORD.width else number)
        else:
            arguments.append(builder.bitcast(number, kind))
    status = builder.call(builder.inttoptr(builder.load(word(0)), function.as_pointer()), arguments)
    builder.store(builder.sext(status, WORD), word(STATUS))
    builder.ret(ir.Constant(pointer, None))


class Team:
    """Threads that run a kernel beside the calling one, which begins them and waits for them."""

    # Those that run, by the thread that began them, and their memory with them: it is there even if Ctrl-C
    # comes before they are awaited.
    _running: ClassVar["dict[int, Team]"] = {}

    def __init__(self, entry: Entry, arguments: tuple[Any, ...], n: int) -> None:
        left = Team._running.get(get_ident())
        if left is not None:  # it works in the memory that this one is handed
            left._wait()
        self._entry = entry
        self._orders, self._memory = entry.orders(arguments, n)
        self._threads = np.zeros(n, np.uint64)

    def begin(self) -> None:
        """Begin all of them, or as many as the system allows."""
        Team._running[get_ident()] = self
        begin_threads(self._threads, _description(), self._entry.begin, self._orders)

    def end(self) -> bool:
        """Wait for them; whether none said no."""
        begun = self._threads != 0
        self._wait()
        if self._orders[:, STATUS].any():
            raise MemoryError("a thread could not have the memory that it works in: use fewer threads")
        return not self._entry.says or bool(self._orders[begun, RETURNED].all())

    def _wait(self) -> None:
        try:
            await_threads(self._threads)
        finally:  # where Ctrl-C came meanwhile, too
            if not self._threads.any():
                Team._running.pop(get_ident(), None)


if POSIX:  # a process that was forked has none of the threads
    os.register_at_fork(after_in_child=Team._running.clear)

_described: list[Any] = []


def _description() -> int:
    """The address of how threads are to be made."""
    if not _described:
        room, system = ctypes.create_string_buffer(DESCRIPTION), ctypes.PyDLL(None)
        system.pthread_attr_init(room)
        system.pthread_attr_setstacksize(room, ctypes.c_size_t(STACK))
        _described.append(room)
    return ctypes.addressof(_described[0])


def share_out(
    shared: Any, taken: Ints, n: int, arguments: Callable[[], tuple[Any, ...]], workers: int
) -> bool:
    """Let threads take parts by a kernel until all of n are taken; whether none of its calls said no.

    `arguments()` are those of a thread of Python; with them a call takes some parts only, so that the calling
    thread may act on Ctrl-C between two.
    """
    said: list[bool | None] = []

    def work() -> None:
        own = arguments()
        take_parts(taken, n, lambda: said.append(shared(*own)))

    workers = min(workers, n)
    if workers <= 1:
        work()
    elif not POSIX:
        each(lambda _: work(), workers)
    else:
        first = arguments()
        team = Team(shared.entry(first, Entry), first, workers - 1)
        try:
            team.begin()
            take_parts(taken, n, lambda: said.append(shared(*first)))
        except BaseException:
            taken[0] = n  # where they had begun and this one had not: they take no more parts
            raise
        finally:
            said.append(team.end())
    return False not in said
