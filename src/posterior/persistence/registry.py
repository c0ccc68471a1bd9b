"""Everything that may be in a model file, one line each. Nothing else is ever made of a file."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

from scipy import sparse
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

from posterior import families as f
from posterior._types import AnyArray, Floats
from posterior.decision.reject import Coverage, Limit, RejectionCost, Threshold
from posterior.decision.scaling import Scaling
from posterior.decision.shift import PriorEstimate
from posterior.estimators.fitted_classifier import FittedClassifier, LearntRule
from posterior.estimators.held_out import HeldOutRows
from posterior.estimators.members import FittedMember
from posterior.estimators.odd_features import TypicalRows
from posterior.estimators.outlier_calibration import CalibrationScores
from posterior.families import shrinkage
from posterior.families.levels import NumberLevels
from posterior.generative import (
    Block,
    ClassStatistics,
    FittedBlock,
    GenerativeModel,
    GenerativeSpec,
    Note,
    Priors,
)
from posterior.generative.plan import Filling, Plan
from posterior.generative.tuning import Tuning
from posterior.linear import Design, Fit, LinearModel, Solution, solvers
from posterior.linear.additive_design import AdditiveDesign
from posterior.linear.certificate import Certificate
from posterior.linear.curves import Curve
from posterior.linear.design import Factor
from posterior.linear.effect_errors import EffectCovariance
from posterior.linear.incremental import IncrementalFit
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.objective import Point
from posterior.linear.penalty_strength import StrengthChoice
from posterior.linear.separation import Separation
from posterior.linear.solvers.base import Progress
from posterior.linear.summary import Summary
from posterior.persistence.checks.generative import check_model, check_tuning
from posterior.persistence.checks.tables import check_alike, check_column, check_schema
from posterior.persistence.estimators import ESTIMATOR_RECORDS
from posterior.persistence.records import (
    ONLY_FOR_TYPES,
    Record,
    record_of_dataclass,
    record_of_parts,
    record_of_tuple,
    records_of_family,
)
from posterior.persistence.texts import TEXT_RECORDS
from posterior.schema import Column, Schema
from posterior.schema.columns import Alike
from posterior.schema.readings import ClockReading, DateReading, LeftOut, NumberReading, Spellings
from posterior.stats import (
    CategoryCounts,
    LevelPairs,
    Location,
    Moments,
    PairMoments,
    Scatter,
    Totals,
    ValueTable,
    WordTotals,
)
from posterior.stats.base import ColumnFact


def _sparse(data: Floats, indices: AnyArray, indptr: AnyArray, shape: tuple[int, int]) -> Any:
    matrix = sparse.csr_array((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _of_fitted_classifier(learnt: FittedClassifier) -> dict[str, Any]:
    """Its parts; rules for rejecting that a file cannot hold are learnt again from the rows held out."""
    parts = {part.name: getattr(learnt, part.name) for part in fields(learnt) if part.name != "_tests"}
    known = [rule for rule in learnt._rules if {type(rule.learnt), type(rule.asked)} <= BY_KIND.keys()]
    return parts | {"_rules": known}


FAMILIES = {
    "normal": f.Normal,
    "log-normal": f.LogNormal,
    "multivariate-normal": f.MultivariateNormal,
    "mixture-of-normals": f.MixtureOfNormals,
    "laplace": f.Laplace,
    "student-t": f.StudentT,
    "from-scipy": f.FromScipy,
    "best-of": f.BestOf,
    "histogram": f.Histogram,
    "few-values": f.FewValues,
    "kernel-density": f.KernelDensity,
    "exponential": f.Exponential,
    "gamma": f.Gamma,
    "beta": f.Beta,
    "poisson": f.Poisson,
    "negative-binomial": f.NegativeBinomial,
    "bernoulli": f.Bernoulli,
    "multinomial": f.Multinomial,
    "categorical": f.Categorical,
    "bag-of-words": f.BagOfWords,
    "one-dependence-of-levels": f.OneDependence,
    "tree-augmented-of-levels": f.TreeAugmented,
}

FOLDS: dict[str, Any] = {"n_splits": int, "shuffle": bool, "random_state": int | None}

OTHERS = (
    # tables
    record_of_dataclass("column", Column, check=check_column),
    record_of_parts("columns-alike", Alike, Alike, check_alike, example=Column, n=int),
    record_of_dataclass("number-reading", NumberReading),
    record_of_dataclass("clock-reading", ClockReading),
    record_of_dataclass("date-reading", DateReading),
    record_of_dataclass("left-out", LeftOut),
    record_of_dataclass("spellings", Spellings),
    record_of_dataclass("schema", Schema, check=check_schema),
    # settings of families
    record_of_dataclass("fixed-shrinkage", shrinkage.Fixed),
    record_of_dataclass("oracle-approximating-shrinkage", shrinkage.OracleApproximating),
    record_of_dataclass("ledoit-wolf-shrinkage", shrinkage.LedoitWolf),
    record_of_dataclass("ledoit-wolf-shrinkage-by-class", shrinkage.LedoitWolfByClass),
    record_of_dataclass("raw-shrinkage", shrinkage.RawFixed),
    record_of_dataclass("raw-shrinkage-to-identity", shrinkage.RawIdentity),
    record_of_dataclass("repair", f.Repair),
    record_of_dataclass("number-levels", NumberLevels),
    # statistics
    record_of_dataclass("location", Location),
    record_of_dataclass("moments", Moments),
    record_of_dataclass("pair-moments", PairMoments),
    record_of_dataclass("scatter", Scatter),
    record_of_dataclass("category-counts", CategoryCounts),
    record_of_dataclass("level-pairs", LevelPairs),
    record_of_dataclass("totals", Totals),
    record_of_dataclass("value-table", ValueTable),
    record_of_dataclass("word-totals", WordTotals),
    record_of_dataclass("column-fact", ColumnFact),
    record_of_dataclass("class-statistics", ClassStatistics),
    # generative models
    record_of_dataclass("generative-model", GenerativeModel, check=check_model),
    record_of_dataclass("generative-spec", GenerativeSpec),
    record_of_dataclass("block", Block),
    record_of_dataclass("fitted-block", FittedBlock),
    record_of_dataclass("plan", Plan),
    record_of_dataclass("filling", Filling),
    record_of_dataclass("priors", Priors),
    record_of_dataclass("note", Note),
    record_of_dataclass("tuning", Tuning, check=check_tuning),
    # linear models
    record_of_dataclass("linear-model", LinearModel),
    record_of_dataclass("design", Design),
    record_of_dataclass("additive-design", AdditiveDesign),
    record_of_dataclass("curve", Curve),
    record_of_dataclass("effect-covariance", EffectCovariance),
    record_of_tuple("factor", Factor),
    record_of_dataclass("fit", Fit, leave_out=("objective",)),
    record_of_dataclass("solution", Solution),
    record_of_dataclass("point", Point),
    record_of_dataclass("step", solvers.Step),
    record_of_dataclass("certificate", Certificate),
    record_of_dataclass("separation", Separation),
    record_of_dataclass("summary", Summary),
    record_of_dataclass("choice", StrengthChoice),
    record_of_dataclass("stream", IncrementalFit),
    Record(
        "softmax-loss",
        SoftmaxLoss,
        lambda loss: {
            "n_classes": loss.n_classes,
            "symmetric": loss.symmetric,
            "turning": loss.self_concordance,
        },
        lambda n_classes, symmetric=False, turning=1.0: SoftmaxLoss(n_classes, symmetric),
        lambda: {"n_classes": int, "symmetric": bool, "turning": float},
        frozenset({"symmetric", "turning"}),
    ),
    record_of_dataclass("progress", Progress),
    record_of_dataclass("newton", solvers.Newton),
    record_of_dataclass("lbfgs", solvers.LBFGS),
    record_of_dataclass("gradient-descent", solvers.GradientDescent),
    record_of_dataclass("sgd", solvers.SGD),
    record_of_dataclass("proximal-newton", solvers.ProximalNewton),
    record_of_dataclass("fisher-scoring", solvers.FisherScoring),
    record_of_dataclass("least-absolute", solvers.LeastAbsolute),
    record_of_parts(
        "sparse-matrix",
        sparse.csr_array,
        _sparse,
        data=Floats,
        indices=AnyArray,
        indptr=AnyArray,
        shape=tuple[int, int],
    ),
    # what is around other models
    replace(
        record_of_dataclass("learnt", FittedClassifier, leave_out=("_tests",)), apart=_of_fitted_classifier
    ),
    record_of_dataclass("unseen-rows", HeldOutRows),
    record_of_dataclass("learnt-rule", LearntRule),
    record_of_dataclass("scaling", Scaling),
    record_of_dataclass("threshold", Threshold),
    record_of_dataclass("rejection-cost", RejectionCost),
    record_of_dataclass("limit", Limit),
    record_of_dataclass("coverage", Coverage),
    record_of_dataclass("prior-estimate", PriorEstimate),
    record_of_dataclass("fitted-member", FittedMember),
    record_of_dataclass("calibration", CalibrationScores),
    record_of_dataclass("typical-rows", TypicalRows),
    # settings of scikit-learn's
    record_of_parts("k-fold", KFold, KFold, **FOLDS),
    record_of_parts("stratified-k-fold", StratifiedKFold, StratifiedKFold, **FOLDS),
    record_of_parts("leave-one-out", LeaveOneOut, LeaveOneOut),
)

OF_FAMILIES = tuple(record for tag, kind in FAMILIES.items() for record in records_of_family(tag, kind))
RECORDS: tuple[Record, ...] = (*OTHERS, *OF_FAMILIES, *TEXT_RECORDS, *ESTIMATOR_RECORDS)
BY_TAG = {record.tag: record for record in RECORDS}
BY_KIND = {record.kind: record for record in RECORDS}
ONLY_FOR_TYPES.update({record.kind.__name__: record.kind for record in RECORDS})


def register(tag: str, kind: type) -> None:
    """Let objects of a dataclass of your own, such as a loss, a solver or a family, be part of model files.

    In a file they are called `tag`, which has a dot, as in "my_package.log-cosh": the names of this library
    have none. Their fields are written, and checked by their annotations when they are read, which for an
    array may say its shape and bounds (`Annotated[Floats, "K d >=0"]`); nothing else of the class is in the
    file, so that whoever loads it registers the class first.

    A family brings the distribution that it estimates, which goes by the `parts` that it declares. Statistics
    of your own are registered like anything else.

    >>> from dataclasses import dataclass
    >>> from posterior.linear import Newton
    >>> @dataclass(frozen=True)
    ... class Patient(Newton):
    ...     max_iter: int = 10_000
    >>> register("my_package.patient", Patient)
    """
    if not (is_dataclass(kind) and isinstance(kind, type)):
        raise TypeError(f"expected a dataclass, whose fields can be written, found {kind!r}")
    if "." not in tag:
        raise ValueError(f"expected a tag with a dot, such as 'my_package.{tag}', found {tag!r}")
    of_family = records_of_family(tag, kind) if issubclass(kind, f.Family) else ()
    records = of_family or (record_of_dataclass(tag, kind),)
    for record in records:
        known = BY_TAG.get(record.tag, BY_KIND.get(record.kind))
        if known is not None and (known.tag, known.kind) != (record.tag, record.kind):
            raise ValueError(
                f"{record.tag!r} or {record.kind.__name__} is registered already; choose another tag"
            )
    for record in records:
        BY_TAG[record.tag] = BY_KIND[record.kind] = record
