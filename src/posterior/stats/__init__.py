"""Statistics that add up over disjoint rows."""

from posterior.stats.base import ColumnFact, Statistics
from posterior.stats.class_sums import ClassSums
from posterior.stats.counts import CategoryCounts, Totals
from posterior.stats.level_pairs import LevelPairs
from posterior.stats.location import Location
from posterior.stats.moments import Moments
from posterior.stats.pair_moments import PairMoments
from posterior.stats.sample import Sample
from posterior.stats.scatter import Scatter
from posterior.stats.value_table import ValueTable
from posterior.stats.words import WordFrequencies, WordTotals

__all__ = [
    "CategoryCounts",
    "ClassSums",
    "ColumnFact",
    "LevelPairs",
    "Location",
    "Moments",
    "PairMoments",
    "Sample",
    "Scatter",
    "Statistics",
    "Totals",
    "ValueTable",
    "WordFrequencies",
    "WordTotals",
]
