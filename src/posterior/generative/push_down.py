"""Sums that a database works out by itself, where every family of a composition can be had from those."""

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from posterior.dataset import Rows
from posterior.stats import ClassSums, Statistics

if TYPE_CHECKING:
    from posterior.generative.plan import Block
    from posterior.generative.spec import GenerativeSpec


def pushed_down(spec: "GenerativeSpec", rows: Rows, n_classes: int, limit: float) -> Any:
    """Class weights, number of rows and statistics of each block; None where the rows must be read.

    They must be wherever something is out of the ordinary, such as infinity or numbers beyond the `limit`:
    the reading computes it all the same, or says which row is at fault.
    """
    by_family = getattr(rows, "family_sums", None)  # of rows on a device, which have all that families need
    if by_family is not None:
        return by_family(spec.blocks)
    ask = getattr(rows, "class_sums", None)  # what rows in memory do not have
    forms = {block.family.sums_of for block in spec.blocks}
    if ask is None or not forms or "" in forms:
        return None
    moments, values = ([b for b in spec.blocks if b.family.sums_of == form] for form in ("moments", "values"))
    found: ClassSums | None = ask(_columns(moments), _columns(values))
    if found is None:
        return None
    parts: dict[int, Statistics] = {}
    first = 0
    for block in moments:
        parts[id(block)] = found.moments.marginal(range(first, first + len(block.columns)))
        first += len(block.columns)
    if found.values is not None:
        some = replace(spec, blocks=tuple(values))
        schema = rows.schema
        try:
            sums = found.values.reduce(lambda chunk: some.sums(chunk, schema, n_classes), dense=some.dense)
        except ValueError:
            return None  # a value that a family refuses: the reading says in which row
        parts |= {id(block): part for block, part in zip(values, sums.blocks, strict=True)}
    if any(not part.magnitude < limit for part in parts.values()):
        return None
    ordered = tuple(_marked(parts[id(block)], block, found) for block in spec.blocks)
    return found.weight, found.n_rows, ordered


def _columns(blocks: "list[Block]") -> tuple[int, ...]:
    return tuple(j for block in blocks for j in block.columns)


def _marked(part: Any, block: "Block", found: ClassSums) -> Any:
    """Statistics whose marks tell columns apart, as marks do that come from rows."""
    if getattr(part, "mark", None) is None:
        return part
    mark = np.arange(1.0, len(block.columns) + 1)
    alike = defaultdict(list)
    for fact in replace(part, mark=np.zeros_like(mark)).facts():
        if fact.problem == "duplicate":
            alike[fact.of[0]].append(fact.column)
    for first, others in alike.items():
        kept = [first]
        for j in others:
            twin = next((i for i in kept if found.same(block.columns[i], block.columns[j])), None)
            if twin is None:
                kept.append(j)
            else:
                mark[j] = mark[twin]
    return replace(part, mark=mark)
