"""A fitted linear model: coefficients, and scores of new rows."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._types import AnyArray, Bools, Floats, FloatType, Ints
from posterior.linear.design import Matrix
from posterior.linear.scan import RowBlock, Scan
from posterior.math import log_softmax, softmax
from posterior.schema.kinds import overflow_message

DIVERGED = (
    "the solver left the range of numbers, and its coefficients are not finite; bring the columns to one "
    'scale (StandardScaler), or use solver="auto"'
)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores (x − centre)·coef + level, (K, d) and (K,), or one row for two classes and for regression.

    Kept about the centre of the columns: with x·coef + intercept, means of 1e8 would cost eight digits.

    >>> import numpy as np
    >>> LinearModel(coef=np.array([[2.0]]), level=np.array([1.0]), centre=np.array([3.0])).intercept
    array([-5.])
    """

    coef: Annotated[Floats, "R d coef"]
    level: Annotated[Floats, "R coef"]
    centre: Annotated[Floats, "d value"]
    far: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without what is kept

    @property
    def intercept(self) -> Floats:
        """The score of a row of zeros."""
        return self.level - self.coef @ self.centre

    def checked(self) -> "LinearModel":
        """The model itself, if its coefficients are numbers; a solver that diverged leaves others."""
        if np.isfinite(self.coef).all() and np.isfinite(self.level).all():
            return self
        raise ValueError(DIVERGED)

    def with_coef(self, coef: AnyArray, intercept: AnyArray) -> "LinearModel":
        """The model of other coefficients, about the same centre.

        Itself where they are the same, in the precision in which they are given.
        """
        if _same(coef, self.coef) and _same(intercept, self.intercept):
            return self
        coef = coef.astype(np.float64)
        return LinearModel(coef, intercept + coef @ self.centre, self.centre, self.far)

    def scores(self, X: Matrix) -> Floats:
        """Scores (m, K) of rows, or (m, 1); not finite where they overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.far and not kernels.is_sparse(X):
                return np.asarray((X - self.centre) @ self.coef.T) + self.level
            return np.asarray(X @ self.coef.T) + self.intercept

    def read(self, scan: Scan, dtype: FloatType = np.float64) -> Floats:
        """Scores of all rows of a table."""
        if scan.sparse:
            with np.errstate(over="ignore", invalid="ignore"):
                scores = scan.each(lambda block: self.scores(block.matrix)).astype(dtype, copy=False)
                if not np.isfinite(scores.sum()):  # which all scores must be for that
                    self._refuse_overflow(scan)
            return np.asarray(scores)

        def in_steps(block: RowBlock, out: Floats) -> None:
            with kernels.in_double(out) as found:
                self._write_in_steps(block, found)
                if not np.isfinite(found).all():
                    self._refuse_overflow(scan)

        return scan.fill(_Answering(self, "scores", in_steps), _answers(scan, len(self.coef), dtype))

    def log_posterior(self, scan: Scan, dtype: FloatType = np.float64) -> Floats:
        """Log probabilities, ln p(class | row), (n, K); two classes have the scores 0 and η."""
        return self._posterior(scan, dtype, logs=True)

    def posterior(self, scan: Scan, dtype: FloatType = np.float64) -> Floats:
        """p(class | row), (n, K)."""
        return self._posterior(scan, dtype, logs=False)

    def log_terms(self, scan: Scan) -> tuple[tuple[str, ...], Floats]:
        """Names and values (n, T, K) of terms by column of the table, which add up to the classes' scores."""
        return self.of_every_class.score_terms(scan)

    def score_terms(self, scan: Scan) -> tuple[tuple[str, ...], Floats]:
        """Names and values (n, T, R) of terms by column of the table, which add up to the scores.

        The baseline, the scores at the centre, comes first; then what each column adds, Σ coef·(x − centre)
        over all that is made of it, and then the products of two.
        """
        made = scan.design.made_of
        sources = sorted(set(made), key=lambda columns: (len(columns), columns))
        place = {columns: t for t, columns in enumerate(sources)}
        where = (np.arange(len(made)), [place[columns] for columns in made])
        by_term = [sparse.csr_array((coef, where), shape=(len(made), len(sources))) for coef in self.coef]

        def terms(block: RowBlock) -> Floats:
            X = block.matrix
            if kernels.is_sparse(X):
                parts = [(X @ coef).toarray() - self.centre @ coef for coef in by_term]
            else:
                parts = [(X - self.centre) @ coef for coef in by_term]
            lead = np.broadcast_to(self.level, (len(block.target), 1, len(by_term)))
            return np.concatenate([lead, np.stack(parts, axis=-1)], axis=1)

        names = [":".join(scan.design.schema.columns[j].name for j in columns) for columns in sources]
        return ("baseline", *names), scan.each(terms)

    def best(self, scan: Scan) -> Ints:
        """The most probable class of each row; the first of equals."""
        model = self.of_every_class
        if scan.sparse:
            return np.asarray(model.read(scan).argmax(axis=1), dtype=np.int64)
        even = np.zeros(len(model.coef))

        def in_steps(block: RowBlock, out: Ints) -> None:
            scores = np.empty((len(block.target), len(model.coef)))
            model._write_in_steps(block, scores)
            if not kernels.best(scores, even, out):
                model._refuse_overflow(scan)

        return scan.fill(_Answering(model, "best", in_steps), np.empty(scan.n_rows, dtype=np.int64))

    @cached_property
    def of_every_class(self) -> "LinearModel":
        """The same with a score for the first of two classes, 0."""
        if len(self.coef) > 1:
            return self
        coef, level = np.vstack([np.zeros_like(self.coef), self.coef]), np.append(0.0, self.level)
        return replace(self, coef=coef, level=level)

    def _posterior(self, scan: Scan, dtype: FloatType, *, logs: bool) -> Floats:
        model = self.of_every_class
        if scan.sparse:
            found = (log_softmax if logs else softmax)(model.read(scan), axis=1)
            return np.asarray(found.astype(dtype, copy=False))
        even = np.zeros(len(model.coef))

        def in_steps(block: RowBlock, out: Floats) -> None:
            with kernels.in_double(out) as scores:
                model._write_in_steps(block, scores)
                if not kernels.posteriors(scores, even, logs=logs):
                    model._refuse_overflow(scan)

        write = _Answering(model, "log posteriors" if logs else "posteriors", in_steps)
        return scan.fill(write, _answers(scan, len(model.coef), dtype))

    @cached_property
    def _row_scores(self) -> kernels.RowScores | kernels.WideScores:
        """The scores as compiled code reads them."""
        return kernels.linear_scores(self.coef.T, self.level, self.centre, np.zeros(len(self.centre)))

    def _write_in_steps(self, block: RowBlock, out: Floats) -> None:
        """Write the scores of dense rows; not finite where they overflow."""
        X = block.packed().matrix
        with np.errstate(over="ignore", invalid="ignore"), kernels.in_double(out) as scores:
            np.matmul(X - self.centre if self.far else X, self.coef.T, out=scores)
            scores[:] += self.level if self.far else self.intercept

    def _refuse_overflow(self, scan: Scan) -> None:
        """Raise the error of the first row whose scores are not finite, naming the column that did it."""
        if scan.design.fill is None:
            scan.design.refuse_gaps(scan.dataset)

        def worst(block: RowBlock) -> Floats:
            scores, X = self.scores(block.matrix), block.packed().matrix
            wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
            out = np.full((len(scores), 2), np.nan)
            rows = X[wrong].toarray() if kernels.is_sparse(X) else X[wrong]
            with np.errstate(over="ignore", invalid="ignore"):
                size = np.nan_to_num(
                    np.abs(rows - self.centre) * np.abs(self.coef).max(axis=0), posinf=np.inf
                )
            out[wrong, 0] = size.argmax(axis=1)
            out[wrong, 1] = rows[np.arange(len(rows)), size.argmax(axis=1)]
            return out

        found = scan.each(worst)
        wrong = np.flatnonzero(~np.isnan(found[:, 0]))
        if not len(wrong):
            return
        row = int(wrong[0])
        name = scan.design.names[int(found[row, 0])]
        raise ValueError(overflow_message(name, found[row, 1].item(), row))


@dataclass(frozen=True, eq=False)
class _Answering:
    """Writes what is asked for of a block by compiled code, else in steps; or of many parts by threads."""

    model: LinearModel
    answer: kernels.Answer
    in_steps: Callable[[RowBlock, Any], None]

    def __call__(self, block: RowBlock, out: AnyArray) -> None:
        """Write the answers to a block."""
        odd = self.model._row_scores.answer(block.matrix, self._even, out, self.answer)
        if odd is None or len(odd):
            self.in_steps(block, out)

    def of_parts(self, block: RowBlock, size: int, out: AnyArray) -> kernels.AnswersOfParts | None:
        """What writes the answers to every `size` rows, if compiled code does it."""
        return self.model._row_scores.answers_of_parts(block.matrix, self._even, out, self.answer, size)

    def settle(self, block: RowBlock, out: AnyArray, _: Bools) -> None:
        """Write the answers to a block in which some rows are odd."""
        self.in_steps(block, out)

    @property
    def _even(self) -> Floats:
        return np.zeros(len(self.model.level))


def _answers(scan: Scan, n_scores: int, dtype: FloatType) -> Floats:
    """Room for so many scores of every row."""
    return np.asarray(np.empty((scan.n_rows, n_scores), dtype))


def _same(numbers: AnyArray, own: Floats) -> bool:
    if numbers.dtype == own.dtype:
        return numbers.shape == own.shape and bool((numbers == own).all())
    return np.array_equal(numbers, own.astype(numbers.dtype) if numbers.dtype.kind == "f" else own)
