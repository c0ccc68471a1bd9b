"""Functions that are compiled, or loaded from disk, for each of their declared types when first called."""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, TypeVar

import numba
from numba.core import event, sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.np.numpy_support import as_dtype

from posterior._loading import to_its_end
from posterior.kernels.compiled import kept

E = TypeVar("E")


class Kernel:
    """A function for the types that are declared, and no others.

    From Python, the first call with some types waits for their code, which a thread of its own makes: Ctrl-C
    ends the wait and not the work. In a kernel that calls it, it is compiled with that kernel.
    """

    __name__: str

    def __init__(
        self, function: Any, signatures: tuple[str, ...], options: dict[str, Any], own: tuple[str, ...] = ()
    ) -> None:
        update_wrapper(self, function)
        self._signatures, self._own = signatures, own
        self._ready: dict[tuple[Any, ...], Any] = {}
        self._entries: dict[tuple[Any, ...], Any] = {}
        self._dispatcher = numba.njit(**options)(function)
        self._dispatcher._can_compile = False
        self._dispatcher.get_call_template = self._call_template

    def __call__(self, *args: Any) -> Any:
        """Call it with arguments of declared types."""
        kinds = tuple([(args[i].dtype, args[i].ndim) for i in self._differing])
        if kinds not in self._ready:
            self._prepare(kinds)
        return self._dispatcher(*args)

    def entry(self, args: tuple[Any, ...], made: Callable[[Any, tuple[str, ...]], E]) -> E:
        """What is `made`, once, of the code for arguments of these types, and of the names of its own."""
        kinds = tuple([(args[i].dtype, args[i].ndim) for i in self._differing])
        if kinds not in self._ready:
            self._prepare(kinds)
        if kinds not in self._entries:
            self._entries[kinds] = made(self._ready[kinds], self._own)
        entry: E = self._entries[kinds]
        return entry

    @cached_property
    def _arguments(self) -> list[tuple[Any, ...]]:
        """The types of the arguments, for each signature."""
        return [tuple(sigutils.normalize_signature(each)[0]) for each in self._signatures]

    @cached_property
    def _differing(self) -> list[int]:
        """The arguments, arrays all of them, by which the signatures are told apart."""
        return [i for i, kinds in enumerate(zip(*self._arguments, strict=True)) if len(set(kinds)) > 1]

    def _prepare(self, kinds: tuple[Any, ...]) -> None:
        if self._dispatcher.targetoptions.get("no_cpython_wrapper"):
            raise TypeError(f"{self.__name__} is called by compiled code only")
        for signature, types in zip(self._signatures, self._arguments, strict=True):
            if kinds == tuple((as_dtype(types[i].dtype), types[i].ndim) for i in self._differing):
                to_its_end(lambda: self._compile(signature), f"compile {self.__name__}")  # noqa: B023  (ends here)
                self._ready[kinds] = self._dispatcher.overloads[types]
                return
        raise TypeError(f"{self.__name__} is compiled for {self._signatures}, found arrays of {kinds}")

    def _compile(self, signature: str) -> None:
        """Have the code for these types ready, as `Dispatcher.compile` does.

        That would let the function compile itself for any types meanwhile, on calls from other threads.
        """
        own = self._dispatcher
        args, returned = sigutils.normalize_signature(signature)
        with global_compiler_lock:
            if args in own.overloads:
                return
            own.targetctx.refresh()
            file = self._file(signature, own.targetctx.codegen())
            found = kept.load(file, own.targetctx)
            if found is None:
                with event.trigger_event(
                    "numba:compile", {"dispatcher": own, "args": args, "return_type": returned}
                ):
                    found = own._compiler.compile(args, returned)
                kept.save(file, found)
            else:
                own.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
            own.add_overload(found)

    def _file(self, signature: str, target: Any) -> str:
        function = self._dispatcher.py_func
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        # Functions that are made by another one differ in what they were given.
        given = [each.cell_contents for each in function.__closure__ or ()]
        about = signature, [getattr(each, "__qualname__", repr(each)) for each in given]
        return kept.file_name(name, repr(about), target.magic_tuple())

    @property
    def _numba_type_(self) -> Any:
        """What the compiler takes it for in a kernel that calls it."""
        return numba.types.Dispatcher(self._dispatcher)

    def _call_template(self, args: Any, kws: Any) -> Any:
        """Asked by the compiler for a kernel that calls this one: the types that it may be called with."""
        fits = self._dispatcher.typingctx.can_convert
        for signature, types in zip(self._signatures, self._arguments, strict=True):
            if all(fits(given, wanted) is not None for given, wanted in zip(args, types, strict=True)):
                self._compile(signature)
        return type(self._dispatcher).get_call_template(self._dispatcher, args, kws)
