"""The estimator that a name stands for on a table, its settings chosen."""

from typing import Any

from sklearn.base import clone

from posterior.comparison.candidates import POOL, Candidate, candidates_for, candidates_named
from posterior.comparison.choosing import FOLDS, MOST_ROWS, settled
from posterior.comparison.evaluation import Evaluation, results_of
from posterior.comparison.facts import TableFacts
from posterior.comparison.folds import deal
from posterior.comparison.inputs import compared_table
from posterior.comparison.sampling import sample_rows


def estimator_for(candidate: Candidate, table: TableFacts) -> Any:
    """An estimator that has learnt nothing yet; NotForThisTableError where the model does not apply."""
    choice = candidate.suited(table)
    if candidate.approach != POOL:
        return clone(settled(choice, table.rows))
    rows, n = table.rows, min(table.n_rows, MOST_ROWS)
    some = rows if n == len(rows) else rows.part(sample_rows(rows.codes, n, rows.groups))
    folds = deal(some.codes, folds=min(FOLDS, len(some)), repeats=1, groups=some.groups)
    evaluation = Evaluation.of(TableFacts(some), folds)
    candidates, left_out = candidates_for([candidate], evaluation.table)
    results = results_of(candidates, evaluation, left_out)
    pool = next((result for result in results if result.approach == POOL), None)
    if pool is None:
        raise candidate.unsuited(left_out[candidate.name])
    return clone(pool.estimator)


def model_for(name: str, X: Any, y: Any, kinds: Any = None) -> Any:
    """The estimator that a name stands for on this table, unfitted; a ridge's strength is chosen already.

    >>> from sklearn.datasets import load_iris
    >>> model_for("logistic", *load_iris(return_X_y=True))
    LogisticRegression(C=100.0, missing='indicator', standardize=True)
    """
    (candidate,) = candidates_named([name])
    return estimator_for(candidate, TableFacts(compared_table(X, y, kinds=kinds)))


def unused_by(name: str, X: Any, y: Any, kinds: Any = None) -> tuple[str, ...]:
    """The columns that hold something and that a model leaves out, such as categories by LDA.

    >>> from posterior.datasets import load_penguins
    >>> unused_by("lda", load_penguins().X, load_penguins().y)
    ('island', 'sex')
    """
    (candidate,) = candidates_named([name])
    facts = TableFacts(compared_table(X, y, kinds=kinds))
    used = candidate.suited(facts).columns
    there = sorted((*facts.continuous, *facts.others))
    return facts.names([j for j in there if j not in used]) if used else ()
