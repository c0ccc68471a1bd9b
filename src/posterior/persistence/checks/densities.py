"""What must hold of densities and of the sums they are estimated from."""

import numpy as np

from posterior.decision.posteriors import NOT_ONE
from posterior.families import BernoulliDistribution, CategoricalDistribution
from posterior.persistence.checks import refuse_unless, sum_to_one
from posterior.stats import Scatter


def check_bernoulli(density: BernoulliDistribution) -> None:
    """On and off are all there is."""
    both = np.exp(np.stack([density.log_on, density.log_off], axis=-1))
    refuse_unless(sum_to_one(both), "probabilities that do not sum to one")
    apart = np.abs(both[..., 0] - density.probability)
    refuse_unless((apart <= NOT_ONE).all(), "two probabilities of one event")
    refuse_unless(
        density.threshold is None or abs(density.threshold) < np.inf, "a threshold that is no number"
    )


def check_categorical(density: CategoricalDistribution) -> None:
    """One table for each column or a joint one, of probabilities that sum to one in each class."""
    tables = density.log_tables
    refuse_unless(tables and len(tables) == len(density.log_unseen), "no table of probabilities")
    refuse_unless(not density.joint or len(tables) == 1, "more than one joint table")
    for table in tables:
        refuse_unless(table.ndim == 2 or density.joint, "a joint table of columns that are apart")
        probability = np.exp(table).reshape(len(table), -1)
        refuse_unless(sum_to_one(probability) or not table.size, "probabilities that do not sum to one")


def check_scatter(sums: Scatter) -> None:
    """One matrix for all classes where they are pooled, else one for each."""
    expected = 1 if sums.pooled else len(sums.weight)
    refuse_unless(len(sums.scatter) == expected, "other scatter matrices than classes")
    refuse_unless((sums.third is None) == (sums.fourth is None), "fourth moments without third ones")
