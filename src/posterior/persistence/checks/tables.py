"""What must hold of tables and of class labels."""

from collections.abc import Sequence

from posterior.bayes import LEVELS
from posterior.persistence.errors import refuse_unless
from posterior.schema import Column, Schema
from posterior.schema.columns import Alike

# Where rows drawn from a model may go.
CONTAINERS = ("numpy", "sparse", "pandas", "polars", "pyarrow", "modin", "cudf")


def check_column(column: Column) -> None:
    """A column has categories where its kind has, each once."""
    levels = column.categories
    allowed = {"categorical": levels is not None, "binary": levels is None or len(levels) <= 2}
    refuse_unless(allowed.get(column.kind, levels is None), f"a {column.kind} column with other levels")
    plain = all(type(level) in LEVELS and level == level for level in levels or ())  # noqa: PLR0124 -- not NaN
    refuse_unless(plain, "categories that are neither strings nor numbers")
    refuse_unless(len(set(levels or ())) == len(levels or ()), "a category twice")


def columns_at(schema: Schema, places: Sequence[int]) -> Sequence[Column]:
    """The columns at some places; of a million that are alike one is as good as another."""
    if isinstance(schema.columns, Alike):
        return [schema.columns.example] * len(places)
    return [schema.columns[j] for j in places]


def check_alike(columns: Alike) -> None:
    """Columns that differ in nothing but their names are numbers."""
    example = columns.example
    numbers = example.categories is None and example.kind != "text" and not example.ignored
    refuse_unless(len(columns) > 0 and numbers, "columns that cannot be alike")


def check_readings(schema: Schema) -> None:
    """Each reading is of a column of its own, and gives the columns that are in its place."""
    places = [reading.place for reading in schema.readings]
    fits = len(set(places)) == len(places) and all(0 <= place < schema.n_inputs for place in places)
    refuse_unless(fits, "readings of columns that are not there")
    given: dict[int, list[str]] = {place: [] for place in places}
    for place, name in zip(schema.places, schema.names, strict=True):
        given.get(place, []).append(name)
    same = all(given[reading.place] == list(reading.outputs) for reading in schema.readings)
    refuse_unless(same, "readings of other columns")


def check_schema(schema: Schema) -> None:
    """A table is of a kind that we know, and has a label for each column or none at all."""
    refuse_unless(schema.container in CONTAINERS, f"a table of the unknown kind {schema.container!r:.40}")
    refuse_unless(len(schema) > 0, "a table without columns")
    refuse_unless(schema.labels is None or len(schema.labels) == len(schema), "other labels than columns")
    hash(schema.labels)  # raises an error for what no column is called
    if schema.readings:
        check_readings(schema)
