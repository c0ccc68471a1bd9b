"""What a fitted generative model says of rows on a device, in arrays of the same library there."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from posterior._types import Floats
from posterior.engines.device import cuda
from posterior.engines.device.rows import TO_THE_HOST, DeviceRows
from posterior.engines.device.scores import Form, form_of, scorer_of
from posterior.families import BestOfDistribution
from posterior.generative import GenerativeModel
from posterior.kernels import array_api

Answer = Literal["posterior", "log_posterior", "best", "joint", "evidence", "density"]
# Answers for which a term that all classes share does not matter, and those in which columns have weights.
RELATIVE = frozenset({"posterior", "log_posterior", "best"})
WEIGHTED = RELATIVE | {"joint"}


def refuse_unscored(model: GenerativeModel) -> None:
    """Raise the error of a model with a distribution, or a member of one, that scores no rows on a device."""
    for _, distribution in model.distributions:
        scorer_of(distribution)
        for member in distribution.members if isinstance(distribution, BestOfDistribution) else ():
            scorer_of(member)


def answer(model: GenerativeModel, rows: DeviceRows, what: Answer, log_prior: Floats | None = None) -> Any:
    """Posteriors, their logs, codes of the best class, log joints, log densities of rows on a device."""
    prior = model.log_prior if log_prior is None else log_prior
    fast = cuda.answer(model, rows, what, prior)
    if fast is not None:
        return fast
    library, score = rows.library, scorer(model, rows, what)
    columns = tuple(range(rows.table.shape[1]))
    xp, on_device = library.xp, library.to_device(prior)
    finish: dict[str, Callable[[Any], Any]] = {
        "posterior": lambda s: array_api.posteriors(xp, s + on_device, on_device, logs=False),
        "log_posterior": lambda s: array_api.posteriors(xp, s + on_device, on_device, logs=True),
        "best": lambda s: array_api.best(xp, s + on_device, on_device),
        "joint": lambda s: s + on_device,
        "evidence": lambda s: array_api.evidence(xp, s + on_device),
        "density": lambda s: s,
    }
    rows.refuse_infinity(columns)
    parts = [
        finish[what](score(part.rows)) for part in rows.parts(columns, 2 * len(columns) + 4 * model.n_classes)
    ]
    found = parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)
    if what == "best" or not rows.single or found.dtype == xp.float32:
        return found
    return xp.astype(found, xp.float32)


def affine(rows: DeviceRows, columns: Sequence[int], centre: Floats, coef: Floats, level: Floats) -> Any:
    """(x − centre) coef + level of complete rows on a device, (n, r)."""
    library = rows.library
    xp = library.xp
    c, w, b = (library.to_device(a) for a in (centre, np.ascontiguousarray(coef), level))
    rows.refuse_infinity(columns)
    parts = [(part.rows - c) @ w + b for part in rows.parts(columns, 2 * len(columns) + coef.shape[1])]
    found = xp.concat(parts, axis=0)
    if library.scalar(xp.any(xp.isnan(found))):
        raise ValueError(
            "rows with gaps (NaN) are not scored on a device by this model; "
            f"{rows.with_gaps(columns)}: fill the gaps, or {TO_THE_HOST}"
        )
    return xp.astype(found, xp.float32) if rows.single else found


def scorer(model: GenerativeModel, rows: DeviceRows, what: Answer) -> Callable[[Any], Any]:
    """The function from rows (m, d) to the log density of each class, (m, K), or all of it that matters."""
    library, forms = rows.library, []
    for block, distribution in model.distributions:
        weight = model.weight_of(block) if what in WEIGHTED else np.ones(len(block.columns))
        columns = [model.schema.columns[j] for j in block.columns]
        compared = distribution.in_single() if rows.single else distribution
        form = form_of(library, compared, columns, weight, relative=what in RELATIVE)
        whole = list(block.columns) == list(range(rows.table.shape[1]))
        places = None if whole else library.to_device(np.asarray(block.columns, dtype=np.int64))
        forms.append((places, form))
    return lambda part: _broken(model, rows, what, part, _added(library.xp, forms, model.n_classes, part))


def _added(xp: Any, forms: list[tuple[Any, Form]], n_classes: int, part: Any) -> Any:
    total = xp.zeros((part.shape[0], n_classes), dtype=part.dtype, device=part.device)
    for places, form in forms:
        total = total + form.log_density(part if places is None else xp.take(part, places, axis=1))
    return total


def _broken(model: GenerativeModel, rows: DeviceRows, what: Answer, part: Any, scores: Any) -> Any:
    """Densities that are zero where a row breaks a rule that all of training kept."""
    if what in RELATIVE:
        return scores
    library = rows.library
    xp = library.xp
    for rule in model.rules:
        told = part[:, rule.column] - rule.intercept
        for j, coef in zip(rule.sources, rule.coef.tolist(), strict=True):
            told = told - coef * part[:, j]
        scores = xp.where((xp.abs(told) > rule.slack)[:, None], xp.zeros_like(scores) - np.inf, scores)
    return scores
