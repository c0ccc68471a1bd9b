"""Probabilities you can act on, from a table of data."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from posterior._loading import load_module
from posterior._version import __version__ as __version__

if TYPE_CHECKING:
    from posterior import (
        bayes,
        cli,
        comparison,
        dataset,
        datasets,
        decision,
        engines,
        estimators,
        families,
        files,
        forms,
        generative,
        kernels,
        linear,
        math,
        notices,
        persistence,
        plot,
        report,
        schema,
        sql,
        stats,
        workflow,
    )
    from posterior.comparison import Comparison, LearningCurve, Robustness, compare, side_by_side
    from posterior.engines import scan, threads
    from posterior.estimators import (
        AdditiveClassifier,
        BernoulliNB,
        CalibratedClassifier,
        CategoricalNB,
        DecisionClassifier,
        FusionClassifier,
        GaussianDiscriminantAnalysis,
        GaussianNB,
        GenerativeClassifier,
        LeastSquaresClassifier,
        LinearDiscriminantAnalysis,
        LinearRegression,
        LogisticRegression,
        MultinomialNB,
        NaiveBayes,
        OneDependence,
        OutlierRule,
        PoolClassifier,
        QuadraticDiscriminantAnalysis,
        SoftmaxRegression,
        TreeAugmented,
    )
    from posterior.persistence import load, save
    from posterior.sql import to_sql
    from posterior.studio import studio

    LDA = LinearDiscriminantAnalysis
    QDA = QuadraticDiscriminantAnalysis

__all__ = [
    "LDA",
    "QDA",
    "AdditiveClassifier",
    "BernoulliNB",
    "CalibratedClassifier",
    "CategoricalNB",
    "Comparison",
    "DecisionClassifier",
    "FusionClassifier",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GenerativeClassifier",
    "LearningCurve",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LogisticRegression",
    "MultinomialNB",
    "NaiveBayes",
    "OneDependence",
    "OutlierRule",
    "PoolClassifier",
    "QuadraticDiscriminantAnalysis",
    "Robustness",
    "SoftmaxRegression",
    "TreeAugmented",
    "bayes",
    "cli",
    "compare",
    "comparison",
    "dataset",
    "datasets",
    "decision",
    "engines",
    "estimators",
    "families",
    "files",
    "forms",
    "generative",
    "kernels",
    "linear",
    "load",
    "math",
    "notices",
    "persistence",
    "plot",
    "report",
    "save",
    "schema",
    "side_by_side",
    "stats",
    "studio",
    "threads",
    "workflow",
]
# Names that need the package of an extra are always public, and part of a star import where it is installed.
if find_spec("pyarrow") is not None:
    __all__ += ["scan"]
if find_spec("sqlglot") is not None:
    __all__ += ["sql", "to_sql"]
_PUBLIC = frozenset({*__all__, "scan", "sql", "to_sql"})

# Where a public name is defined, for those that are not modules of this package.
_HOME = {
    **dict.fromkeys(("Comparison", "LearningCurve", "Robustness", "compare", "side_by_side"), "comparison"),
    **dict.fromkeys(("load", "save"), "persistence"),
    **dict.fromkeys(("scan", "threads"), "engines"),
    "to_sql": "sql",
}
_HOME |= dict.fromkeys((name for name in __all__ if name[0].isupper() and name not in _HOME), "estimators")
_SHORT = {"LDA": "LinearDiscriminantAnalysis", "QDA": "QuadraticDiscriminantAnalysis"}

if not TYPE_CHECKING:  # a type checker would take any name for an attribute

    def __getattr__(name: str) -> Any:
        """A public name, imported when it is first asked for: `import posterior` itself imports nothing."""
        if name not in _PUBLIC:
            raise AttributeError(f"module 'posterior' has no attribute {name!r}")
        if name in _HOME:
            found = getattr(load_module(f"posterior.{_HOME[name]}"), _SHORT.get(name, name))
        else:
            found = load_module(f"posterior.{name}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
