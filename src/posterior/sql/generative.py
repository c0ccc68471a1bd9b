"""A generative model as SQL: log priors, and what each block of columns adds."""

import numpy as np
from sqlglot import exp

from posterior.families import MultivariateNormalDistribution
from posterior.generative import GenerativeModel
from posterior.generative.plan import Filling
from posterior.sql.blocks import Term, terms_of
from posterior.sql.cells import Cells
from posterior.sql.expressions import (
    Expression,
    above,
    number,
    or_else,
    size,
    some,
    subtract,
    times,
    total,
)
from posterior.sql.gaussian import gaussian_terms
from posterior.sql.scores import Scores


def generative_scores(model: GenerativeModel, cells: Cells, *, joint: bool) -> Scores:
    """The scores of a generative model; with `joint` also what its log joints need beside them."""
    weighted: list[tuple[float, Term]] = []
    for block, distribution in model.distributions:
        if not any(model.weight_of(block)):
            continue
        weights = model.weight_of(block).tolist()
        found = terms_of(distribution, block, cells)
        weighted += [(weights[term.place], term) for term in found if weights[term.place] > 0]
    by_class = []
    for k, log_prior in enumerate(model.log_prior.tolist()):
        parts = [_times(weight, term.by_class[k]) for weight, term in weighted]
        by_class.append(cells.steps.let("score", total([number(log_prior), *parts])))
    shared = [_times(w, term.shared) for w, term in weighted if term.shared is not None] if joint else []
    return Scores(
        model.classes,
        by_class,
        np.asarray(model.log_prior),
        total(shared) if shared else None,
        _impossible(model, [term for _, term in weighted], cells) if joint else None,
        generative=True,
    )


def _times(weight: float, value: Expression) -> Expression:
    return value if weight == 1 else times(number(weight), value)


def _impossible(model: GenerativeModel, terms: list[Term], cells: Cells) -> Expression | None:
    """Whether a row is outside the support of every class, or breaks a rule that all of training kept."""
    parts = [term.impossible for term in terms if term.impossible is not None]
    parts += [_broken(rule, cells) for rule in model.rules]
    return some(parts) if parts else None


def _broken(rule: Filling, cells: Cells) -> Expression:
    made = [times(number(c), cells.value(j)) for c, j in zip(rule.coef.tolist(), rule.sources, strict=True)]
    apart = subtract(subtract(cells.value(rule.column), number(rule.intercept)), total(made))
    return or_else(above(size(apart), number(rule.slack)), exp.Boolean(this=False))


terms_of.register(MultivariateNormalDistribution, gaussian_terms)
