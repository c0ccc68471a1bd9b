"""Columns that have few values in some parts of a table, and many in others."""

from dataclasses import replace
from typing import Any

from posterior.families import Family, FewValues
from posterior.generative.model import GenerativeModel
from posterior.generative.plan import Block


def with_same_few_values(a: GenerativeModel, b: GenerativeModel) -> tuple[GenerativeModel, GenerativeModel]:
    """Two models, ready to be added, in which columns are normal that are `FewValues` in one of them only.

    A table in which a column has few values has no part in which it has many, so that this is what both parts
    together would be described by.
    """
    apart = _few(a) ^ _few(b)
    apart &= _described(a) & _described(b)
    return (_normal(a, apart), _normal(b, apart)) if apart else (a, b)


def _few(model: GenerativeModel) -> set[int]:
    blocks = () if model.spec is None else model.spec.blocks
    return {j for block in blocks if isinstance(block.family, FewValues) for j in block.columns}


def _described(model: GenerativeModel) -> set[int]:
    return set() if model.spec is None else {j for block in model.spec.blocks for j in block.columns}


def _normal(model: GenerativeModel, apart: set[int]) -> GenerativeModel:
    """The specification and the statistics of a model with a block for each of these columns."""
    spec, statistics = model.spec, model.statistics
    if spec is None or statistics is None:
        return model
    pairs: list[tuple[Block, Any]] = []
    for block, sums in zip(spec.blocks, statistics.blocks, strict=True):
        rest = [i for i, j in enumerate(block.columns) if j not in apart]
        if len(rest) == len(block.columns):
            pairs.append((block, sums))
            continue
        if rest:
            columns = tuple(block.columns[i] for i in rest)
            family = block.family.marginal(rest)
            pairs.append((replace(block, columns=columns, family=family), sums.marginal(rest)))
        for i in sorted(set(range(len(block.columns))) - set(rest)):
            one: Any = sums.marginal([i])
            described: Family[Any] = block.family.marginal([i])
            if isinstance(described, FewValues):
                one, described = described.moments(one), described.normal
            pairs.append((replace(block, columns=(block.columns[i],), family=described), one))
    pairs.sort(key=lambda pair: pair[0].columns)
    blocks = tuple(block for block, _ in pairs)
    return replace(
        model,
        spec=replace(spec, blocks=blocks),
        statistics=replace(
            statistics,
            columns=tuple(block.columns for block in blocks),
            blocks=tuple(found for _, found in pairs),
        ),
    )
