"""Naive Bayes whose positive columns are gamma, as a model to be compared."""

import numpy as np

from gamma_models.family import Gamma
from posterior import NaiveBayes
from posterior.comparison import Candidate, EstimatorChoice, NotForThisTableError, TableFacts


def gamma_bayes(table: TableFacts) -> EstimatorChoice:
    """Gamma for every continuous column without a value that is not positive."""
    positive = [j for j in table.continuous if not (table.rows.values((j,)) <= 0).any()]
    if not positive:
        raise NotForThisTableError("no continuous column has positive values only")
    families = dict.fromkeys(table.chosen(positive), Gamma())
    estimator = NaiveBayes(families=families, kinds=table.pinned or None)
    used = tuple(int(j) for j in np.union1d(table.continuous, table.others))
    return EstimatorChoice((estimator,), used, f"{len(positive)} gamma columns")


GAMMA_BAYES = Candidate(
    "gamma-bayes", "gamma Bayes", "generative", "naive Bayes of gamma columns", gamma_bayes
)
