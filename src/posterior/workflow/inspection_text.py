"""An inspection as a page of text."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from posterior._plain import listing, some
from posterior._text import aligned, shortened
from posterior.linear.summary import number_text
from posterior.schema import Schema

if TYPE_CHECKING:
    from posterior.workflow.inspection import Inspection

# Classes side by side.
CLASSES = 8
# Characters of a name in a table.
WIDTH = 28


def text_of(found: "Inspection", most: int | None) -> Iterator[str]:
    """The lines of a page: what the model is, its columns, parameters, coefficients, notes and decisions."""
    yield found.title + "".join(f", inside {name}" for name in reversed(found.around))
    yield from _indented(aligned([[name, value] for name, value in _facts(found)], left=2))
    sections = {
        "columns": [] if found.schema is None else _columns(found.schema, most),
        "parameters by class": _parameters(found, most),
        "coefficients": [] if found.coefficients is None else found.coefficients.lines(most),
        "notes": [f"- {shortened(note, 1000)}" for note in found.notes],
        "decision": list(_decision(found.decision)),
    }
    for name, lines in sections.items():
        if lines:
            yield from ("", name, *_indented(lines))
    for name, member in found.members.items():
        yield from ("", f"member {name}", *_indented(list(text_of(member, most))))


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in lines)


def _facts(found: "Inspection") -> Iterator[tuple[str, str]]:
    if found.classes:
        yield "classes", f"{len(found.classes)}: {some(found.classes, 20)}"
    if found.settings:
        yield "settings", _pairs(found.settings)
    if found.chosen:
        yield "chosen", _pairs(found.chosen)
    if found.n_rows is not None:
        yield "rows", f"{found.n_rows:,.10g}"
    if found.n_parameters is not None:
        yield "parameters", f"{found.n_parameters:,}"
    if found.log_likelihood is not None:
        yield "log-likelihood", f"{found.log_likelihood:,.2f}"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shortened(_setting(value))}" for name, value in values.items())


def _setting(value: Any) -> str:
    """A setting as one would write it, its numbers with four digits."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_setting(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _columns(schema: Schema, most: int | None) -> list[str]:
    """How columns were read; those that the model does not read are only counted."""
    places = (j for j in range(len(schema)) if not schema.columns[j].ignored)
    used = list(places)
    shown = replace(schema, columns=tuple(schema.columns[j] for j in used[:most]))
    lines = str(shown).splitlines()[:-1]  # without the rule, which is for those who still declare kinds
    if len(used) > len(shown.columns):
        lines.append(f"… ({len(used) - len(shown.columns):,} more)")
    if len(used) < len(schema):
        lines.append(f"and {len(schema) - len(used):,} that the model does not read")
    return lines


def _parameters(found: "Inspection", most: int | None) -> list[str]:
    """A line for each parameter, a column for each class; a column of the table is named once."""
    few = found.classes[:CLASSES]
    more = [f"… ({len(found.classes) - len(few)} more)"] * (len(found.classes) > len(few))
    rows = [["", "", *(shortened(label, WIDTH) for label in few), *more]]
    blank = [""] * len(more)
    if found.priors is not None:
        rows.append(["(class)", "prior", *map(number_text, found.priors[: len(few)]), *blank])
    before: tuple[str, ...] = ()
    for parameter in found.parameters:
        name = "" if parameter.columns == before else some(parameter.columns, 3)
        before = parameter.columns
        values = [_value(value) for value in parameter.values[: len(few)]]
        rows.append([shortened(name, 2 * WIDTH), shortened(parameter.name, WIDTH), *values, *blank])
    return listing(rows, 2, None if most is None else most + 1) if len(rows) > 1 else []


def _value(value: float) -> str:
    return "–" if np.isnan(value) else number_text(float(value))


def _decision(decision: Mapping[str, Any]) -> Iterator[str]:
    if "calibration" in decision:
        yield f"posteriors are scaled: {shortened(decision['calibration'], 200)}"
    if "priors" in decision:
        shares = [f"{shortened(label)} {p:.3g}" for label, p in decision["priors"].items()]
        yield f"under the class frequencies {some(shares, 20)}"
    if "outliers" in decision:
        yield _outliers(decision["outliers"])
    if "reject" in decision:
        yield f"a row is rejected where {decision['reject']}"
    if "costs" in decision:
        yield "costs of each action (across) where a class (down) is the truth"
        table = decision["costs"]
        actions = list(next(iter(table.values())))
        rows = [["", *(shortened(action, WIDTH) for action in actions)]]
        rows += [
            [shortened(label, WIDTH), *(f"{row[action]:g}" for action in actions)]
            for label, row in table.items()
        ]
        yield from _indented(aligned(rows))


def _outliers(outliers: Mapping[str, Any]) -> str:
    how = f"{outliers['method']}, around {outliers['model']}"
    if "held_out_rows" in outliers:
        how += f", by {outliers['held_out_rows']:,} rows held out"
    if outliers["alpha"] is None:
        return f"outliers are not looked for, though a rule was learnt ({how})"
    return f"a row is an outlier where p ≤ {outliers['alpha']:g} ({how})"
