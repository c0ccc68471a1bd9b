"""What a fit does one after the other (iterations, folds, candidates), told to whoever watches it.

A solver or an EM algorithm says when each of its iterations begins and ends, and is told whether to stop. The
watcher of the current fit is found in the context, so that nothing has to be handed down, and nobody pays
where nobody watches.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias, TypeVar

# What there is of the model at the moment, worked out only if somebody asks for it.
State: TypeAlias = Callable[[], Any]
T = TypeVar("T")


class Task(Protocol):
    """A part of a fit that somebody watches."""

    def takes(self, most: int | None) -> bool:
        """Whether so many parts of this task, None for any number, are to be told; asked once."""

    def begin(self, name: str, state: State | None, *, leaf: bool) -> "Task":
        """A part begins; one that is no `leaf` may have parts of its own."""

    def end(self, state: State | None) -> bool:
        """It ends; whether those that would come after it shall be left out."""


_current: ContextVar[Task | None] = ContextVar("posterior_task", default=None)


def current() -> Task | None:
    """The task that is watched at the moment."""
    return _current.get()


@contextmanager
def inside(task: Task | None) -> Iterator[None]:
    """What begins in here is told to this task; to nobody where there is none."""
    token = _current.set(task)
    try:
        yield
    finally:
        _current.reset(token)


class Tasks:
    """Parts of the current task that come one after the other, `most` of them if that is known.

    Only the first such parts of a task are told, and none of a leaf: what a fit does on the side, as to test
    its result, is not part of it.

    >>> steps = Tasks("iteration", most=10)
    >>> steps.begin()
    >>> steps.end()  # nobody watches, so that nobody says stop
    False
    """

    def __init__(self, name: str, most: int | None = None, *, leaves: bool = True) -> None:
        self.name = name
        self.leaves = leaves
        self.n_begun = 0
        self.stopped = False
        task = _current.get()
        self._parent = task if task is not None and task.takes(most) else None
        self._task: Task | None = None

    def begin(self, state: State | None = None) -> None:
        """The next one begins, from this state of the model."""
        if self._parent is not None:
            self._task = self._parent.begin(f"{self.name} {self.n_begun}", state, leaf=self.leaves)
            _current.set(self._task)
            self.n_begun += 1

    @contextmanager
    def next(self) -> Iterator[None]:
        """The next one, which is what happens in here."""
        self.begin()
        yield
        self.end()

    def end(self, state: State | None = None) -> bool:
        """It has ended, with this state of the model; whether to leave out the others."""
        if self._task is not None:
            _current.set(self._parent)
            self.stopped = self._task.end(state) or self.stopped
            self._task = None
        return self.stopped


def each(name: str, items: Iterable[T], most: int | None = None, *, leaves: bool = True) -> Iterator[T]:
    """The items, the work on each being a task; all of them, whoever says stop.

    >>> [fold for fold in each("fold", range(3), most=3)]
    [0, 1, 2]
    """
    tasks = Tasks(name, most, leaves=leaves)
    for item in items:
        with tasks.next():
            yield item
