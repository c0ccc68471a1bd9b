"""What a run was asked for, and what it has found so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.contest import Outcome
from benchmarks.rivals import LIMIT, Rival
from benchmarks.tasks import Task, chosen


@dataclass
class Plan:
    """Sizes, repeats and rivals of a run. Sections add rows to `results` and problems to `failures`."""

    rows: int = 1_000_000
    repeats: int = 5
    quick: bool = False
    only: Sequence[str] = ()
    rivals: Sequence[Rival] = ()
    results: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def tasks(self, *among: str) -> list[Task]:
        """The tasks to run, of those named or of all."""
        return chosen(self.only, among or None)

    def rival(self, *names: str) -> list[Rival]:
        """Some of the rivals, where they are there; the limit is always."""
        return [rival for rival in self.rivals if rival.name in names or rival.name == LIMIT]

    def take(self, outcome: Outcome) -> None:
        """Keep what went wrong in a race."""
        for problem in outcome.failures:
            self.fail(problem)
        for note in outcome.notes:
            self.notes.append(note)
            print(f"-- {note}", flush=True)

    def fail(self, problem: str) -> None:
        """Keep a failure, and say it at once."""
        self.failures.append(problem)
        print(f"!! {problem}", flush=True)


def heading(title: str) -> None:
    """The title of a section."""
    print(f"\n== {title}", flush=True)


def told(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> told(0.00123), told(0.5), told(12.3)
    ('1.23 ms', '500 ms', '12.3 s')
    """
    if seconds < 1:
        return f"{1e3 * seconds:.3g} ms"
    return f"{seconds:.3g} s"
