"""How objects of a class are taken apart into named parts, and put together again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, get_type_hints

from posterior.families import Distribution
from posterior.persistence.arrays import check_arrays, shapes_in
from posterior.persistence.errors import ModelFileError, refuse
from posterior.persistence.hints import described, matches
from posterior.stats import Statistics

# Parts that users name as they like. Other words are made to be read, and hold nothing that a terminal obeys.
NAMES = ("name", "target_name_")


# Types of values that hold no others: where one fits, all do, unless some words only are allowed.
PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, eq=False)
class Record:
    """A class of which objects may be in a model file, by its `tag`.

    `apart` gives the parts of an object by name, `together` makes the object of them, through the constructor
    and what that checks; `declared` gives the types of the parts, and `check` refuses an object whose parts
    do not go together: by default what the class itself says is `impossible` (statistics say it to the model
    that holds them). Parts that are `optional` may be absent.
    """

    tag: str
    kind: type
    apart: Callable[[Any], dict[str, Any]]
    together: Callable[..., Any]
    declared: Callable[[], Mapping[str, Any]]
    optional: frozenset[str] = frozenset()
    check: Callable[[Any], None] | None = None

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of the parts."""
        return self.declared()

    @cached_property
    def shapes(self) -> Mapping[str, str]:
        """The shapes and bounds of the parts that are arrays."""
        return shapes_in(self.hints)

    def refuse_names(self, names: set[str]) -> None:
        """Refuse parts that there are not, and the lack of one that there must be."""
        for name in sorted(names - set(self.hints)):
            raise ModelFileError(
                f"has a {self.tag!r} with a part {name!r:.40}, which this posterior does not know"
            )
        for name in sorted(set(self.hints) - self.optional - names):
            raise ModelFileError(f"has a {self.tag!r} without its part {name!r}")

    def built(self, parts: Mapping[str, Any]) -> Any:
        """The object of these parts, whose types, shapes and bounds are checked first."""
        with self._refusing():
            for name, value in parts.items():
                self._refuse_type(name, value)
            check_arrays(self.tag, parts, self.shapes)
            built = self.together(**parts)
            self._refuse_impossible(built)
        return built

    def built_each(self, same: Mapping[str, Any], each: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
        """Objects without arrays, which share the parts in `same`; `each` lists the others, part by part."""
        with self._refusing():
            for name, values in {**{name: (value,) for name, value in same.items()}, **each}.items():
                for value in values:
                    self._refuse_type(name, value)
            rows = zip(*each.values(), strict=True)
            built = tuple([self.together(**same, **dict(zip(each, row, strict=True))) for row in rows])
            for one in built:
                self._refuse_impossible(one)
        return built

    def _refuse_impossible(self, built: Any) -> None:
        if self.check is not None:
            self.check(built)
        elif callable(getattr(self.kind, "impossible", None)) and not issubclass(self.kind, Statistics):
            refuse(built.impossible())

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Whatever a constructor says: the file is at fault."""
        try:
            yield
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"has a {self.tag!r} that cannot be: {error!s:.200}") from error

    @cached_property
    def _known(self) -> set[tuple[str, type]]:
        """Parts by the types of plain values that were found to fit, whatever the value."""
        return set()

    @cached_property
    def _worded(self) -> frozenset[str]:
        """The parts that may be some words only."""
        return frozenset(name for name, hint in self.hints.items() if "Literal" in str(hint))

    def _refuse_type(self, name: str, value: Any) -> None:
        hint, kind = self.hints[name], type(value)
        if (name, kind) not in self._known:
            self._refuse_unless_matching(name, value)
            if kind in PLAIN and name not in self._worded:
                self._known.add((name, kind))
        if isinstance(value, str) and name not in NAMES and hint is not Any and not value.isprintable():
            raise ModelFileError(f"has a {self.tag!r} whose {name!r} cannot be printed")

    def _refuse_unless_matching(self, name: str, value: Any) -> None:
        hint = self.hints[name]
        if not matches(value, hint):
            found = type(value).__name__
            raise ModelFileError(
                f"has a {self.tag!r} whose {name!r} is {found}, where {described(hint)} belongs"
            )


# Names of classes in annotations that are imported for the type checker only.
ONLY_FOR_TYPES: dict[str, type] = {}


def record_of_dataclass(
    tag: str, kind: Any, *, leave_out: tuple[str, ...] = (), check: Callable[[Any], None] | None = None
) -> Record:
    """The record of a dataclass, by its fields; those in `leave_out` take their defaults.

    A field that is an array may say its shape and bounds: `Annotated[Floats, "K d >=0"]`.
    """
    taken = [f for f in fields(kind) if f.init and f.name not in leave_out]
    names = [f.name for f in taken]
    has_default = {f.name for f in taken if f.default is not MISSING or f.default_factory is not MISSING}

    def declared() -> dict[str, Any]:
        hints = get_type_hints(kind, localns=ONLY_FOR_TYPES, include_extras=True)
        return {name: hints[name] for name in names}

    def apart(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in names}

    return Record(tag, kind, apart, kind, declared, frozenset(has_default), check)


def record_of_tuple(tag: str, kind: Any) -> Record:
    """The record of a named tuple."""
    return Record(tag, kind, lambda value: value._asdict(), kind, lambda: get_type_hints(kind))


def record_of_parts(
    tag: str,
    kind: type,
    together: Callable[..., Any],
    check: Callable[[Any], None] | None = None,
    **hints: Any,
) -> Record:
    """The record of a class by some of its attributes; of a part that is none, `_part` is the attribute."""

    def apart(value: Any) -> dict[str, Any]:
        return {
            name: getattr(value, name) if hasattr(value, name) else getattr(value, f"_{name}")
            for name in hints
        }

    return Record(tag, kind, apart, together, lambda: hints, check=check)


def records_of_family(tag: str, kind: Any) -> tuple[Record, ...]:
    """The records of a family and of the distribution that it estimates, by what both declare."""
    density = get_type_hints(kind.estimate).get("return")
    if not (isinstance(density, type) and issubclass(density, Distribution) and hasattr(density, "parts")):
        raise TypeError(
            f"{kind.__name__}.estimate must say in its annotation which Distribution it returns, and that "
            f"class must declare its `parts`; found {density!r}"
        )
    return (
        _record_by_parts(tag, kind) if hasattr(kind, "parts") else record_of_dataclass(tag, kind),
        _record_by_parts(f"{tag}-distribution", density),
    )


def _record_by_parts(tag: str, kind: Any) -> Record:
    """The record of a class that declares its `parts`, with `to_parts` and `from_parts`."""
    return Record(tag, kind, kind.to_parts, lambda **parts: kind.from_parts(parts), lambda: kind.parts)
