"""How it was done: folds, seed, versions, and what each number means."""

import platform
from importlib.metadata import version

from posterior._version import __version__
from posterior.report.blocks import Bullets, Details, PageBlock, Text
from posterior.report.subject import Subject

PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")
MEANINGS = (
    (
        "log loss",
        "the mean of −ln p(true class). It rewards honest probabilities, not only right answers: 0 is "
        "perfect; to give 1 % to what then happens costs 4.6.",
    ),
    ("average cost", "what rows cost, each by the action that its posteriors expect to cost least."),
    ("±", "the standard error, from the spread over rows; intervals are 1.96 of them to either side."),
    ("tie", "compared row by row, the difference from the best model is within two of its standard errors."),
    ("accuracy", "the share of rows whose most probable class is the true one."),
    ("Brier", "the mean squared distance of the posteriors from the truth; 0 is perfect."),
    (
        "calibration error",
        "the mean distance of stated probabilities from observed frequencies, over bins. It is above zero "
        "even for calibrated posteriors; the reliability diagram says by how much.",
    ),
    ("AUC", "the probability that a row of one class is ranked above a row of another."),
    ("generative", "learns p(row | class) and p(class), and applies Bayes' rule: it knows how odd a row is."),
    ("discriminative", "learns p(class | row) and nothing else."),
    ("discriminant", "gives a class and no probability."),
    ("baseline", "looks at no column: what any model must beat."),
    ("reference", "gradient boosting of another library, to compare with: it is not kept or recommended."),
)


def method(subject: Subject) -> list[PageBlock]:
    """Enough to do it again."""
    comparison = subject.comparison
    found = [f"posterior {__version__}", f"Python {platform.python_version()}"]
    found += [f"{name} {version(name)}" for name in PACKAGES]
    return [
        Text(f"Validation: {comparison.folds}. Seed {comparison.seed}. {', '.join(found)}."),
        Details("What the numbers mean", [Bullets(MEANINGS)]),
    ]
