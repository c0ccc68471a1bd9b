"""How a section is cut through any classifier, ours or not.

A generative model integrates the other columns out, exactly; any other holds them at a row that is told.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from posterior._text import listed
from posterior._types import AnyArray, Floats
from posterior.estimators.classifiers import classes_of, log_posterior_of
from posterior.estimators.decision import DecisionClassifier
from posterior.estimators.linear import LinearEstimator
from posterior.forms import QuadraticScores
from posterior.plot.generative_section import generative_section
from posterior.plot.rows import (
    columns_used,
    continuous_columns,
    distributions_of,
    name_of,
    schema_of,
    typical,
    written,
)
from posterior.plot.section import Decisions, Section, Values, table_of
from posterior.schema import Column, LabelledTable, Schema

At: TypeAlias = Literal["auto", "median"] | Mapping[str, Any]

# What predicts a class other than the most probable one.
DECIDERS = (DecisionClassifier, FixedThresholdClassifier, TunedThresholdClassifierCV)
# Columns that a title names, and cells of a table that is made to be scored.
NAMED = 3
MOST_CELLS = 1 << 21
MOST_PROBABLE = "most probable classes, whatever its costs or threshold say"

A = TypeVar("A", bound=AnyArray)


def axis_columns(estimator: Any, schema: Schema, features: Any) -> tuple[int, ...]:
    """Positions of the columns that a user wants to see; those that cannot be axes are refused."""
    chosen, possible = schema.resolve(features), continuous_columns(estimator, schema)
    for j in chosen:
        if j in possible:
            continue
        column = schema.columns[j]
        why = (
            f"is {column.kind} ({column.reason})"
            if column.kind != "continuous"
            else ("has no value" if column.empty else f"is not used by this {name_of(estimator)}")
        )
        names = listed([schema.names[i] for i in possible]) or "none here"
        raise ValueError(
            f"column {column.name!r} {why}, and an axis needs a continuous column that the model uses: "
            f"{names}"
        )
    return chosen


def section_of(
    estimator: Any, columns: tuple[int, ...], at: At = "auto", rows: LabelledTable | None = None
) -> Section:
    """The section of a fitted classifier through some of its continuous columns.

    `at="auto"` integrates the other columns out where the model is generative, and else holds them at their
    median or commonest category in `rows`; "median" always holds them. A mapping holds the columns that it
    names at the values that it gives, and does with the rest what "auto" does.
    """
    classes_of(estimator)  # refuses what is no classifier
    schema = schema_of(estimator) or (None if rows is None else rows.schema)
    generative = distributions_of(estimator) is not None
    if schema is None or (rows is None and not (generative and at != "median")):
        raise ValueError(
            f"{name_of(estimator)} cannot integrate columns out: pass X, at whose median they are held"
        )
    rest = [j for j in columns_used(estimator, schema) if j not in columns]
    held = _given(schema, columns, at)
    if rows is not None and (at == "median" or not generative):
        held |= {j: typical(rows, j) for j in rest if j not in held}
    others = _told(schema, {j: held[j] for j in held if j in rest}, len(rest))
    if generative:
        return generative_section(estimator, columns, held, others)
    assert rows is not None  # noqa: S101 -- for the type checker; it was refused above
    middle = held | {j: typical(rows, j) for j in columns}
    if hasattr(estimator, "design_") and estimator.design_.polynomial:  # what coefficients multiply
        return _linear(estimator, columns, middle, others, rows)
    return _of_any(estimator, columns, middle, others, schema)


def _given(schema: Schema, columns: tuple[int, ...], at: At) -> Values:
    """The values that a user holds columns at, categories as codes."""
    if isinstance(at, str) and at in ("auto", "median"):
        return {}
    if not isinstance(at, Mapping):
        raise ValueError(f'at must be "auto", "median" or a mapping of columns to values, found {at!r}')
    held = {}
    for name, value in at.items():
        (j,) = schema.resolve(name)
        if j in columns:
            raise ValueError(
                f"column {schema.names[j]!r} is an axis and cannot be held; leave it out of `at`"
            )
        held[j] = _coded(schema.columns[j], value)
    return held


def _coded(column: Column, value: Any) -> Any:
    """A value as a schema keeps it: a number, a text, or the code of a category."""
    if column.kind == "text":
        return value
    levels = column.levels
    if levels is None:
        return float(value)
    if value not in levels:
        raise ValueError(
            f"column {column.name!r} cannot be held at {value!r}, which training has not seen; "
            f"its levels are {listed(levels)}"
        )
    return levels.index(value)


def _told(schema: Schema, held: Values, n_others: int) -> str:
    """What became of the other columns, in words."""
    if not n_others:
        return ""
    named = [f"{schema.names[j]} = {written(schema.columns[j], v)}" for j, v in list(held.items())[:NAMED]]
    told = ", ".join(named) + (f", … ({len(held)} columns held)" if len(held) > NAMED else "")
    loose = n_others - len(held)
    if not loose:
        return f"at {told}"
    rest = f"the other {loose} columns" if loose > 1 else "the other column"
    return f"at {told}; {rest} integrated out" if held else f"{rest} integrated out"


# -- models linear in the columns and their products ----------------------------------------------


def _linear(
    estimator: LinearEstimator, columns: tuple[int, ...], middle: Values, others: str, rows: LabelledTable
) -> Section:
    """The scores from the coefficients, as a form about the middle of the rows."""
    design, schema = estimator.design_, estimator.design_.schema
    coef, _ = estimator._coefficients
    level = _scores(estimator.decision_function(table_of(schema, middle)))[0]
    if len(level) == 2:  # the score of the second against the first
        coef = np.vstack([np.zeros(coef.shape[1]), coef[-1] if len(coef) == 1 else coef[1] - coef[0]])
    places = [design.numbers.index(j) for j in columns]
    linear, square = coef[:, places].copy(), np.zeros((len(coef), len(columns), len(columns)))
    if design.squares:
        here = np.array([middle.get(j, 0.0) for j in design.numbers]) - design.centre
        pairs = np.array(design.squares)
        weight = coef[:, -len(pairs) :]
        # Of z_a z_b the slope along a is z_b and along b is z_a, and the two mixed second derivatives are 1.
        on = (pairs[:, :, None] == np.array(places)).astype(np.float64)
        linear += weight @ (on[:, 0] * here[pairs[:, [1]]] + on[:, 1] * here[pairs[:, [0]]])
        both = on[:, 0][:, :, None] * on[:, 1][:, None, :]
        square = np.einsum("kp,pij->kij", weight, both + both.transpose(0, 2, 1)) / 2
    spread = np.nanstd(rows.values(columns), axis=0)
    names = tuple(schema.names[j] for j in columns)
    form = QuadraticScores(
        centre=np.array([middle[j] for j in columns]),
        quadratic=square,
        linear=linear,
        constant=level,
        scale=np.where(spread > 0, spread, 1.0),
        columns=names,
    )
    proper = hasattr(estimator, "predict_log_proba")
    return Section(names, classes_of(estimator), form, others, quadratic=form, proper=proper)


def _scores(decision: Any) -> Floats:
    """Scores (n, K) of what a `decision_function` gives, which for two classes is one number a row."""
    found = np.asarray(decision, dtype=np.float64)
    return np.stack([np.zeros(len(found)), found], axis=1) if found.ndim == 1 else found


# -- any classifier -------------------------------------------------------------------------------


def _of_any(estimator: Any, columns: tuple[int, ...], middle: Values, others: str, schema: Schema) -> Section:
    classes = classes_of(estimator)
    proper = hasattr(estimator, "predict_log_proba") or hasattr(estimator, "predict_proba")

    def asked(what: Callable[[Any], A]) -> Callable[[Floats], A]:
        """What is said of the rows at some points."""

        def at(points: Floats) -> A:
            found = []
            for part in np.array_split(points, 1 + len(points) * len(schema) // MOST_CELLS):
                values = middle | {j: part[:, c] for c, j in enumerate(columns)}
                found.append(what(table_of(schema, values, len(part))))
            return cast("A", np.concatenate(found))

        return at

    decided = None
    if isinstance(estimator, DecisionClassifier):
        decider = estimator._decider()
        decided = Decisions(decider.rule.labels, len(decider.rule.actions), asked(decider.decide))
    return Section(
        tuple(schema.names[j] for j in columns),
        classes,
        asked(lambda X: _any_scores(estimator, X, classes)),
        others,
        proper=proper,
        decisions=decided,
        remark=MOST_PROBABLE if isinstance(estimator, DECIDERS) else "",
    )


def _any_scores(estimator: Any, X: Any, classes: AnyArray) -> Floats:
    """Log posteriors, or scores, or 1 for the class that is predicted and 0 for all others."""
    if hasattr(estimator, "predict_log_proba") or hasattr(estimator, "predict_proba"):
        return log_posterior_of(estimator, X)
    best = np.asarray(estimator.predict(X))
    if hasattr(estimator, "decision_function"):
        scores = _scores(estimator.decision_function(X))
        # Scores of pairs of classes, of which three classes have three, are not those of classes.
        if scores.shape[1] == len(classes) and (classes[scores.argmax(axis=1)] == best).all():
            return scores
    return np.asarray(best[:, None] == classes, dtype=np.float64)
