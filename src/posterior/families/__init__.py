"""Families of class-conditional densities, and the distributions they estimate.

A family (`Normal(tied=True)`) holds hyperparameters; a distribution (`NormalDistribution(mean, variance)`)
holds the parameters of every class and can be built by hand.
"""

from posterior.families.bag_of_words import BagOfWords, BagOfWordsDistribution
from posterior.families.base import (
    Distribution,
    Expected,
    Family,
    GapFillingFamily,
    LeftOut,
    NoClosedFormError,
    ProductDistribution,
    Repair,
)
from posterior.families.bernoulli import Bernoulli, BernoulliDistribution
from posterior.families.best_of import BestOf, BestOfDistribution
from posterior.families.beta import Beta, BetaDistribution
from posterior.families.categorical import Categorical, CategoricalDistribution
from posterior.families.exponential import Exponential, ExponentialDistribution
from posterior.families.few_values import FewValues, FewValuesDistribution
from posterior.families.from_scipy import FromScipy, FromScipyDistribution
from posterior.families.gamma import Gamma, GammaDistribution
from posterior.families.gaussian import MultivariateNormalDistribution
from posterior.families.histogram import Histogram, HistogramDistribution
from posterior.families.kernel_density import KernelDensity, KernelDensityDistribution
from posterior.families.laplace import Laplace, LaplaceDistribution
from posterior.families.mixture import MixtureOfNormals, MixtureOfNormalsDistribution
from posterior.families.multinomial import Multinomial, MultinomialDistribution
from posterior.families.multivariate_normal import MultivariateNormal
from posterior.families.negative_binomial import NegativeBinomial, NegativeBinomialDistribution
from posterior.families.normal import LogNormal, LogNormalDistribution, Normal, NormalDistribution
from posterior.families.one_dependence import OneDependence, OneDependenceDistribution
from posterior.families.parameters import Parameter
from posterior.families.poisson import Poisson, PoissonDistribution
from posterior.families.student_t import StudentT, StudentTDistribution
from posterior.families.tree_augmented import TreeAugmented, TreeAugmentedDistribution

__all__ = [
    "BagOfWords",
    "BagOfWordsDistribution",
    "Bernoulli",
    "BernoulliDistribution",
    "BestOf",
    "BestOfDistribution",
    "Beta",
    "BetaDistribution",
    "Categorical",
    "CategoricalDistribution",
    "Distribution",
    "Expected",
    "Exponential",
    "ExponentialDistribution",
    "Family",
    "FewValues",
    "FewValuesDistribution",
    "FromScipy",
    "FromScipyDistribution",
    "Gamma",
    "GammaDistribution",
    "GapFillingFamily",
    "Histogram",
    "HistogramDistribution",
    "KernelDensity",
    "KernelDensityDistribution",
    "Laplace",
    "LaplaceDistribution",
    "LeftOut",
    "LogNormal",
    "LogNormalDistribution",
    "MixtureOfNormals",
    "MixtureOfNormalsDistribution",
    "Multinomial",
    "MultinomialDistribution",
    "MultivariateNormal",
    "MultivariateNormalDistribution",
    "NegativeBinomial",
    "NegativeBinomialDistribution",
    "NoClosedFormError",
    "Normal",
    "NormalDistribution",
    "OneDependence",
    "OneDependenceDistribution",
    "Parameter",
    "Poisson",
    "PoissonDistribution",
    "ProductDistribution",
    "Repair",
    "StudentT",
    "StudentTDistribution",
    "TreeAugmented",
    "TreeAugmentedDistribution",
]
