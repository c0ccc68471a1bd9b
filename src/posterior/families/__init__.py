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
from posterior.families.beta import Beta, BetaDistribution
from posterior.families.categorical import Categorical, CategoricalDistribution
from posterior.families.exponential import Exponential, ExponentialDistribution
from posterior.families.gamma import Gamma, GammaDistribution
from posterior.families.gaussian import MultivariateNormalDistribution
from posterior.families.laplace import Laplace, LaplaceDistribution
from posterior.families.mixture import MixtureOfNormals, MixtureOfNormalsDistribution
from posterior.families.multinomial import Multinomial, MultinomialDistribution
from posterior.families.multivariate_normal import MultivariateNormal
from posterior.families.normal import LogNormal, LogNormalDistribution, Normal, NormalDistribution
from posterior.families.parameters import Parameter
from posterior.families.poisson import Poisson, PoissonDistribution

__all__ = [
    "BagOfWords",
    "BagOfWordsDistribution",
    "Bernoulli",
    "BernoulliDistribution",
    "Beta",
    "BetaDistribution",
    "Categorical",
    "CategoricalDistribution",
    "Distribution",
    "Expected",
    "Exponential",
    "ExponentialDistribution",
    "Family",
    "Gamma",
    "GammaDistribution",
    "GapFillingFamily",
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
    "NoClosedFormError",
    "Normal",
    "NormalDistribution",
    "Parameter",
    "Poisson",
    "PoissonDistribution",
    "ProductDistribution",
    "Repair",
]
