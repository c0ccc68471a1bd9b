"""The candidates of a comparison: to add one, write what makes it and enter it, or register it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from sklearn.base import clone

from posterior._text import counted, listed
from posterior._types import BEST
from posterior.comparison.choosing import EstimatorChoice, NotForThisTableError
from posterior.comparison.facts import TableFacts
from posterior.comparison.given import is_estimator, named_estimators
from posterior.comparison.outside import choice_of_estimator
from posterior.estimators import (
    AdditiveClassifier,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    NaiveBayes,
    OneDependence,
    TreeAugmented,
)
from posterior.estimators.dependence import MOST_LEVELS
from posterior.families import MultivariateNormal
from posterior.families.level_pairs import LARGEST_TABLE
from posterior.families.levels import FEW_VALUES
from posterior.linear.curves import MOST_FUNCTIONS

Approach: TypeAlias = Literal[
    "baseline", "generative", "discriminative", "discriminant", "pool", "other", "reference"
]

# A covariance of more columns than this costs more than all other models together.
WIDEST_BLOCK = 500
# Classes times columns cubed up to which covariances are tuned: some seconds for all folds.
MOST_TUNED = 10**7
# With more rows than this, leaving out each in turn says no more than ten folds.
MOST_LEFT_OUT = 10_000
# Squares and products are tried where there are so many rows for each coefficient.
ROWS_FOR_EACH = 5
# A strength is chosen for up to so many coefficients; least squares are tried with up to so many columns.
MOST_COEFFICIENTS = 1500
# Curves are tried with up to so many coefficients: seconds for each fold.
MOST_CURVED = 2500
# Strengths of a ridge, from strong to weak, in units of the columns' deviations.
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)
# Those of a lasso, which leaves columns out.
LASSO_STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# The name and approach of the candidate that is made of the others.
POOL = "pool"
# Rows that levels are smoothed by, in a class and in a level of another column, from many to few.
SMOOTHING = ((3.0, 50.0), (3.0, 15.0), (3.0, 5.0), (1.0, 1.0))
WORDS = {"categorical": "categorical", "binary": "true/false", "count": "count", "text": "text"}


@dataclass(frozen=True, eq=False)
class Candidate:
    """A compared model: its name and title, how it learns, what it is, and its estimators for a table.

    `choice(table)` gives the estimators, or raises `NotForThisTableError` with the reason. `in_a_plane` names
    the model that is of the same kind where two continuous columns are all there is, if it is another one.

    >>> MODELS["lda"].title, MODELS["lda"].approach
    ('LDA', 'generative')
    """

    name: str
    title: str
    approach: Approach
    about: str
    choice: Callable[[TableFacts], EstimatorChoice]
    in_a_plane: str = ""

    def suited(self, table: TableFacts) -> EstimatorChoice:
        """What `choice` gives; an error that also names the model where it does not suit the table."""
        try:
            return self.choice(table)
        except NotForThisTableError as error:
            raise self.unsuited(str(error)) from error

    def unsuited(self, reason: str) -> NotForThisTableError:
        """The error for a table that the model does not suit."""
        return NotForThisTableError(f"{self.title} does not suit this table: {reason}")


def _majority(table: TableFacts) -> EstimatorChoice:
    return EstimatorChoice((GenerativeClassifier([]),), (), "the class frequencies, whatever a row says")


def _weighted_naive_bayes(table: TableFacts) -> EstimatorChoice:
    # Smoothing is the strength of each word, which weights of columns cannot make up for.
    smoothing = {"alpha": "auto"} if table.rows.where("text") else {}
    return _naive_bayes(table, weights="auto", **smoothing)


def _naive_bayes(table: TableFacts, **settings: Any) -> EstimatorChoice:
    columns = _described(table)
    if not columns:
        raise NotForThisTableError("no column has a value")
    about = "1 column" if len(columns) == 1 else f"{len(columns)} columns, independent given the class"
    estimator = NaiveBayes(**settings, kinds=_kinds(table))
    return EstimatorChoice((estimator,), columns, about, chosen_by="folds")


def _dependence(table: TableFacts, kind: type[OneDependence | TreeAugmented]) -> EstimatorChoice:
    columns, schema = _described(table), table.schema
    beside = [j for j in columns if j in table.texts or schema.columns[j].size > MOST_LEVELS]
    if len(columns) - len(beside) < 2:
        raise NotForThisTableError("fewer than two columns of levels: it would be naive Bayes")
    levels = sum(schema.columns[j].size or FEW_VALUES for j in columns if j not in beside)
    if table.n_classes * levels**2 > LARGEST_TABLE:
        raise NotForThisTableError(
            f"pairs of up to {levels:,} levels in {table.n_classes} classes are too many"
        )
    about = f"{len(columns) - len(beside)} columns in levels, two at a time"
    about += f", and {counted(len(beside), 'column')} beside" if beside else ""
    made = (kind(class_rows=a, pair_rows=b, kinds=_kinds(table)) for a, b in SMOOTHING)
    default = SMOOTHING.index((3.0, 5.0))
    return EstimatorChoice(tuple(made), columns, about, chosen_by="held-out rows", default=default)


def _gaussian(table: TableFacts, tied: Any) -> EstimatorChoice:
    _refuse_no_block(table, 1)
    estimator = GenerativeClassifier(_joint(table, tied), kinds=_kinds(table))
    rest = len(table.others)
    unused = f"; {rest} of other kinds not used" if rest else ""
    about = f"{counted(len(table.continuous), 'continuous column')}{unused}"
    choice = EstimatorChoice((estimator,), table.continuous, about)
    if tied != "auto":
        return choice
    _refuse_long_tuning(table)
    return _tuned(table, choice)


def _block(table: TableFacts) -> EstimatorChoice:
    if not table.others:
        raise NotForThisTableError("every column is continuous: it would be rda")
    _refuse_no_block(table, 2)
    _refuse_long_tuning(table)
    estimator = GenerativeClassifier(_joint(table, "auto"), remainder="auto", kinds=_kinds(table))
    kinds: list[str] = [table.schema.columns[j].kind for j in table.others]
    beside = ", ".join(f"{kinds.count(kind)} {word}" for kind, word in WORDS.items() if kind in kinds)
    about = f"a Gaussian block of {len(table.continuous)} columns, and {beside}"
    return _tuned(table, EstimatorChoice((estimator,), _described(table), about))


def _tuned(table: TableFacts, choice: EstimatorChoice) -> EstimatorChoice:
    """Settings chosen by leaving out each row, where there is a closed form, and else by ten folds."""
    (by_folds,) = choice.estimators
    if table.n_rows > MOST_LEFT_OUT or table.has_gaps(table.continuous):
        return EstimatorChoice((by_folds,), choice.columns, choice.about, chosen_by="folds")
    exact = clone(by_folds).set_params(cv="loo")
    return EstimatorChoice(
        (exact,), choice.columns, choice.about, chosen_by="exact leave-one-out", otherwise=by_folds
    )


def _regression(table: TableFacts, degree: int) -> EstimatorChoice:
    settings, size = _linear_settings(table, degree), _n_coefficients(table, degree)
    strengths = STRENGTHS if size <= MOST_COEFFICIENTS else (1.0,)
    estimators = tuple(LogisticRegression(C=C, standardize=True, **settings) for C in strengths)
    about = _about_linear(table, degree)
    return EstimatorChoice(
        estimators,
        table.linear.used,
        about,
        chosen_by="held-out rows",
        size=size,
        default=strengths.index(1.0),
    )


def _lasso(table: TableFacts) -> EstimatorChoice:
    settings, size = _linear_settings(table, 1), _n_coefficients(table, 1)
    if table.n_rows >= ROWS_FOR_EACH * size:
        raise NotForThisTableError(
            f"{table.n_rows:,} rows are enough for a ridge of {size:,} coefficients, {ROWS_FOR_EACH} for each"
        )
    if size > MOST_COEFFICIENTS:
        raise NotForThisTableError(
            f"{size:,} coefficients, and strengths of more than {MOST_COEFFICIENTS:,} are not tried"
        )
    estimators = tuple(
        LogisticRegression(C=C, l1_ratio=1.0, standardize=True, **settings) for C in LASSO_STRENGTHS
    )
    about = f"{_about_linear(table, 1)}, of which most have no coefficient"
    default = LASSO_STRENGTHS.index(1.0)
    return EstimatorChoice(
        estimators, table.linear.used, about, chosen_by="held-out rows", size=size, default=default
    )


def _quadratic(table: TableFacts) -> EstimatorChoice:
    _refuse_no_block(table, 1)
    size = _n_coefficients(table, 2)
    if table.n_rows < ROWS_FOR_EACH * size:
        raise NotForThisTableError(
            f"its {size:,} coefficients take {ROWS_FOR_EACH * size:,} rows, {ROWS_FOR_EACH} for each; there "
            f"are {table.n_rows:,}"
        )
    return _regression(table, 2)


def _additive(table: TableFacts) -> EstimatorChoice:
    settings = _linear_settings(table, 1)
    if table.rows.is_sparse:
        raise NotForThisTableError("the table is sparse, and curves would fill it")
    columns, used = table.schema.columns, table.linear.used
    numbers = [j for j in used if columns[j].kind not in ("categorical", "binary")]
    size = (table.n_classes - 1) * (table.linear.width + MOST_FUNCTIONS * len(numbers) + 1)
    if size > MOST_CURVED:
        raise NotForThisTableError(
            f"{size:,} coefficients, and curves of more than {MOST_CURVED:,} are not tried"
        )
    estimator = AdditiveClassifier(kinds=settings["kinds"], columns=settings["columns"])
    about = f"{_about_linear(table, 1)}, {counted(len(numbers), 'curve')}"
    return EstimatorChoice((estimator,), used, about, size=size)


def _least_squares(table: TableFacts) -> EstimatorChoice:
    settings = _linear_settings(table, 1)
    if table.linear.width > MOST_COEFFICIENTS:
        raise NotForThisTableError(
            f"{table.linear.width:,} columns, and more than {MOST_COEFFICIENTS:,} are not tried"
        )
    return EstimatorChoice((LeastSquaresClassifier(**settings),), table.linear.used, _about_linear(table, 1))


def _linear_settings(table: TableFacts, degree: int) -> dict[str, Any]:
    used = table.linear.used
    if not used:
        reasons = "; ".join(table.linear.left_out) or "no column has a value"
        raise NotForThisTableError(f"no column for a coefficient ({reasons})")
    return {
        "missing": "indicator",
        "degree": degree,
        "kinds": table.pinned or None,
        "columns": None if len(used) == table.n_columns else table.chosen(used),
    }


def _n_coefficients(table: TableFacts, degree: int) -> int:
    columns = table.schema.columns
    d = sum(columns[j].kind != "categorical" for j in table.linear.used)
    return (table.n_classes - 1) * (table.linear.width + (degree - 1) * d * (d + 1) // 2 + 1)


def _about_linear(table: TableFacts, degree: int) -> str:
    squares = " with squares and products of numbers" if degree == 2 else ""
    without = "".join(f", without {left_out}" for left_out in table.linear.left_out)
    return f"{counted(len(table.linear.used), 'column')}{squares}{without}"


def _joint(table: TableFacts, tied: Any) -> list[tuple[Any, MultivariateNormal]]:
    return [(table.chosen(table.continuous), MultivariateNormal(tied=tied))]


def _described(table: TableFacts) -> tuple[int, ...]:
    return tuple(sorted({*table.continuous, *table.others}))


def _refuse_no_block(table: TableFacts, least: int) -> None:
    d = len(table.continuous)
    if not d:
        raise NotForThisTableError("no continuous column")
    if d < least:
        raise NotForThisTableError("one continuous column: it would be naive Bayes")
    if d > WIDEST_BLOCK:
        raise NotForThisTableError(
            f"{d:,} continuous columns, and more than {WIDEST_BLOCK} are not tried together"
        )


def _refuse_long_tuning(table: TableFacts) -> None:
    d = len(table.continuous)
    if table.n_classes * d**3 > MOST_TUNED:
        raise NotForThisTableError(
            f"{d:,} continuous columns and {table.n_classes} classes: covariances for every setting and fold "
            "would take longer than all else"
        )


def _pool(table: TableFacts) -> EstimatorChoice:
    """No estimator: a pool is made of those that were tried."""
    return EstimatorChoice((), _described(table), "a few of the models, weighted by held-out rows")


def _kinds(table: TableFacts) -> Any:
    """What a user declared, and which columns are texts, which a part of the rows may not show.

    Nothing else: a model that is told that a column is a category keeps it even if it names the rows.
    """
    schema = table.schema
    texts = {schema.names[j] if schema.named else j: "text" for j in table.texts}
    if table.kinds is None or isinstance(table.kinds, Mapping):
        return {**(table.kinds or {}), **texts} or None
    return [*table.kinds, *texts.items()]


_ALL = (
    Candidate("majority", "majority", "baseline", "the class frequencies", _majority),
    Candidate(
        "naive-bayes",
        "naive Bayes",
        "generative",
        "columns independent given the class, one exponent for all: NaiveBayes() as it comes",
        _naive_bayes,
    ),
    Candidate(
        "weighted-naive-bayes",
        "weighted naive Bayes",
        "generative",
        "the same with an exponent for each column, learnt on rows held out",
        _weighted_naive_bayes,
    ),
    Candidate(
        "lda", "LDA", "generative", "Gaussian classes with one covariance", partial(_gaussian, tied=1.0)
    ),
    Candidate(
        "qda",
        "QDA",
        "generative",
        "Gaussian classes with their own covariances",
        partial(_gaussian, tied=0.0),
    ),
    Candidate("rda", "RDA", "generative", "between LDA and QDA, tuned", partial(_gaussian, tied="auto")),
    Candidate(
        "block", "block", "generative", "a tuned Gaussian block, and other kinds beside it", _block, "rda"
    ),
    Candidate(
        "one-dependence",
        "one-dependence",
        "generative",
        "each column in turn the parent of all others, smoothing tuned",
        partial(_dependence, kind=OneDependence),
    ),
    Candidate(
        "tree-augmented",
        "tree-augmented",
        "generative",
        "one other column the parent of each, smoothing tuned",
        partial(_dependence, kind=TreeAugmented),
    ),
    Candidate(
        "logistic",
        "logistic",
        "discriminative",
        "linear log odds, with a ridge",
        partial(_regression, degree=1),
    ),
    Candidate(
        "lasso",
        "lasso",
        "discriminative",
        "linear log odds, few columns, where rows are few for each",
        _lasso,
        "logistic",
    ),
    Candidate("quadratic", "quadratic", "discriminative", "logistic with squares and products", _quadratic),
    Candidate(
        "additive",
        "additive",
        "discriminative",
        "log odds that are sums of smooth curves, and products of pairs that tell more",
        _additive,
    ),
    Candidate(
        "least-squares", "least squares", "discriminant", "regression on class indicators", _least_squares
    ),
    Candidate("pool", "pool", "pool", "a weighted sum of the log odds of a few of these", _pool),
)
MODELS: dict[str, Candidate] = {candidate.name: candidate for candidate in _ALL}


def register_candidate(candidate: Candidate) -> None:
    """Let a model of one's own be compared with ours, by its name or with all others.

    `posterior.compare`, `posterior compare --models`, `posterior fit --model` and reports know it from then
    on; where no models are named, it is tried wherever it applies.

    >>> def median_split(table):
    ...     estimator = NaiveBayes(families={"continuous": Bernoulli(threshold=0.0)})
    ...     return EstimatorChoice((estimator,), table.continuous, "signs of the columns")
    >>> from posterior.families import Bernoulli
    >>> register_candidate(Candidate("signs", "signs", "generative", "signs of numbers", median_split))
    >>> from posterior.comparison import model_for
    >>> model_for("signs", [[1.0], [-1.0], [2.0]], ["a", "b", "a"])
    NaiveBayes(families={'continuous': Bernoulli(alpha=1.0, threshold=0.0)})
    >>> del MODELS["signs"]
    """
    if not isinstance(candidate, Candidate) or not callable(candidate.choice):
        raise TypeError(
            f"expected a Candidate with a function that gives its estimators, found {candidate!r}"
        )
    name = candidate.name
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name) or name == BEST:
        raise ValueError(f"the name of a model must be a word such as 'my-model', found {name!r}")
    if candidate.approach not in get_args(Approach):
        known = ", ".join(map(repr, get_args(Approach)))
        raise ValueError(f"the approach of a model must be one of {known}, found {candidate.approach!r}")
    if MODELS.setdefault(name, candidate) is not candidate:
        raise ValueError(f"there is a model {name!r} already, {MODELS[name].title}; choose another name")


def candidates_named(models: Sequence[Any] | Mapping[str, Any] | None) -> list[Candidate]:
    """The models that are named, each once: ours by name, and estimators; all of ours for None.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> [candidate.name for candidate in candidates_named(["lda", DecisionTreeClassifier()])]
    ['lda', 'DecisionTreeClassifier']
    >>> [candidate.name for candidate in candidates_named({"tree": DecisionTreeClassifier()})]
    ['tree']
    """
    if models is None:
        return list(MODELS.values())
    if isinstance(models, Mapping):
        return [_given(name, estimator) for name, estimator in named_estimators(models).items()]
    wanted = [models] if isinstance(models, str) else list(models)
    unknown = [name for name in wanted if not is_estimator(name) and name not in MODELS]
    if unknown or not wanted:
        raise ValueError(
            f"there is no model {listed(unknown) or 'to try'}; choose among {', '.join(MODELS)}, or pass an "
            "estimator with fit, predict and, for probabilities, predict_proba"
        )
    found: dict[str, Candidate] = {}
    for each in wanted:
        if not is_estimator(each):
            found[each] = MODELS[each]
            continue
        title = name = type(each).__name__
        while name in found:
            number = int(name.partition(" ")[2] or 1) + 1
            name = f"{title} {number}"
        found[name] = _given(name, each)
    return list(found.values())


def _given(name: str, estimator: Any) -> Candidate:
    approach: Approach = getattr(estimator, "approach", "other")
    made = partial(choice_of_estimator, estimator)
    return Candidate(name, name, approach, "an estimator that was given", made)


def candidates_for(
    models: Sequence[Candidate], table: TableFacts
) -> tuple[list[tuple[Candidate, EstimatorChoice]], dict[str, str]]:
    """These models made for a table, a pool last, and by name why others do not apply to it.

    A pool alone is one of all models.
    """
    found, left_out = [], {}
    wanted = MODELS.values() if list(models) == [MODELS[POOL]] else models
    for candidate in sorted(wanted, key=lambda candidate: candidate.approach == POOL):
        try:
            found.append((candidate, candidate.choice(table)))
        except NotForThisTableError as error:
            left_out[candidate.name] = str(error)
    return found, left_out
