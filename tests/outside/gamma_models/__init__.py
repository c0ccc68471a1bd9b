"""A package of somebody else: the gamma family, and a model with it that is compared with ours."""

from gamma_models.candidate import GAMMA_BAYES
from gamma_models.family import Gamma, GammaDistribution, GammaSums
from posterior.persistence import register

__all__ = ["GAMMA_BAYES", "Gamma", "GammaDistribution", "GammaSums"]

register("gamma_models.gamma", Gamma)
register("gamma_models.gamma-sums", GammaSums)
