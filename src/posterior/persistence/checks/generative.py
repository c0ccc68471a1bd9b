"""What must hold of generative models: classes, columns, densities and sums fit each other.

Compiled code reads tables of categories and of words by numbers that come from the schema: a table that is
smaller than the schema says would be read beyond its end.
"""

from collections.abc import Sequence
from typing import Any, get_type_hints

import numpy as np

from posterior.bayes import impossible_classes
from posterior.families import Distribution, Family
from posterior.generative import Block, ClassStatistics, FittedBlock, GenerativeModel, GenerativeSpec
from posterior.generative.plan import Filling
from posterior.generative.tuning import Tuning
from posterior.math import NOT_ONE, are_places, sum_to_one
from posterior.persistence.arrays import shapes_in, sizes_in
from posterior.persistence.checks.tables import columns_at
from posterior.persistence.errors import refuse, refuse_unless
from posterior.schema import Column, Schema
from posterior.stats.base import LARGEST_SUM, ROUNDING

# Which kinds of columns can be read in each form.
KINDS = {
    "codes": ("categorical", "binary"),
    "mixed": ("continuous", "count", "binary", "categorical"),
    "texts": ("text",),
    "values": ("continuous", "count", "binary"),
    "matrix": ("continuous", "count", "binary"),
}


def check_model(model: GenerativeModel) -> None:
    """Everything in a model is of the same classes and of columns of the same table."""
    refuse(impossible_classes(model.classes))
    refuse_unless(sum_to_one(np.exp(model.log_prior)), "priors that do not sum to one")
    used = [j for block in model.blocks for j in block.columns]
    refuse_unless(are_places(used, len(model.schema)), "a column that is described twice, or not there")
    weights = model.weights
    fitting = weights is None or (len(weights) == len(model.schema) and bool((weights >= 0).all()))
    refuse_unless(
        fitting and (weights is None or bool(np.isfinite(weights).all())), "weights of other columns"
    )
    for block in model.blocks:
        _check_block(block, model.schema, len(model.classes))
    if model.spec is None:
        refuse_unless(model.statistics is None, "sums of no known composition")
        return
    _check_spec(model.spec, model)
    if model.statistics is not None:
        _check_statistics(model.statistics, model.spec, model)


def _check_block(block: FittedBlock, schema: Schema, n_classes: int) -> None:
    """A density reads columns in a form that they have, and as many of them as it describes."""
    columns, density = columns_at(schema, block.columns), block.distribution
    for filling in block.fillings:
        _check_filling(filling, schema)
    if density is None:
        refuse_unless(not columns, "columns without a density")
        return
    size = (density.n_classes, density.n_columns)
    refuse_unless(size == (n_classes, len(columns)), "a density of other classes or columns than the model's")
    refuse_unless(block.reads in density.reads, f"a density that does not read {block.reads!r:.40}")
    for column in columns:
        fitting = column.kind in KINDS[block.reads] or column.empty
        refuse_unless(fitting and not column.ignored, f"a {column.kind} column that is read as {block.reads}")
    refuse(density.misfit([column.size for column in columns]))


def _check_filling(filling: Filling, schema: Schema) -> None:
    places = (filling.column, *filling.sources)
    refuse_unless(are_places(places, len(schema)), "a column made of others that are not there")
    refuse_unless(all(schema.columns[j].kind != "text" for j in places), "a text made of other columns")
    refuse_unless(len(filling.coef) == len(filling.sources), "other coefficients than columns")
    refuse_unless(abs(filling.intercept) < np.inf and filling.slack >= 0, "a rule that no row can keep")


def _check_spec(spec: GenerativeSpec, model: GenerativeModel) -> None:
    """Each family has a density of its own kind, of the columns that were planned."""
    n = len(model.schema)
    refuse_unless(are_places(spec.without_family, n), "a column that is not there")
    refuse_unless(are_places([j for b in spec.blocks for j in b.columns], n), "a column of two families")
    refuse_unless(len(spec.blocks) == len(model.blocks), "other densities than families")
    for asked, fitted in zip(spec.blocks, model.blocks, strict=True):
        if fitted.plan is None:
            refuse_unless(fitted.distribution is None, "a density without a plan")
        else:
            _check_plan(asked, fitted)


def _check_plan(asked: Block, fitted: FittedBlock) -> None:
    plan, columns = fitted.plan, asked.columns
    assert plan is not None  # noqa: S101 -- for the type checker
    refuse_unless(plan.keep and are_places(plan.keep, len(columns)), "a plan for columns that are not there")
    refuse_unless(plan.whole == (len(plan.keep) == len(columns)), "a plan for other columns")
    refuse_unless(fitted.columns == tuple(columns[j] for j in plan.keep), "other columns than planned")
    refuse_unless(type(plan.family) is type(asked.family), "a plan for another family")
    expected = get_type_hints(type(plan.family).estimate)["return"]
    refuse_unless(type(fitted.distribution) is expected, "a density of another family")


def _check_statistics(sums: ClassStatistics, spec: GenerativeSpec, model: GenerativeModel) -> None:
    refuse_unless(np.array_equal(sums.classes, model.classes), "sums of other classes")
    refuse_unless(sums.schema == model.schema and sums.n_rows >= 0, "sums of another table")
    refuse_unless(sums.columns == tuple(block.columns for block in spec.blocks), "sums of other columns")
    refuse_unless(len(sums.blocks) == len(spec.blocks), "other sums than families")
    refuse_unless(0 < sums.weight.sum() <= LARGEST_SUM, "classes of no weight, or of too much")
    refuse_unless(abs(sums.weight.sum() - model.weight) <= ROUNDING * model.weight, "rows of another weight")
    priors = np.exp(spec.priors.log_prior(sums.weight, sums.classes))
    refuse_unless(np.allclose(priors, np.exp(model.log_prior), atol=NOT_ONE), "priors of other rows")
    for block, part in zip(spec.blocks, sums.blocks, strict=True):
        _check_sums(part, block.family, columns_at(model.schema, block.columns), len(model.classes))
        refuse(part.impossible(sums.weight))


def _check_sums(sums: Any, family: Family[Any], columns: Sequence[Column], n_classes: int) -> None:
    """Sums have the type and the shapes that their family would give them, so that more can be added."""
    expected = get_type_hints(type(family).summarize)["return"]
    refuse_unless(type(sums) is expected, "sums of another family")
    found = sizes_in(vars(sums), shapes_in(get_type_hints(expected, include_extras=True)))
    expected_sizes = {"K": n_classes, "d": family.n_summed(len(columns))}
    right = all(found.get(letter, size) == size for letter, size in expected_sizes.items())
    refuse_unless(right, "sums of other classes or columns")
    refuse(family.misfit(sums, [column.size for column in columns]))


def impossible_density(model: GenerativeModel, kind: type[Distribution] | None) -> str:
    """What a model that must have one block, with a density of this class if it has any, has instead."""
    if kind is not None and len(model.blocks) != 1:
        return "several densities where one belongs"
    other = kind is not None and any(type(density) is not kind for _, density in model.distributions)
    return "a density of another family" if other else ""


def check_tuning(tuning: Tuning) -> None:
    """Every candidate has a value for each setting, and a loss."""
    n = len(tuning.values)
    refuse_unless(n == len(tuning.log_loss) and 0 <= tuning.chosen < n, "other losses than candidates")
    refuse_unless(
        all(len(row) == len(tuning.settings) for row in tuning.values), "candidates without settings"
    )
