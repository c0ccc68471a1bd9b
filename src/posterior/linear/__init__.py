"""Linear scores learnt by minimising a loss: logistic, softmax and linear regression."""

from posterior.linear.certificate import Certificate
from posterior.linear.design import Design
from posterior.linear.fit import Fit, Problem, solve
from posterior.linear.losses import GaussianLoss, LaplaceLoss, Loss, SoftmaxLoss
from posterior.linear.model import LinearModel
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.replay import IRLSStep, irls_steps
from posterior.linear.scan import RowBlock, Scan
from posterior.linear.solvers import (
    LBFGS,
    SGD,
    FisherScoring,
    GradientDescent,
    IncrementalSolver,
    Iterations,
    LeastAbsolute,
    Newton,
    ProximalNewton,
    Solution,
    Solver,
    Step,
    register_solver,
    solver_named,
    with_settings,
)

__all__ = [
    "LBFGS",
    "SGD",
    "Certificate",
    "Design",
    "ElasticNet",
    "FisherScoring",
    "Fit",
    "GaussianLoss",
    "GradientDescent",
    "IRLSStep",
    "IncrementalSolver",
    "Iterations",
    "LaplaceLoss",
    "LeastAbsolute",
    "LinearModel",
    "Loss",
    "Newton",
    "Objective",
    "Problem",
    "ProximalNewton",
    "RowBlock",
    "Scan",
    "SoftmaxLoss",
    "Solution",
    "Solver",
    "Step",
    "irls_steps",
    "register_solver",
    "solve",
    "solver_named",
    "with_settings",
]
