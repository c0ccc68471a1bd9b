"""Who runs against us. A rival is one file here, with a list ENTRIES, and one line in RIVALS."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One way in which a rival does one of our tasks.

    `make` gives a new estimator with `fit(X, y)`, which returns it, and `predict_proba(X)`. `tolerance` is
    how far its probabilities may be from ours; with None the objectives of logistic regression are compared
    instead, and ours must not be higher. `ours` are the settings with which we compute the same.
    """

    task: str
    make: Callable[[], Any]
    label: str = ""
    tolerance: float | None = 1e-10
    ours: Mapping[str, Any] = field(default_factory=dict)
    most_rows: int = 10**9
    answers: bool = True  # False for a baseline, which only spends time
    slow: bool = False  # left out of a quick run


@dataclass(frozen=True)
class Rival:
    """A rival that is installed."""

    name: str
    version: str
    entries: tuple[Entry, ...]

    def on(self, task: str, rows: int) -> list[Entry]:
        """Its ways to do a task of that many rows."""
        return [entry for entry in self.entries if entry.task == task and rows <= entry.most_rows]


# Name of the distribution, as it installs → the file here.
RIVALS = {
    "scikit-learn": "scikit_learn",
    "scikit-learn-intelex": "intelex",
    "statsmodels": "statsmodels",
    "glum": "glum",
    "mixed-naive-bayes": "mixed_naive_bayes",
    "wnb": "wnb",
    "pomegranate": "pomegranate",
    "river": "river",
}
LIMIT = "one reading"


def load(names: Sequence[str] = (), *, quick: bool = False) -> tuple[list[Rival], dict[str, str]]:
    """Those of `names` (or all) that are installed, the limit, and why others are not there."""
    unknown = set(names) - set(RIVALS)
    if unknown:
        raise SystemExit(f"no rival is called {', '.join(sorted(unknown))}; there are {', '.join(RIVALS)}")
    there, absent = [], {}
    for name in names or RIVALS:
        try:
            version = metadata.version(name)
            entries = import_module(f"benchmarks.rivals.{RIVALS[name]}").ENTRIES
        except metadata.PackageNotFoundError:
            absent[name] = "not installed"
        except ImportError as problem:
            absent[name] = f"does not import: {problem}"
        else:
            there.append(Rival(name, version, tuple(e for e in entries if not (quick and e.slow))))
    there.append(Rival(LIMIT, "", tuple(import_module("benchmarks.rivals.once").ENTRIES)))
    return there, absent
