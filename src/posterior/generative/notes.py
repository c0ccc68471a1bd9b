"""What was noticed about the columns, and what was done, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posterior._text import listed
from posterior._types import AnyArray
from posterior.families import Repair
from posterior.stats.base import Problem

SHOWN = 5


@dataclass(frozen=True)
class Note:
    """One fact about columns, with the names a user knows; `label` names the class, if it is about one."""

    problem: str
    columns: tuple[str, ...]
    of: tuple[str, ...] = ()
    left_out: bool = False
    text: str = ""
    label: Any = None


def column_note(problem: Problem, name: str, of: Sequence[str], *, left_out: bool) -> Note:
    """The note on a column, saying what was done."""
    did = "left out" if left_out else "kept"
    text = {
        "empty": f"{name!r} has no value: {did}",
        "constant": f"{name!r} is constant: no effect" if left_out else f"{name!r} is constant",
        "identifier": f"{name!r} has a category for nearly every row, like an identifier: {did}"
        + (" (declare its kind to use it)" if left_out else ""),
        "duplicate": f"{name!r} repeats {', '.join(map(repr, of))}: its evidence counts twice; "
        "consider dropping it",
        "redundant": f"{name!r} is a linear combination of {', '.join(map(repr, of))}: {did}"
        if of
        else f"{name!r} hardly varies: {did}",
        "wordless": f"the texts of {name!r} hold no word: {did} (BagOfWords has settings for what is a word)",
    }[problem]
    return Note(problem, (name,), tuple(of), left_out, text)


def no_value_note(name: str) -> Note:
    """The note on a column without a value, of which nobody knows the kind."""
    return Note("no value", (name,), (), True, f"{name!r} has no value: left out")


def hint_note(name: str, hint: str, *, left_out: bool = False) -> Note:
    """The note on a column that may not be what it seems, or that nobody reads, such as row numbers."""
    return Note("suspicious", (name,), (), left_out, f"column {name!r}: {hint}")


def unused_note(kind: str, strings: Sequence[str]) -> Note:
    """The note on a family that a user gave for a kind of which there is no column."""
    text = f"families[{kind!r}] was not used: no column is {kind}"
    if kind == "text" and strings:
        text += f" ({', '.join(map(repr, strings[:SHOWN]))} may be: kinds={{{strings[0]!r}: 'text'}})"
    return Note("unused family", (), (), False, text)


def zeros_and_ones_note() -> Note:
    """The note on a sparse table of nothing but 0 and 1, of which nobody said that they are counts."""
    text = (
        "the sparse table holds 0 and 1 only, read as counts (Poisson): kinds=[(slice(None), 'binary')] "
        "reads them as true/false (Bernoulli), kinds=[(slice(None), 'count')] says that they are counts"
    )
    return Note("suspicious", (), (), False, text)


def whole_zeros_and_ones_note(names: Sequence[str]) -> Note:
    """The note on columns of whole numbers that are all 0 or 1, of which nobody said what they are."""
    one = len(names) == 1
    text = (
        f"column{'' if one else 's'} {listed(names)} hold{'s' if one else ''} 0 and 1 only, read as "
        f"continuous (Normal): kinds={{{names[0]!r}: 'binary'}} reads {'it' if one else 'such a column'} as "
        "true/false (Bernoulli), 'continuous' says that it is a number"
    )
    return Note("suspicious", tuple(names), (), False, text)


def repair_note(repair: Repair, classes: AnyArray, names: Sequence[str]) -> Note:
    """The note on a parameter that the data do not determine."""
    label = None if repair.class_index is None else classes.tolist()[repair.class_index]
    whose = "shared by the classes" if repair.class_index is None else f"of class {label!r}"
    columns = tuple(names[j] for j in repair.columns)
    listed = ", ".join(map(repr, columns[:SHOWN])) + (", …" if len(columns) > SHOWN else "")
    text = f"the {repair.parameter} {whose} {repair.problem} (columns {listed}): {repair.done}"
    return Note("undetermined", columns, (), False, text, label)


def refusal(note: Note) -> str:
    """The error instead of a note on what was done about a covariance."""
    return (
        f"{note.text.rsplit(': ', 1)[0]}; on_singular='error' refuses that: collect more rows, drop columns, "
        "use tied=1 or shrinkage, or let on_singular='shrink' or 'pool' borrow from the other classes"
    )


def held_note(labels: Sequence[Any], names: Sequence[str]) -> Note:
    """The note on classes that show too little of a block with gaps for its covariance."""
    classes = ", ".join(map(repr, labels[:SHOWN])) + (", …" if len(labels) > SHOWN else "")
    listed = ", ".join(map(repr, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")
    text = (
        f"the covariance of class {classes} is not determined by the rows that show the same columns "
        f"(columns {listed}): held near the spread of all classes, as by {len(names)} rows more"
    )
    return Note("undetermined", tuple(names), (), False, text, labels[0] if len(labels) == 1 else None)


def unfinished_note(iterations: int, gain: float, tolerance: float) -> Note:
    """The note on gaps that were still being filled in when the iterations ended."""
    text = (
        f"filling in the gaps was stopped after {iterations} iterations, the last of which raised the "
        f"log-likelihood by {gain:.3g} (the tolerance is {tolerance:.3g}): raise max_iter, or look for "
        "columns that are nearly combinations of others"
    )
    return Note("not converged", (), (), False, text)


def unscored_note(label: str, weight: float) -> Note:
    """The note on rows that no candidate of a cross-validation could have expected."""
    text = (
        f"choosing the settings, {weight:g} rows of class {label!r} were left out of the comparison: they "
        "are impossible to every model that has not seen them, as where a class is in one fold only"
    )
    return Note("not scored", (), (), False, text)


def gaps_message(names: Sequence[str]) -> str:
    """What is said where gaps cannot be filled in, for only a part of the rows is at hand."""
    listed = ", ".join(map(repr, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")
    return (
        f"rows with missing values (NaN) in a joint Gaussian block (columns {listed}): they are filled in by "
        "EM, which needs all rows at once; use fit, leave those rows out, or give the columns the Normal "
        "family (NaiveBayes), which uses every value that is there and adds up"
    )


def sentences(notes: Sequence[Note]) -> list[str]:
    """What all notes say, long lists shortened."""
    texts = []
    for problem in dict.fromkeys(note.problem for note in notes):
        same = [note.text for note in notes if note.problem == problem]
        texts += same[:SHOWN]
        if len(same) > SHOWN:
            texts.append(f"and {len(same) - SHOWN} more like these")
    return texts
