"""A fitted generative model: class priors and class densities, joined by Bayes' rule."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Bools, Floats, FloatType, Ints
from posterior.dataset import Chunk, Dataset, SomeRows, as_stored, read
from posterior.families import Distribution
from posterior.forms import QuadraticScores
from posterior.generative.notes import Note, gaps_message
from posterior.generative.overflow import refuse_overflow
from posterior.generative.plan import Filling, Plan
from posterior.generative.statistics import ClassStatistics
from posterior.schema import Schema
from posterior.schema.columns import all_places

if TYPE_CHECKING:
    from posterior.generative.spec import GenerativeSpec
    from posterior.generative.tuning import Tuning

NO_DATA = "a model built from given distributions has no data to add to; use fit"


@dataclass(frozen=True, eq=False)
class FittedBlock:
    """Columns with the distribution that describes them (None where every column was left out).

    `plan` says what the columns are of the block that was asked for; None for a given distribution.
    """

    columns: tuple[int, ...]
    distribution: Distribution | None
    fillings: tuple[Filling, ...] = ()
    reads: str = "values"
    plan: Plan | None = None

    def read(self, chunk: Chunk) -> Any:
        """The columns of a chunk, as the distribution takes them."""
        return self._in_precision(read(chunk, self.reads, self.columns), chunk)

    def scored(self, chunk: Chunk) -> Any:
        """The columns of a chunk to be scored, as they lie in memory where the distribution reads that."""
        if self.distribution is not None and self.distribution.takes_tables and self.reads == "values":
            return chunk.table(self.columns)
        return self.read(chunk)

    def scored_by_row(self, chunk: Chunk) -> Any:
        """The columns of a chunk as they lie in memory, for scores of its rows; sparse where it is sparse."""
        values = self.reads == "values"
        cells = chunk.table(self.columns) if values else chunk.matrix(self.columns, check=False)
        return self._in_precision(cells, chunk)

    def _in_precision(self, cells: Any, chunk: Chunk) -> Any:
        """Cells as they were read, or in the precision of the table for a distribution that asks for it."""
        wanted = self.distribution is not None and self.distribution.as_stored
        return as_stored(cells, chunk, self.columns) if wanted else cells

    def there(self, chunk: Chunk) -> Bools:
        """Which cells of a chunk the distribution looks at, (m, b): none that is missing or left out."""
        cells = self.read(chunk)
        if self.reads == "texts":
            return np.asarray(cells != None, dtype=np.bool_)  # noqa: E711  (cell by cell)
        if self.reads == "codes":
            left_out = self.distribution is None or self.distribution.unseen == "marginalize"
            sizes = np.asarray(cells.sizes)
            return np.asarray((cells.array >= 0) & ((cells.array < sizes) | (not left_out)))
        if self.reads == "mixed":
            return np.asarray(~np.isnan(cells.array))
        return np.asarray(~np.isnan(cells.toarray() if kernels.is_sparse(cells) else cells))

    @property
    def dense(self) -> int:
        """How many columns are read as values."""
        return len(self.columns) if self.reads in ("values", "mixed") else 0


@dataclass(frozen=True, eq=False)
class GenerativeModel:
    """p(class) and p(row | class); everything else follows.

    In posteriors and joint scores each column counts with its weight, Σ w_j ln p(x_j | class): `weights` has
    one for each column of the table, None where all are 1. Densities are those of the columns as they are.

    `statistics` are kept where parts of data can be added to the model, and None otherwise. `path` is the
    log-likelihood before the first and after each iteration, where gaps had to be filled in. `tuning` is
    what a cross-validation found, where it chose some of the settings.
    """

    classes: Annotated[AnyArray, "K any"]
    schema: Schema
    log_prior: Annotated[Floats, "K log"]
    blocks: tuple[FittedBlock, ...]
    spec: "GenerativeSpec | None" = None
    statistics: ClassStatistics | None = None
    log_likelihood: float | None = None
    why_no_likelihood: str = "a model built from given distributions has no training data"
    weight: float = 0.0
    notes: tuple[Note, ...] = field(default=())
    path: Annotated[Floats | None, "n any"] = None
    tuning: "Tuning | None" = None
    weights: Annotated[Floats | None, "n >=0"] = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def distributions(self) -> list[tuple[FittedBlock, Distribution]]:
        """The blocks that have a distribution, with it."""
        return [(b, b.distribution) for b in self.blocks if b.distribution is not None]

    def weight_of(self, block: FittedBlock) -> Floats:
        """The weights of the columns of a block, (b,)."""
        if self.weights is None:
            return np.ones(len(block.columns))
        everything = block.columns == all_places(len(self.weights))
        return self.weights if everything else self.weights[list(block.columns)]

    @property
    def _dense(self) -> int:
        """Cells of a row while it is scored: those read as values or, where they are more, its scores."""
        return max(sum(block.dense for block in self.blocks), self.n_classes)

    def log_density(self, dataset: Dataset, dtype: FloatType = np.float64) -> Floats:
        """Log density ln p(row | class), (n, K): −inf for a row that breaks a rule that all of training kept.

        Such as a total that is not the sum of its parts.
        """
        return self._filled(dataset, self._chunk_density, dtype)

    def log_kept_joint(
        self, dataset: Dataset, log_prior: Floats | None = None, dtype: FloatType = np.float64
    ) -> Floats:
        """Log joint density of the class and the columns kept, whatever those that were left out say."""
        prior = self.log_prior if log_prior is None else log_prior
        return self._filled(dataset, lambda chunk: self._chunk_kept_density(chunk) + prior, dtype)

    def log_joint(
        self, dataset: Dataset, log_prior: Floats | None = None, dtype: FloatType = np.float64
    ) -> Floats:
        """Log joint density ln p(row, class), (n, K), to which each column adds its weight of its own."""
        prior = self.log_prior if log_prior is None else log_prior
        return self._filled(dataset, lambda chunk: self._chunk_weighted(chunk) + prior, dtype)

    def _filled(self, dataset: Dataset, score: Callable[[Chunk], Floats], dtype: FloatType) -> Floats:
        """What a function says of the rows of a chunk, (n, K), of all chunks."""

        def write(chunk: Chunk, out: Floats) -> None:
            with np.errstate(over="ignore"):  # beyond the range of single precision it is −inf
                out[:] = score(chunk)

        return dataset.fill(write, np.empty((dataset.n_rows, self.n_classes), dtype), dense=self._dense)

    def log_evidence(
        self, dataset: Dataset, log_prior: Floats | None = None, dtype: FloatType = np.float64
    ) -> Floats:
        """Log density ln p(row) = ln Σ_k p(row | k) p(k), (n,)."""
        prior = self.log_prior if log_prior is None else log_prior

        def write(chunk: Chunk, out: Floats) -> None:
            with kernels.in_double(out) as sums:
                kernels.evidence(self._chunk_density(chunk) + prior, sums)

        return dataset.fill(write, np.empty(dataset.n_rows, dtype), dense=self._dense)

    def log_posterior(
        self, dataset: Dataset, log_prior: Floats | None = None, dtype: FloatType = np.float64
    ) -> Floats:
        """Log posterior ln p(class | row), (n, K).

        A row that is impossible under every class (possible only with unsmoothed zero probabilities, or
        outside the support of every density) says nothing, and gets the priors.
        """
        return self._normalized(dataset, log_prior, dtype, logs=True)

    def log_odds(self, dataset: Dataset, dtype: FloatType = np.float64) -> Floats:
        """Log odds of the second of two classes against the first, (n,)."""

        def write(chunk: Chunk, out: Floats) -> None:
            logs = kernels.scratch("log posteriors", chunk.n_rows, 2)
            self._answer(chunk, self.log_prior, logs, "log posteriors")
            with np.errstate(over="ignore"):  # beyond the range of single precision they are infinite
                out[:] = logs[:, 1] - logs[:, 0]

        return dataset.fill(write, np.empty(dataset.n_rows, dtype), dense=self._dense)

    def chunk_log_posterior(self, chunk: Chunk, log_prior: Floats | None = None) -> Floats:
        """Log posterior of the rows of a chunk."""
        prior = self.log_prior if log_prior is None else log_prior
        out = np.empty((chunk.n_rows, self.n_classes))
        self._score(chunk, prior, out)
        self._accept(kernels.posteriors(out, prior, logs=True), chunk)
        return out

    def posterior(
        self, dataset: Dataset, log_prior: Floats | None = None, dtype: FloatType = np.float64
    ) -> Floats:
        """The posterior p(class | row), (n, K)."""
        return self._normalized(dataset, log_prior, dtype, logs=False)

    def _normalized(
        self, dataset: Dataset, log_prior: Floats | None, dtype: FloatType, *, logs: bool
    ) -> Floats:
        prior = self.log_prior if log_prior is None else log_prior

        write = Answering(self, prior, "log posteriors" if logs else "posteriors")
        return dataset.fill(write, np.empty((dataset.n_rows, self.n_classes), dtype), dense=write.dense)

    def best(self, dataset: Dataset, log_prior: Floats | None = None) -> Ints:
        """Code of the most probable class of each row, the first of equals, (n,)."""
        prior = self.log_prior if log_prior is None else log_prior
        write = Answering(self, prior, "best")
        return dataset.fill(write, np.empty(dataset.n_rows, dtype=np.int64), dense=write.dense)

    @property
    def _alone(self) -> tuple[FittedBlock, kernels.RowScores | kernels.WideScores] | None:
        """The only block and its scores, where compiled code answers complete rows at once."""
        used = self.distributions
        if len(used) != 1 or self.weights is not None or used[0][0].reads not in ("values", "matrix"):
            return None
        ((block, distribution),) = used
        scores = distribution.row_scores
        return None if scores is None else (block, scores)

    def _answer(self, chunk: Chunk, log_prior: Floats, out: AnyArray, answer: kernels.Answer) -> None:
        """Write what is asked for of the rows of a chunk; those with gaps, and far ones, step by step."""
        alone = self._alone
        if alone is None or not alone[1].may_answer(chunk.n_rows):
            self._answer_in_steps(chunk, log_prior, out, answer)
            return
        block, scores = alone
        cells = block.scored_by_row(chunk)
        if kernels.is_sparse(cells):
            self._answer_in_steps(chunk, log_prior, out, answer, cells)
        else:
            self._settle(chunk, log_prior, out, answer, scores.answer(cells, log_prior, out, answer))

    def _settle(
        self, chunk: Chunk, log_prior: Floats, out: AnyArray, answer: kernels.Answer, odd: Bools | None
    ) -> None:
        """Write what is missing of the rows of a chunk: nothing is there without a word on odd rows."""
        alone = self._alone
        if odd is not None and 2 * odd.sum() > len(out) and alone is not None:
            block, scores = alone
            odd = scores.answer_with_gaps(block.scored_by_row(chunk), log_prior, out, answer)
        if odd is None or 2 * odd.sum() > len(out):
            self._answer_in_steps(chunk, log_prior, out, answer)
        elif len(odd):
            rows = np.flatnonzero(odd)
            part = np.empty((len(rows), *out.shape[1:]), out.dtype)
            self._answer_in_steps(SomeRows(chunk, rows), log_prior, part, answer)
            out[rows] = part

    def _answer_in_steps(
        self, chunk: Chunk, log_prior: Floats, out: AnyArray, answer: kernels.Answer, cells: Any = None
    ) -> None:
        """Write scores, block by block, and what follows from them; `cells` are those of the only block."""
        if answer == "best":
            scores = kernels.scratch("scores", chunk.n_rows, self.n_classes)
            self._score(chunk, log_prior, scores, cells)
            self._accept(kernels.best(scores, log_prior, out), chunk)
            return
        with kernels.in_double(out) as scores:
            self._score(chunk, log_prior, scores, cells)
            self._accept(kernels.posteriors(scores, log_prior, logs=answer == "log posteriors"), chunk)

    def _score(self, chunk: Chunk, log_prior: Floats, out: Floats, cells: Any = None) -> None:
        """Write log posteriors up to a term of the row; they are not finite where a number is infinite."""
        kernels.fill_rows(out, log_prior)
        with np.errstate(over="ignore", invalid="ignore"):
            for block, distribution in self.distributions:
                if self.weights is None:
                    distribution.add_relative(block.scored(chunk) if cells is None else cells, out)
                else:
                    distribution.add_weighted(block.scored(chunk), self.weight_of(block), out)

    def _accept(self, finite: bool, chunk: Chunk) -> None:
        """Raise the error of an infinite or too large number, if that is why scores were not finite."""
        if finite:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            for block, distribution in self.distributions:
                scores = np.zeros((chunk.n_rows, self.n_classes))
                distribution.add_relative(block.scored(chunk), scores)
                refuse_overflow(block, distribution, chunk, scores, self.schema)

    def refuse_overflow(self, chunk: Chunk) -> None:
        """Raise the error of a number too large for the log density of its row, if there is one."""
        self._chunk_kept_density(chunk)

    def _chunk_density(self, chunk: Chunk) -> Floats:
        total = self._chunk_kept_density(chunk)
        for rule in self.rules:
            total[rule.broken(chunk)] = -np.inf
        return total

    def _chunk_weighted(self, chunk: Chunk) -> Floats:
        """The log density in which each column counts with its weight."""
        total = self._chunk_density(chunk)
        if self.weights is None:
            return total
        impossible = np.isneginf(total) if self.rules else False
        total[:] = 0.0
        for block, distribution in self.distributions:
            terms = _weighted_terms(
                distribution.log_terms(block.read(chunk)), weight := self.weight_of(block)
            )
            total += terms.sum(axis=1) + weight[0] * distribution.log_base
        total[impossible] = -np.inf
        return total

    def _chunk_kept_density(self, chunk: Chunk) -> Floats:
        total = np.zeros((chunk.n_rows, self.n_classes))
        with np.errstate(over="ignore", invalid="ignore"):
            for block, distribution in self.distributions:
                part = distribution.log_density(block.read(chunk))
                if not np.isfinite(part.sum()):
                    refuse_overflow(block, distribution, chunk, part, self.schema)
                total += part
        return total

    def log_terms(self, dataset: Dataset, *, words: bool = False) -> tuple[tuple[str, ...], Floats]:
        """Names and values (n, T, K) of terms by feature that add up to the log joint.

        The prior comes first; then, where there are Gaussian blocks, their log density at the centre. With
        `words` a text has a term for each of its words instead of one, named as in text[word].
        """
        used = self.distributions
        weights = [self.weight_of(block) for block, _ in used]
        bases = (w[0] * d.log_base for w, (_, d) in zip(weights, used, strict=True))
        base = sum(bases, np.zeros(self.n_classes))
        lead = [self.log_prior, base] if base.any() else [self.log_prior]
        held = [self._words_in(b, d, dataset) if words else None for b, d in used]
        names = ["prior", "baseline"][: len(lead)]
        for (block, distribution), some in zip(used, held, strict=True):
            names += self._term_names(block, distribution, some)

        def terms(chunk: Chunk) -> Floats:
            parts = [np.broadcast_to(lead, (chunk.n_rows, len(lead), self.n_classes))]
            self.refuse_overflow(chunk)
            for (b, d), some, weight in zip(used, held, weights, strict=True):
                cells = b.read(chunk)
                found = d.log_terms(cells) if some is None else d.word_terms(cells, some)[1]
                parts.append(_weighted_terms(found, weight))
            return np.concatenate(parts, axis=1)

        return tuple(names), dataset.map(terms, dense=len(names) * self.n_classes)

    def _words_in(self, block: FittedBlock, distribution: Distribution, dataset: Dataset) -> Ints | None:
        """The numbers of the words that the texts of a data set hold; None for a block of no texts."""
        if block.reads != "texts":
            return None

        def found(chunk: Chunk) -> list[Ints | None]:
            return [distribution.words_in(block.read(chunk))]

        parts = [some for some in dataset.reduce(found, dense=1) if some is not None]
        return np.unique(np.concatenate(parts)) if parts else None

    def _term_names(self, block: FittedBlock, distribution: Distribution, words: Ints | None) -> list[str]:
        names = [self.schema.names[j] for j in block.columns]
        if words is None:
            return names
        found, _ = distribution.word_terms(np.empty((0, 1), dtype=object), words)
        return [f"{names[0]}[{word}]" for word in found]

    def own_terms(self, dataset: Dataset) -> tuple[tuple[str, ...], Floats]:
        """Names and values (n, T) of terms by feature of the log density under the class `y` of each row.

        They add up to it but for what depends only on the class and on which cells are there. NaN where a
        cell is not; −inf for a column that breaks a rule that all of training kept.
        """
        used, rules = self.distributions, self.rules
        columns = [j for b, _ in used for j in b.columns] + [rule.column for rule in rules]

        def terms(chunk: Chunk) -> Floats:
            rows, parts = np.arange(chunk.n_rows), []
            for block, distribution in used:
                own = distribution.own_terms(block.read(chunk))[rows, :, chunk.y]
                own[np.isnan(own)] = -np.inf
                parts.append(np.where(block.there(chunk), own, np.nan))
            parts += [np.where(rule.broken(chunk), -np.inf, 0.0)[:, None] for rule in rules]
            return np.concatenate([np.zeros((chunk.n_rows, 0)), *parts], axis=1)

        names = tuple(self.schema.names[j] for j in columns)
        return names, dataset.map(terms, dense=len(names) * self.n_classes)

    def squared_distance(self, dataset: Dataset) -> tuple[Floats, Ints]:
        """Squared Mahalanobis distances (n, K), and how many cells of each row they are of, (n,).

        Infinite for a row that breaks a rule that all of training kept. All blocks must be Gaussian.
        """

        def distance(chunk: Chunk) -> Floats:
            total = np.zeros((chunk.n_rows, self.n_classes + 1))
            for block, distribution in self.distributions:
                cells = block.read(chunk)
                try:
                    with np.errstate(over="ignore"):  # a distance without end is one
                        total[:, :-1] += distribution.squared_distance(cells)
                except ValueError as error:
                    names = ", ".join(repr(self.schema.names[j]) for j in block.columns)
                    raise ValueError(f"column {names}: {error}") from error
                total[:, -1] += block.there(chunk).sum(axis=1)
            for rule in self.rules:
                total[rule.broken(chunk), :-1] = np.inf
            return total

        found = dataset.map(distance, dense=self._dense)
        return found[:, :-1], found[:, -1].astype(np.int64)

    @property
    def rules(self) -> list[Filling]:
        """The rules that all rows of training kept, such as a total that is the sum of its parts."""
        return [rule for block in self.blocks if block.plan for rule in block.plan.rules]

    def quadratic(
        self, classes: Sequence[int] | None = None, log_prior: Floats | None = None
    ) -> QuadraticScores:
        """Log joints of some classes as quadratic functions of the columns used, if all are Gaussian.

        Under other priors of all classes where `log_prior` gives them.
        """
        parts = []
        for block, distribution in self.distributions:
            try:
                parts.append(weighted_quadratic(distribution, self.weight_of(block), classes))
            except ValueError as error:
                names = ", ".join(repr(self.schema.names[j]) for j in block.columns)
                raise ValueError(
                    f"column {names}: {error}; boundaries are known for models of Gaussian columns only"
                ) from error
        if not parts:
            raise ValueError("the model uses no column: there is no boundary to describe")
        columns = [j for b, _ in self.distributions for j in b.columns]
        joined = parts[0] if len(parts) == 1 else QuadraticScores.block_diagonal(parts)
        order = np.argsort(columns).tolist()
        log_prior = self.log_prior if log_prior is None else log_prior
        log_prior = log_prior if classes is None else log_prior[list(classes)]
        return joined.shifted(log_prior).reordered(order, [self.schema.names[columns[i]] for i in order])

    @property
    def n_parameters(self) -> int:
        """Free parameters of the densities, weights that were learnt, K − 1 of priors that were estimated."""
        given = self.spec is None or self.spec.priors.given is not None
        learnt = 0 if self.spec is None else self.spec.n_learnt_weights
        n_parameters = sum(d.n_parameters for _, d in self.distributions) + learnt
        return n_parameters + (0 if given else self.n_classes - 1)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Any, Ints]:
        """`n` rows in the kind of table that was fitted, and their class codes.

        Columns that the model left out are written from the others where they follow from them
        (constants, linear combinations) and missing otherwise.
        """
        y = rng.choice(self.n_classes, size=n, p=np.exp(self.log_prior))
        columns: list[AnyArray] = [np.full(n, np.nan) for _ in range(len(self.schema))]
        for block, distribution in self.distributions:
            drawn = distribution.sample(y, rng)
            for j, values in zip(block.columns, drawn.T, strict=True):
                columns[j] = values
        for block in self.blocks:
            for filling in block.fillings:
                parts = [columns[j] * c for j, c in zip(filling.sources, filling.coef, strict=True)]
                columns[filling.column] = filling.intercept + sum(parts, np.zeros(n))
        return self.schema.decode(columns), y

    def without(self, columns: Collection[int]) -> "GenerativeModel":
        """The model that does not look at some columns: they are integrated out of the densities, exactly."""
        blocks = []
        for block, distribution in self.distributions:
            kept = [i for i, j in enumerate(block.columns) if j not in columns]
            if len(kept) == len(block.columns):
                blocks.append(block)
            elif kept:
                places = tuple(block.columns[i] for i in kept)
                blocks.append(FittedBlock(places, distribution.marginal(kept), reads=block.reads))
        return GenerativeModel(self.classes, self.schema, self.log_prior, tuple(blocks), weights=self.weights)

    def __add__(self, other: "GenerativeModel") -> "GenerativeModel":
        return self.update(other._mergeable_statistics())

    def update(self, more: ClassStatistics) -> "GenerativeModel":
        """The model of the rows seen so far and of these."""
        if self.spec is None:
            raise ValueError(NO_DATA)
        return self.spec.estimate(self._mergeable_statistics() + more)

    def _mergeable_statistics(self) -> ClassStatistics:
        if self.statistics is None:
            raise ValueError(self.why_not_mergeable)
        return self.statistics

    @property
    def why_not_mergeable(self) -> str:
        """Why no rows can be added to a model without statistics."""
        if self.path is not None:
            names = [self.schema.names[j] for b in self.blocks for j in b.columns if b.reads == "values"]
            return gaps_message(names)
        return (self.spec and self.spec.why_not_mergeable(self.schema)) or NO_DATA


@dataclass(frozen=True, eq=False)
class Answering:
    """Writes what is asked for of the rows of a chunk, or of many chunks by several threads."""

    model: GenerativeModel
    log_prior: Floats
    answer: kernels.Answer

    @property
    def dense(self) -> int:
        """Cells of a row while it is answered; more where its scores are a large product."""
        alone = self.model._alone
        return max(self.model._dense, 0 if alone is None else alone[1].cells)

    def __call__(self, chunk: Chunk, out: AnyArray) -> None:
        """Write the answers to a chunk."""
        self.model._answer(chunk, self.log_prior, out, self.answer)

    def of_parts(self, chunk: Chunk, size: int, out: AnyArray) -> kernels.AnswersOfParts | None:
        """What writes the answers to every `size` rows, if compiled code does it."""
        alone = self.model._alone
        if alone is None or not chunk.is_in_place(alone[0].columns):
            return None
        block, scores = alone
        return scores.answers_of_parts(block.scored_by_row(chunk), self.log_prior, out, self.answer, size)

    def settle(self, chunk: Chunk, out: AnyArray, odd: Bools) -> None:
        """Write the answers to the odd rows of a chunk."""
        self.model._settle(chunk, self.log_prior, out, self.answer, odd)


def weighted_quadratic(
    distribution: Distribution, weight: Floats, classes: Sequence[int] | None = None
) -> QuadraticScores:
    """The weighted log densities of some classes as quadratic functions of the columns of a block."""
    if (weight == weight[0]).all():
        return distribution.quadratic(classes).times(float(weight[0]))
    parts = [distribution.marginal([j]).quadratic(classes).times(float(w)) for j, w in enumerate(weight)]
    return QuadraticScores.block_diagonal(parts)


def _weighted_terms(terms: Floats, weight: Floats) -> Floats:
    """Terms (n, T, K) by the weights of their columns; words share that of their text. 0 times −inf is 0."""
    if (weight == 1).all():
        return terms
    factor = np.broadcast_to(weight, terms.shape[1])[:, None]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(factor > 0, factor * terms, 0.0))
