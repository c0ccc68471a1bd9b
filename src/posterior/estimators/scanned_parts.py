"""`partial_fit` of rows that are read where they live: what they add to what was learnt before."""

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from posterior._blas import one_blas_thread
from posterior._types import AnyArray
from posterior.estimators.table_estimator import columns_of
from posterior.estimators.training_rows import told_kinds
from posterior.generative import GenerativeModel
from posterior.schema import Schema, read_table
from posterior.schema.classes import places_among


def refuse_resumed_part(table: Any) -> None:
    """Refuse to keep the sums of a part: what was learnt before it is not in the file."""
    if table.resume is not None:
        raise ValueError("resume= is for fit; partial_fit adds to what was learnt before: leave it out")


def added_scan(estimator: Any, table: Any, classes: Any) -> GenerativeModel:
    """The model of what a generative estimator has seen so far and of the rows of a scan."""
    refuse_resumed_part(table)
    with one_blas_thread:  # sums are added up by products, too
        return _added_scan(estimator, table, classes)


def _added_scan(estimator: Any, table: Any, classes: Any) -> GenerativeModel:
    if not table.rereads:
        return added_batches(estimator, table, classes).model_  # type: ignore[no-any-return]
    if hasattr(estimator, "model_"):
        return _grown_model(estimator, table, classes)
    told = told_kinds(clone(estimator), table)
    schema = told._schema(table.source)
    spec, known = told._spec(schema, table.source), _with(classes, table.classes)
    rows = table.rows(schema, known)
    if told._first_part_chooses:
        model: GenerativeModel = told._fitted_elsewhere(spec, rows, known)
        told._refuse_unmergeable(model.spec, schema)
        return model
    told._refuse_unmergeable(spec, schema)
    spec = spec.prepared(rows)
    return spec.estimate(spec.summarize(rows, known))  # type: ignore[no-any-return]


def _grown_model(estimator: Any, table: Any, classes: Any) -> GenerativeModel:
    """The model of an estimator with the rows of a scan added to its sums."""
    seen: Schema = estimator.model_.schema
    named = columns_of(seen).get("feature_names_in_")
    table = table.read_as(None if named is None else named.tolist(), seen.n_inputs, type(estimator).__name__)
    # Dates, numbers in disguise and spellings are read as the first part showed them.
    source, few = seen.read(table.source), seen.read(read_table(table.source.native))
    spec, before = estimator._grown(source, None, few)
    tuning = estimator.model_.tuning
    if tuning is not None and not estimator._first_part_chooses:
        estimator._refuse_unmergeable(estimator._spec(seen, source), seen)
    schema = estimator._schema(source, estimator._kinds_so_far)
    known = _with(classes, table.classes)
    rows = table.rows(schema, known)
    model: GenerativeModel = spec.estimate(before + spec.summarize(rows, known))
    return replace(model, tuning=tuning)


def added_batches(estimator: Any, table: Any, classes: Any) -> Any:
    """A copy of an estimator, with what it had learnt, that has learnt from a scan batch by batch, in order.

    It is a copy, so that an error on the way leaves the estimator as it was.
    """
    refuse_resumed_part(table)
    learnt = told_kinds(clone(estimator), table)
    settings = learnt.get_params(deep=False)
    vars(learnt).update({k: v for k, v in vars(estimator).items() if k not in settings})
    n = 0
    for X, y, weight in table.parts():
        learnt.partial_fit(X, y, classes=classes, sample_weight=weight)
        n += len(y)
    if not n:
        raise ValueError(f"{table.engine.name} has no rows; a stream may have been read before")
    return learnt


def _with(classes: Any, found: AnyArray) -> AnyArray:
    """The classes that may appear, where they are named, among which those of the rows must be."""
    if classes is None:
        return found
    return places_among(found, classes)[0]
