"""What a family and a distribution promise. A new family is one file that keeps these promises."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.dataset import Rows
from posterior.families.parameters import Parameter
from posterior.families.stored_cells import sum_over_stored, with_gaps
from posterior.forms import QuadraticScores
from posterior.stats import Location, Statistics
from posterior.stats.base import FieldSums, Problem
from posterior.stats.parts import Parts

S = TypeVar("S", bound=Statistics)
Reading = Literal["values", "codes", "mixed", "matrix", "texts"]
SumsOf = Literal["", "moments", "values"]

AUTO = "auto"


@dataclass(frozen=True)
class Repair:
    """How a parameter was estimated that the data do not determine.

    `class_index` is None where all classes share the parameter; `columns` are those at fault; `problem`
    and `done` say what was found and what was done, in words. `refused` ones are errors.

    >>> Repair(0, (1,), "variance", "is zero", "one row with the variance of all classes was added").done
    'one row with the variance of all classes was added'
    """

    class_index: int | None
    columns: tuple[int, ...]
    parameter: str
    problem: str
    done: str
    refused: bool = False


def never_seen(missing: Bools) -> list[Repair]:
    """What is said of columns (K, d) that a class never shows, though it has rows with others."""
    problem, done = "has no value to go by", "taken from the other classes"
    return [
        Repair(k, tuple(np.flatnonzero(line).tolist()), "density", problem, done)
        for k, line in enumerate(missing)
        if line.any()
    ]


class Distribution(ABC):
    """Class-conditional densities p(block | class) with their parameters; the class is the batch axis.

    A block holds n rows of b columns: floats with NaN for missing, or codes with −1. `reads` lists the forms
    in which it takes a block.

    What a model file holds of it are its `parts`: attributes by name with their types, arrays with their
    shape and bounds, as in `{"mean": Annotated[Floats, "K d >0"]}`; `persistence/arrays.py` has the bounds.

    >>> import numpy as np
    >>> from posterior.families import NormalDistribution
    >>> given = NormalDistribution(mean=[[0.0], [2.0]], variance=[[1.0], [1.0]])  # two classes, one column
    >>> isinstance(given, Distribution), given.n_classes, given.n_parameters
    (True, 2, 4)
    >>> given.log_density(np.array([[1.0], [np.nan]])).round(3)                    # a gap says nothing
    array([[-1.419, -1.419],
           [ 0.   ,  0.   ]])
    """

    n_classes: int
    n_columns: int
    kind: ClassVar[str] = "continuous"
    reads: ClassVar[tuple[Reading, ...]] = ("values",)

    parts: ClassVar[Mapping[str, Any]]

    def to_parts(self) -> dict[str, Any]:
        """The parts by name, of which `from_parts` makes the same distribution again."""
        return {name: getattr(self, name) for name in self.parts}

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Self:
        """The distribution of these parts, each of which has its type, shape and bounds.

        A location goes to the constructor as the mean: to the last digit.
        """
        return cls(**{"mean" if type(part) is Location else name: part for name, part in parts.items()})

    def of_classes(self, order: Ints) -> Self:
        """The same distribution, its classes in another order."""
        if np.array_equal(order, np.arange(self.n_classes)):
            return self
        given = self.to_parts()
        return type(self).from_parts(
            {name: _by_class(self.parts[name], given[name], order) for name in given}
        )

    def impossible(self) -> str:
        """What no distribution is, in words, if parts from a file make none; empty if nothing is wrong."""
        return ""

    def misfit(self, sizes: Sequence[int]) -> str:
        """What is no distribution of columns with so many categories, 0 for numbers; empty if nothing is."""
        return ""

    @abstractmethod
    def log_density(self, block: Any) -> Floats:
        """Log density ln p(row | class), (n, K). Missing cells are integrated out."""

    def log_relative(self, block: Any) -> Floats:
        """Log density ln p(row | class) up to a term that all classes share: all that a posterior needs."""
        return self.log_density(block)

    has_support: ClassVar[bool] = False

    @property
    def has_zeros(self) -> bool:
        """Whether a class may give a number that another one can have the probability zero."""
        return self.kind != "continuous"

    def outside(self, block: Any) -> Any:
        """Cells that no class can have, (n, b): true or false. A posterior leaves them out, as if missing."""
        return np.zeros(np.shape(block), dtype=np.bool_)

    @abstractmethod
    def log_terms(self, block: Any) -> Floats:
        """(n, b, K) terms by column that add up, with `log_base`, to the log density."""

    takes_tables: ClassVar[bool] = False
    # Whether cells come in the precision in which the table has them, which may be less than double.
    as_stored: ClassVar[bool] = False

    def add_relative(self, block: Any, out: Floats) -> None:
        """Add `log_relative` of the rows to `out` (n, K).

        A distribution that takes tables reads them as they lie in memory; of an infinite number it makes a
        score that is not finite.
        """
        out += self.log_relative(block)

    @property
    def row_scores(self) -> kernels.RowScores | kernels.WideScores | None:
        """What compiled code answers complete rows by, where that is linear or quadratic; else None."""
        return None

    # Whether columns are independent given the class, so that each can have a weight of its own.
    separable: bool = False

    def add_weighted(self, block: Any, weight: Floats, out: Floats) -> None:
        """Add Σ w_j ln p(x_j | class) of the rows to `out` (n, K), up to a term of the row.

        The weights (b,) are equal unless the columns are separable.
        """
        if not (weight == weight[0]).all():
            out += self._log_weighted(block, weight)
        elif weight[0] == 1.0:
            self.add_relative(block, out)
        elif weight[0] > 0:  # 0 times −inf is no number
            part = kernels.scratch("weighted", *out.shape)
            part[:] = 0.0
            self.add_relative(block, part)
            part *= weight[0]
            out += part

    def _log_weighted(self, block: Any, weight: Floats) -> Floats:
        """The weighted sum of the terms by column."""
        keep = np.flatnonzero(weight > 0)
        return np.asarray(np.einsum("nbk,b->nk", self.log_terms(block)[:, keep], weight[keep]))

    @property
    def log_base(self) -> Floats:
        """The part of the log density that belongs to no column, (K,)."""
        return np.zeros(self.n_classes)

    def in_single(self) -> "Distribution":
        """The distribution for whoever has cells of single precision as doubles, which compare otherwise."""
        return self

    @abstractmethod
    def marginal(self, columns: Sequence[int]) -> "Distribution":
        """The distribution of some of the columns."""

    @abstractmethod
    def sample(self, y: Ints, rng: np.random.Generator) -> AnyArray:
        """One row for each class code in `y`, (n, b)."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of free parameters."""

    @abstractmethod
    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The parameters one by one, of columns with these names, whose codes stand for these levels.

        As many as it takes to write the density down, unless they are too many to be read.
        """

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n_classes} classes, {self.n_columns} columns>"

    # Why the likelihood of rows does not follow from their statistics; empty where it does.
    why_no_likelihood: str = ""

    @abstractmethod
    def log_likelihood(self, statistics: Any) -> float:
        """Σ w ln p(row | its class) over the rows that the statistics describe."""

    def quadratic(self, classes: Sequence[int] | None = None) -> QuadraticScores:
        """The log densities of some classes as quadratic functions of the block, where they are.

        The functions are written about the centre of those classes, so that others cost no digits.
        """
        raise ValueError(f"{type(self).__name__} is not Gaussian: its log density is not quadratic in x")

    def squared_distance(self, block: Any) -> Floats:
        """Squared Mahalanobis distance of each row from each class, (n, K), over the cells that are there."""
        raise ValueError(f"{type(self).__name__} is not Gaussian: rows have no Mahalanobis distance")

    def own_terms(self, block: Any) -> Floats:
        """(n, b, K) terms by column of the log density, each class seen from its own middle.

        They add up to it but for what depends on the class and on which cells are there, and on no value.
        """
        return self.log_terms(block)

    @property
    def cut(self) -> float | None:
        """The number above which a value counts as on, where numbers are read as two levels."""
        return None

    @property
    def log_shares(self) -> Floats | None:
        """Log probabilities (K, b) that one event falls on each column, where columns count such events.

        None where columns do not share a total: each can then be shown by itself.
        """
        return None

    @property
    def word_probabilities(self) -> tuple[Sequence[str], Floats] | None:
        """Words and their probabilities (K, V) under each class, for texts by words that are known."""
        return None

    def words_in(self, block: Any) -> Ints | None:
        """The numbers of the known words that texts hold, in order; None where it reads no words."""
        return None

    def word_terms(self, block: Any, words: Ints) -> tuple[list[str], Floats]:
        """Names, and terms (n, T, K) that add up to the log density, of words that include all in the block.

        They are named in brackets after the column's name. A word that a text lacks adds 0 to it.
        """
        raise NotImplementedError

    @property
    def n_events(self) -> int:
        """How many events have a probability, where `parameters` may list only some of them; else 0."""
        return 0

    # What had to be done to make the density proper.
    repairs: tuple[Repair, ...] = ()
    # What happens to a category that was not seen in training.
    unseen: str = "marginalize"
    # The categories of each column of a distribution that was built by hand.
    categories: tuple[tuple[Any, ...], ...] | None = None


class Family(ABC, Generic[S]):
    """A parametric family with its hyperparameters, and no data.

    Several columns given to a one-column family are independent given the class. `reads` says in which
    form it reads a block (one that `takes_tables` is also given numbers as they lie in memory, not yet looked
    at), `kinds` which kinds of columns it takes, and `read_as` the kind that a column
    becomes when a user hands it to this family by name. `choices` lists, simplest first, the values among
    which cross-validation chooses where a setting is "auto". A family that is `alone` describes one column
    only, and several columns get one of it each.

    >>> import numpy as np
    >>> from posterior.families import Normal
    >>> family = Normal()
    >>> sums = family.summarize(np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1]), None, 2)
    >>> family.estimate(sums + sums).mean                    # sums add up over disjoint rows
    array([[1.],
           [6.]])
    """

    reads: ClassVar[Reading] = "values"
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count", "binary"})
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    alone: ClassVar[bool] = False
    # Whether cells come in the precision in which the table has them, which may be less than double.
    as_stored: ClassVar[bool] = False
    joint: bool = False

    read_as: ClassVar[str | None] = None

    def kind_for(self, kind: str) -> str | None:
        """What a column of some kind becomes when a user names it for this family; None: it stays."""
        return self.read_as

    @property
    def sums_of(self) -> SumsOf:
        """What a database may sum up in place of `summarize`, column by column; nothing by default.

        "moments" are weight, mean and sum of squares of each column by class, and these are the statistics.
        With "values" `summarize` gets a weighted row for each value of each column, with gaps in the others.
        """
        return ""

    def marginal(self, columns: Sequence[int]) -> Self:
        """The family of some of the columns; only hyperparameters by column change."""
        return self

    def size(self, n_classes: int, n_columns: int) -> int:
        """Cells that it takes to add statistics up, where they may be more than the rows of a chunk have."""
        return 0

    def shares_out(self, n_classes: int, n_columns: int) -> bool:
        """Whether threads share out the work on one chunk, so that chunks are best taken one by one."""
        return False

    @property
    def takes_tables(self) -> bool:
        """Whether numbers may come as they lie in memory, with infinity among them: see `magnitude`."""
        return False

    @property
    def unharmed_by(self) -> frozenset[Problem]:
        """Problems of columns that mean nothing to this family."""
        return frozenset()

    # Why the statistics of parts do not add up to those of the whole, and the remedy; empty where they do.
    why_not_mergeable: str = ""

    @property
    def mergeable(self) -> bool:
        """Whether the statistics of parts give, added up, the model of the whole."""
        return not self.why_not_mergeable

    @property
    def open_settings(self) -> dict[str, tuple[Any, ...]]:
        """The settings left to cross-validation, with the values to choose from."""
        set_to = {name: getattr(self, name) for name in self.choices}
        if AUTO not in [value for value in set_to.values() if isinstance(value, str)]:
            return {}
        return {name: values for name, values in self.choices.items() if is_open(set_to[name])}

    @property
    def plainest(self) -> Self:
        """The same model with settings that have no effect in it switched off."""
        return self

    def refuse_open(self) -> None:
        """Raise the error of an estimate while a setting is still to be chosen."""
        for name, values in self.open_settings.items():
            raise ValueError(
                f'{name}="auto" of {type(self).__name__} is chosen by cross-validation, which needs rows: '
                f"use the fit of an estimator, or set {name} to one of {list(values)}"
            )

    def prepared(self, rows: Rows, columns: tuple[int, ...]) -> Self:
        """The family that has learnt what it must know of the columns before it counts, such as words."""
        return self

    @property
    def chosen_anew(self) -> bool:
        """Whether `prepared` may learn of some of the rows what it does not of all of them."""
        return False

    def leave_one_out(
        self, statistics: S, distribution: Any
    ) -> "Callable[[Any, Ints, Floats | None], LeftOut]":
        """A function of (block, y, weight) that scores each training row as if it had not been seen.

        `distribution` is what this family estimates from the statistics of all rows, those ones included.
        """
        raise NoClosedFormError(f"{type(self).__name__} has no closed form")

    @abstractmethod
    def summarize(self, block: Any, y: Ints, weight: Floats | None, n_classes: int) -> S:
        """What this family needs to know of the rows."""

    def summarize_parts(
        self, block: Any, y: Ints, weight: Floats | None, n_classes: int, size: int
    ) -> Parts[Any] | None:
        """What `summarize` gives of every `size` rows, where compiled code has it of rows without a gap."""
        return None

    @abstractmethod
    def estimate(self, statistics: S) -> Distribution:
        """The distribution that fits the statistics."""

    def check(self, block: Any, names: Sequence[str]) -> None:
        """Refuse training values outside the support, naming the column."""

    def n_summed(self, n_columns: int) -> int:
        """How many columns the sums have that describe so many columns of a table."""
        return n_columns

    def misfit(self, statistics: S, sizes: Sequence[int]) -> str:
        """What this family does not sum of columns with so many categories, in words; empty if all is well.

        Statistics that it summed fit. Those read from a file may not; their type, K and d were looked at.
        """
        return statistics.misfit(sizes, joint=self.joint)


def is_open(setting: Any) -> bool:
    """Whether a setting is left to cross-validation."""
    return isinstance(setting, str) and setting == AUTO


class NoClosedFormError(ValueError):
    """Raised if a model has no leave-one-out formula.

    >>> from posterior import GenerativeClassifier
    >>> from posterior.families import MixtureOfNormals
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GenerativeClassifier([(slice(None), MixtureOfNormals(n_components=2))]).fit(X, y)
    >>> try:
    ...     model.leave_one_out_log_proba(X, y)
    ... except NoClosedFormError:
    ...     print("k_fold_log_proba scores rows held out, whatever the model")
    k_fold_log_proba scores rows held out, whatever the model
    """


class LeftOut(NamedTuple):
    """Leave-one-out log densities (n, K), and the rows (n,) for which the formula is not accurate enough.

    >>> import numpy as np
    >>> left = LeftOut(np.array([[-1.2]]), np.array([False]))
    >>> left.log_density.shape, bool(left.delicate.any())
    ((1, 1), False)
    """

    log_density: Floats
    delicate: Bools


@dataclass(frozen=True)
class Expected(FieldSums, Generic[S]):
    """Expected statistics of rows with missing values (E step), and the log-likelihood of the observed cells.

    >>> import numpy as np
    >>> from posterior.families import Normal
    >>> sums = Normal().summarize(np.array([[0.0], [2.0]]), np.array([0, 0]), None, 1)
    >>> (Expected(sums, -3.0) + Expected(sums, -2.0)).log_likelihood      # parts add up
    -5.0
    """

    statistics: S
    log_likelihood: float


class GapFillingFamily(Family[S]):
    """A family that needs EM if rows have missing values.

    The iterations end when one gains no more than `tol` in log-likelihood for a row, or after `max_iter`.

    >>> from posterior.families import MultivariateNormal, Normal
    >>> isinstance(MultivariateNormal(), GapFillingFamily), isinstance(Normal(), GapFillingFamily)
    (True, False)
    """

    tol: float
    max_iter: int

    @property
    def refuses(self) -> bool:
        """Whether parameters that the rows do not determine are an error."""
        return False

    @abstractmethod
    def start(self, statistics: S) -> Distribution:
        """Where the iterations begin."""

    @abstractmethod
    def anchor(self, statistics: S, expected: S) -> Any:
        """A prior that gives the likelihood a maximum where rows are too few: `rows`, `added`, `height`."""

    @abstractmethod
    def expect(
        self, block: Any, y: Ints, weight: Floats | None, given: Any, *, first: bool = False
    ) -> "Expected[S]":
        """The statistics to be expected of rows with gaps, under a given distribution.

        The `first` ones also hold what does not depend on it; the anchor adds that to all others.
        """

    @property
    @abstractmethod
    def likeliest(self) -> Self:
        """The family by maximum likelihood, without shrinkage and the like: each iteration raises it."""

    def leap(self, first: Any, second: Any, third: Any) -> Distribution:
        """A distribution further along the line of three iterations, to try; by default the third."""
        distribution: Distribution = third
        return distribution


class ProductDistribution(Distribution):
    """Columns that are independent given the class: the log density is the sum of its terms.

    One that reads a "matrix" gets sparse rows where the table is sparse, and makes none of them dense.

    >>> import numpy as np
    >>> from posterior.families import PoissonDistribution
    >>> given = PoissonDistribution([[1.0, 2.0], [3.0, 4.0]])
    >>> terms = given.log_terms(np.array([[0.0, 1.0]]))        # (rows, columns, classes)
    >>> bool(np.allclose(terms.sum(axis=1), given.log_density(np.array([[0.0, 1.0]]))))
    True
    """

    separable = True

    @abstractmethod
    def class_terms(self, block: Any, k: int) -> Floats:
        """Log density of every cell under class `k`, (n, b), 0 for a missing cell."""

    def log_terms(self, block: Any) -> Floats:
        """Log density of every cell under every class, (n, b, K)."""
        block = kernels.dense(block)
        return np.stack([self.class_terms(block, k) for k in range(self.n_classes)], axis=-1)

    def log_density(self, block: Any) -> Floats:
        """The sum over columns, class by class; that of sparse rows from the cells that are stored."""
        if kernels.is_sparse(block):
            return sum_over_stored(self, block)
        return np.stack([self.class_terms(block, k).sum(axis=1) for k in range(self.n_classes)], axis=-1)

    def log_relative(self, block: Any) -> Floats:
        """The log density, without the cells that no class can have."""
        return self.log_density(self._possible(block))

    def _possible(self, block: Any) -> Any:
        """The block with gaps for the cells that no class can have."""
        return with_gaps(block, self.outside(block)) if self.has_support else block

    def _log_weighted(self, block: Any, weight: Floats) -> Floats:
        """The weighted sum of the terms, class by class, without the cells that no class can have."""
        if kernels.is_sparse(block):
            return sum_over_stored(self, self._possible(block), weight)
        block, keep = self._possible(kernels.in_rows(block)), np.flatnonzero(weight > 0)
        terms = [self.class_terms(block, k)[:, keep] @ weight[keep] for k in range(self.n_classes)]
        return np.stack(terms, axis=-1)

    @abstractmethod
    def marginal(self, columns: Sequence[int]) -> Self:
        """The distribution of some of the columns."""


def _by_class(declared: Any, part: Any, order: Ints) -> Any:
    """A part of a distribution with its classes, if it has them as first axis, in another order."""
    if isinstance(part, Distribution):
        return part.of_classes(order)
    first = next(iter(getattr(declared, "__metadata__", ("",)))).split()[:1]
    if part is None or first not in (["K"], ["G"]):
        return part
    if isinstance(part, tuple):
        return tuple(table[order] for table in part)
    return part if first == ["G"] and len(part) == 1 else part[order]  # one for all classes


def refuse_outside(outside: Any, block: Any, names: Sequence[str], rule: str) -> None:
    """Raise the error of a family whose support a training value leaves, of dense or sparse rows."""
    sparse = kernels.is_sparse(block)
    wrong = outside.data if sparse else outside
    if not wrong.any():
        return
    first = int(wrong.argmax())  # in the order of the rows
    column = int(block.indices[first]) if sparse else first % wrong.shape[1]
    found = block.data[first] if sparse else block[first // wrong.shape[1], column]
    raise ValueError(
        f"column {names[column]!r}: {rule}, found {found:g}; "
        "choose another family for it, or make the value missing (NaN)"
    )


def table(name: str, values: Any, n_classes: int | None = None) -> Floats:
    """A (K, d) array of parameters from what a user typed; a vector is one column."""
    array = np.array(values, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} must be (n_classes, n_columns), found shape {np.shape(values)}")
    if np.isnan(array).any():
        raise ValueError(f"{name} contains NaN; every parameter must be a number")
    if n_classes is not None and len(array) != n_classes:
        raise ValueError(f"{name} has {len(array)} classes, expected {n_classes}")
    return array
