"""`to_sql`: a fitted model as one query."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted
from sqlglot import exp

from posterior._text import listed
from posterior.schema import Schema
from posterior.sql.cells import Cells
from posterior.sql.dialects import Dialect, dialect_named
from posterior.sql.expressions import (
    Expression,
    add,
    case,
    equal,
    exponential,
    label,
    number,
    quoted,
    some,
    text,
    whole,
)
from posterior.sql.models import Answer, answer_of, schema_of
from posterior.sql.steps import Steps

OUTPUTS = ("log_joint", "log_posterior", "posterior", "predicted")


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    *,
    table: str | Sequence[str] = "data",
    keep: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    output: Iterable[str] | None = None,
    pretty: bool = False,
) -> str:
    """A fitted classifier as one SQL query, with the same numbers as `predict_log_proba`.

    Parameters
    ----------
    model : fitted classifier
        Naive Bayes and other generative classifiers whose families have a closed form, LDA, QDA, logistic and
        softmax regression, additive models; DecisionClassifier or CalibratedClassifier around one of these.
    dialect : {"duckdb", "postgres"}, default="duckdb"
        The database.
    table : str or sequence of str, default="data"
        The table, or ("schema", "table"). A name is quoted, whatever is in it: "a.b" is a table of that name.
    keep : sequence of str, default=()
        Columns of the table that come out as they are, such as a key. Rows come out in no particular order.
    columns : mapping, default=None
        What the table calls columns that training called otherwise: {"x0": "age"}.
    output : sequence of str, default=None
        Which of "log_joint", "log_posterior", "posterior" (one column a class, named as in posterior_yes) and
        "predicted" come out; all that the model has by default.
    pretty : bool, default=False
        Break the query into many lines.

    Returns
    -------
    query : str
        One SELECT. A row that the model refuses gets NULL: an infinite number, a gap where they are errors.

    Examples
    --------
    >>> import duckdb
    >>> from posterior import NaiveBayes, to_sql
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> birds = penguins.frame
    >>> model = NaiveBayes().fit(penguins.X, penguins.y)
    >>> query = to_sql(model, table="birds", keep=["species"], output=["predicted"])
    >>> duckdb.sql(f"SELECT count(*) FROM ({query}) WHERE predicted <> species").fetchall()
    [(6,)]

    """
    if hasattr(model, "fit"):
        check_is_fitted(model)
    spoken, schema = dialect_named(dialect), schema_of(model)
    wanted = _wanted(output)
    steps = Steps(_table(table), spoken.limit)
    cells = Cells(schema, steps, spoken, _renamed(columns, schema))
    kept = [steps.read("k", exp.Column(this=quoted(name))) for name in _listed_names(keep)]
    answer = answer_of(model, cells, joint=wanted is None or "log_joint" in wanted)
    found = _outputs(answer, steps, _available(wanted, answer, model))
    refused = steps.let("refused", some(cells.refused)) if cells.refused else None
    names = _names(list(keep), [name for name, _ in found], spoken)
    values = [*kept, *(_answered(value, refused) for _, value in found)]
    query = steps.select([(quoted(name), value) for name, value in zip(names, values, strict=True)])
    return query.sql(dialect=spoken.name, pretty=pretty)


def _table(table: str | Sequence[str]) -> Expression:
    parts = [table] if isinstance(table, str) else list(table)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f'table must be a name, or ("schema", "table"), found {table!r}')
    places = ("this", "db", "catalog")
    return exp.Table(**{place: quoted(part) for place, part in zip(places, reversed(parts), strict=False)})


def _listed_names(keep: Sequence[str]) -> list[str]:
    if isinstance(keep, str) or not all(isinstance(name, str) for name in keep):
        raise ValueError(f"keep must be a list of names of columns, found {keep!r}")
    return list(keep)


def _renamed(columns: Mapping[str, str] | None, schema: Schema) -> Mapping[str, str]:
    given = dict(columns or {})
    unknown = [name for name in given if name not in schema.names]
    if unknown:
        raise ValueError(
            f"columns names {listed(unknown)}, which the model was not fitted with; "
            f"it has {listed(schema.names, 12)}"
        )
    return given


def _wanted(output: Iterable[str] | None) -> list[str] | None:
    if output is None:
        return None
    wanted = [output] if isinstance(output, str) else list(output)
    unknown = [name for name in wanted if name not in OUTPUTS]
    if unknown or not wanted:
        raise ValueError(f"output must be some of {list(OUTPUTS)}, found {unknown or wanted}")
    return wanted


def _available(wanted: list[str] | None, answer: Answer, model: Any) -> list[str]:
    """The outputs, in the usual order; log joints only of a model that has them."""
    has_joint = answer.scores.generative
    if wanted is not None and "log_joint" in wanted and not has_joint:
        raise ValueError(f'{type(model).__name__} has no log joints; leave "log_joint" out of output')
    return [name for name in OUTPUTS if name in (wanted or OUTPUTS) and (has_joint or name != "log_joint")]


def _outputs(answer: Answer, steps: Steps, wanted: list[str]) -> list[tuple[str, Expression]]:
    values = {
        "log_joint": lambda: _log_joints(answer),
        "log_posterior": lambda: answer.logs.by_class,
        "posterior": lambda: [exponential(log_p) for log_p in answer.logs.by_class],
    }
    found: list[tuple[str, Expression]] = []
    for name in wanted:
        if name == "predicted":
            found.append((name, _decision(answer)))
            continue
        labels = answer.scores.labels
        found += [(f"{name}_{k}", value) for k, value in zip(labels, values[name](), strict=True)]
    return found


def _log_joints(answer: Answer) -> list[Expression]:
    scores, found = answer.scores, answer.scores.by_class
    if scores.shared is not None:
        found = [add(score, scores.shared) for score in found]
    if scores.impossible is None:
        return found
    return [case((scores.impossible, number(float("-inf"))), otherwise=value) for value in found]


def _decision(answer: Answer) -> Expression:
    """The label of the decision; labels of several types are texts."""
    as_text = len({isinstance(one, str) for one in answer.labels}) > 1
    written = [text(str(one)) if as_text else label(one) for one in answer.labels]
    return case(*((equal(answer.decision, whole(code)), one) for code, one in enumerate(written)))


def _answered(value: Expression, refused: Expression | None) -> Expression:
    if refused is None:
        return value
    return case((exp.Not(this=exp.Coalesce(this=refused, expressions=[exp.Boolean(this=False)])), value))


def _names(keep: list[str], outputs: list[str], dialect: Dialect) -> list[str]:
    names = dialect.names(outputs)
    clash = [name for name in keep if name in names]
    if clash or len(set(keep)) != len(keep):
        raise ValueError(
            f"keep names {listed(clash or keep)}, which would come out twice; rename the column in a view"
        )
    return [*keep, *names]
