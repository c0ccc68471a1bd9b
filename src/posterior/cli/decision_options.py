"""Decision options of the command line: priors, costs, rejecting, outliers, read from text."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import posterior
from posterior import files
from posterior._plain import written
from posterior._text import did_you_mean
from posterior.notices import DataWarning, warn

COSTS = (
    'Costs as "truth:action=5,…" (other mistakes cost 1), or a file: CSV with a row for each class, or JSON.'
)
REJECT = "When not to answer: threshold=0.9, cost=0.1 or coverage=0.9."
PRIORS = 'Class frequencies where the model is used: uniform, observed, or "a=0.2,b=0.8".'
EXAMPLES = {"threshold": 0.9, "cost": 0.1, "coverage": 0.9}
NAMED = ("uniform", "observed")


@dataclass(frozen=True)
class DecisionOptions:
    """Options of commands that say what is done with probabilities."""

    priors: Annotated[str | None, typer.Option("--priors", metavar="TEXT", help=PRIORS)] = None
    costs: Annotated[str | None, typer.Option("--costs", metavar="TEXT|FILE", help=COSTS)] = None
    reject: Annotated[str | None, typer.Option("--reject", metavar="TEXT", help=REJECT)] = None
    outliers: Annotated[
        float | None,
        typer.Option("--outliers", metavar="RATE", help="Call rows outliers, at this rate of false alarms."),
    ] = None

    def settings(self, classes: Sequence[Any]) -> dict[str, Any]:
        """What `DecisionClassifier.set_decision` is called with."""
        return {
            "priors": None if self.priors is None else read_priors(self.priors, classes),
            "costs": None if self.costs is None else read_costs(self.costs, classes),
            "reject": None if self.reject is None else read_reject(self.reject),
            "outliers": self.outliers,
        }

    @property
    def files(self) -> list[str]:
        """The files that are read."""
        return [self.costs] if self.costs is not None and is_file(self.costs) else []

    @property
    def any(self) -> bool:
        """Whether anything was asked for."""
        return any(option is not None for option in (self.priors, self.costs, self.reject, self.outliers))


def read_priors(text: str, classes: Sequence[Any]) -> Any:
    """Class frequencies.

    >>> read_priors("1=0.2, 2=0.8", [1, 2])
    {1: 0.2, 2: 0.8}
    """
    if text.strip() in NAMED:
        return text.strip()
    given: dict[Any, float] = {}
    for name, number in _pairs(text, "--priors", "a class and its frequency, such as yes=0.01,no=0.99"):
        label = label_of(name, classes, "--priors")
        if label in given:
            raise ValueError(f"--priors: {name} is given twice, as {given[label]:g} and {number:g}; keep one")
        given[label] = number
    absent = [str(label) for label in classes if label not in given]
    if absent:
        raise ValueError(f"--priors: no frequency for {', '.join(absent)}; give one for each class")
    return given


def read_reject(text: str) -> dict[str, float]:
    """When not to answer.

    >>> read_reject("coverage=0.9")
    {'coverage': 0.9}
    """
    rules = _pairs(text, "--reject", "threshold=0.9, cost=0.1 or coverage=0.9")
    registry = posterior.decision.reject.REJECT_RULES
    if len(rules) != 1 or rules[0][0] not in registry:
        known = [f"{key}={EXAMPLES.get(key, 'NUMBER')}" for key in registry]
        raise ValueError(f"--reject {text}: expected one of {', '.join(known)}")
    return dict(rules)


def read_costs(text: str, classes: Sequence[Any]) -> dict[Any, dict[Any, float]]:
    """Costs of each action where each class is the truth, inline or from a file.

    >>> read_costs("good:bad=1,bad:good=5", ["bad", "good"])
    {'bad': {'bad': 0.0, 'good': 5.0}, 'good': {'bad': 1.0, 'good': 0.0}}
    """
    if is_file(text):
        return _from_file(text, classes)
    costs: dict[Any, dict[Any, float]] = {
        truth: {action: float(action != truth) for action in classes} for truth in classes
    }
    given: dict[tuple[Any, Any], float] = {}
    for pair, number in _pairs(text, "--costs", "costs such as bad:good=5,good:bad=1, or the name of a file"):
        truth, colon, action = pair.partition(":")
        if not colon:
            raise ValueError(f"--costs {pair}=…: expected truth:action=cost, such as bad:good=5")
        known = known_labels(classes)
        cell = label_of(truth, classes, "--costs"), known.get(action.strip(), action.strip())
        if cell in given:
            raise ValueError(f"--costs: {pair} is given twice, as {given[cell]:g} and {number:g}; keep one")
        if number < 0 and cell[0] != cell[1]:
            warn(
                f"--costs {pair}={number:g}: a negative cost is a gain, so that this mistake pays; what a "
                "mistake costs is a positive number",
                DataWarning,
            )
        given[cell] = costs[cell[0]][cell[1]] = number
    others = [action for action in dict.fromkeys(action for _, action in given) if action not in classes]
    for truth, action in ((t, a) for a in others for t in classes):
        if action not in costs[truth]:
            meant = did_you_mean(str(action), classes, 1)
            raise ValueError(
                f"--costs: {action!r} is no class; {meant + ' ' if meant else ''}"
                f"another action needs a cost for each class: add {truth}:{action}=…"
            )
    return {truth: {a: row[a] for a in (*classes, *others)} for truth, row in costs.items()}


def is_file(text: str) -> bool:
    """Whether costs are the name of a file."""
    return Path(text).suffix.lower() in {".csv", ".tsv", ".json"} or os.path.isfile(text)


def _from_file(path: str, classes: Sequence[Any]) -> dict[Any, dict[Any, float]]:
    if Path(path).suffix.lower() == ".json":
        try:
            rows = json.loads(Path(path).read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise ValueError(f"--costs {path}: is not JSON: {error}") from None
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise ValueError(f"--costs {path}: expected {{class: {{action: cost}}}}")
    else:
        table = files.read(path)
        names, first = table.column_names[1:], table.column(0).to_pylist()
        cells = [table.column(name).to_pylist() for name in names]
        rows = {
            str(truth): dict(zip(names, row, strict=True))
            for truth, row in zip(first, zip(*cells, strict=True), strict=True)
        }
    costs = {label_of(truth, classes, f"--costs {path}"): row for truth, row in rows.items()}
    for truth, row in costs.items():
        for action, cost in row.items():
            if isinstance(cost, bool) or not isinstance(cost, int | float):
                raise ValueError(f"--costs {path}: {truth}, {action}: expected a number, found {cost!r}")
    absent = [str(label) for label in classes if label not in costs]
    if absent:
        raise ValueError(f"--costs {path}: there is no row for {', '.join(absent)}; give one for each class")
    known = known_labels(classes)
    return {t: {known.get(str(a), a): float(c) for a, c in row.items()} for t, row in costs.items()}


def _pairs(text: str, option: str, expected: str) -> list[tuple[str, float]]:
    pairs = []
    for part in filter(str.strip, text.split(",")):
        name, equals, number = part.rpartition("=")
        try:
            pairs.append((name.strip(), float(number)))
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(f"{option} {text}: expected {expected}")
    if not pairs:
        raise ValueError(f"{option} {text!r}: expected {expected}")
    return pairs


def label_of(text: str, classes: Sequence[Any], option: str) -> Any:
    """The class that is written so, in a file or in Python.

    >>> label_of("true", [False, True], "--positive")
    True
    """
    known = known_labels(classes)
    if text.strip() not in known:
        shown = ", ".join(written(label) for label in classes)
        raise ValueError(f"{option}: {text.strip()!r} is not a class; the classes are {shown}")
    return known[text.strip()]


def known_labels(classes: Sequence[Any]) -> dict[str, Any]:
    """The classes by what they are written as."""
    return {text: label for label in classes for text in (str(label), written(label))}
