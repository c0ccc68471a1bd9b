"""Additive models: probabilities of classes from a sum of smooth curves, one for each column."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from posterior._blas import one_blas_thread
from posterior._tasks import Tasks
from posterior._text import first_true
from posterior._types import AnyArray, Floats
from posterior.bayes import impossible_priors
from posterior.dataset import Dataset
from posterior.engines import LocalDataset, ScannedTable
from posterior.estimators.callbacks import with_callbacks
from posterior.estimators.criteria import InformationCriteria
from posterior.estimators.linear_probabilities import LinearProbabilities
from posterior.estimators.parameters import Auto, Kinds, Labels, TableLike, Weights
from posterior.estimators.precision import shown
from posterior.estimators.target import labelled_table, scanned_table
from posterior.estimators.training_rows import RowsElsewhere, TrainingRows, refuse_one_reading
from posterior.linear import Design, Fit, LinearModel, Problem, Scan, SoftmaxLoss, solve, with_settings
from posterior.linear.additive_design import KINDS, AdditiveDesign
from posterior.linear.effect_errors import EffectCovariance, effect_covariances, effect_errors
from posterior.linear.evidence import Evidence, Strengths
from posterior.linear.in_memory import InMemoryScan
from posterior.linear.objective import IN_MEMORY_CELLS
from posterior.linear.penalties import ElasticNet
from posterior.linear.products import telling_pairs
from posterior.math import softmax
from posterior.schema import read_table
from posterior.schema.classes import refuse_one_class
from posterior.schema.opening import rows_of
from posterior.schema.select import ColumnSelection

# Rows that are enough to choose strengths and pairs by.
ENOUGH_ROWS = 20_000
# Rows of each class that are among them, if there are so many.
FEW_ROWS = 200


class AdditiveClassifier(LinearProbabilities, InformationCriteria):
    """Generalised additive model for classification: logistic regression with a smooth curve for each column.

    p(class k | x) ∝ exp(b_k + f_k1(x_1) + f_k2(x_2) + …). The curve of a number is a spline whose bends are
    penalised, straight beyond the data; categories have an effect for each level, a gap is a level of its
    own, and products join in for the few pairs of columns that say more together than one by one. How smooth
    each curve is, and whether a column counts at all, the rows say: strengths of the penalties maximise the
    evidence (MacKay, 1992). A generalised additive model (Hastie & Tibshirani, 1990) with several classes.

    Parameters
    ----------
    smoothness : float or "auto", default="auto"
        Strength of the penalty of every term. With 1 a column is expected to move the log odds by about 1,
        up or down; 100 by a tenth of it. "auto" finds one for every term.
    pairs : int, default=10
        Pairs of columns, at most, whose products join in; 0 keeps to sums of single columns. A pair is taken
        where a test of what the curves leave over finds it at the 5 % level for all pairs together.
    kinds : dict, default=None
        Kinds of columns that differ from what would be inferred: `{"zip": "categorical"}`.
    columns : selection of columns, default=None
        Which columns to learn from, by name, position, pattern or selector; None is all.
    tol : float, default=1e-6
        The gradient, relative to that at zero coefficients, at which the solver stops.
    max_iter : int, default=None
        Maximum number of steps; None is the default of the solver.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (n_classes,)
        Class labels, sorted, and their frequencies in training.
    coef_, intercept_ : ndarrays of shape (1 or n_classes, n_terms) and (1 or n_classes,)
        What multiplies the functions named in `terms_`, in units of their standard deviations beforehand.
        Terms that the rows say do not count are not among them.
    strengths_ : dict
        The strength of every term; infinite where the rows say that it does not count.
    pairs_ : list of tuples
        The pairs of columns whose products joined in.
    converged_, certificate_ : bool and Certificate
        Whether the optimum under the strengths was reached, and how far off it can be at most.
    term_strengths_, term_worth_ : ndarray of shape (n_groups,)
        Strength of the penalty on each group of coefficients, and how many free ones they are worth.
    effect_covariances_ : tuple
        Covariances of the curves of single columns, from which their bands come.
    terms_ : tuple of str
        The term of each coefficient: `age`, `state[CA]`, `age[missing]`, `age^2`, `age:income`.
    n_iter_ : ndarray of shape (1,)
        Steps that the solver took.
    log_likelihood_, aic_, bic_ : float
        Log-likelihood of the training rows, Σ ln p(class | row), without the penalty, and Akaike's and
        Schwarz's criteria.
    n_parameters_ : float
        Number of free coefficients; under a penalty the effective number, the trace of H(H + P)⁻¹.
    solution_, fit_ : Solution, Fit
        How the optimum was reached: steps, certificate, path; and the problem that was solved.
    model_, design_ : LinearModel, Design
        The scores as a function, and which numbers are made of a row.
    schema_, n_features_in_ : Schema, int
        How each column was read, and their number.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    target_name_, weight_ : str or None, float
        Name of what is predicted, where the table told, and the weight of all rows.

    Examples
    --------
    >>> from posterior import AdditiveClassifier
    >>> from posterior.datasets import load_penguins
    >>> X, y = load_penguins().X, load_penguins().y
    >>> model = AdditiveClassifier().fit(X, y)
    >>> model.predict_proba(X[3:4]).round(2)  # of which only the island and the year are known
    array([[0.8 , 0.06, 0.14]])
    >>> [name for name, strength in model.strengths_.items() if strength < 1e6]  # the terms that count
    ['bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g', 'island', 'sex']

    """

    approach = "discriminative"
    # Settings of the other linear models that this one does not have.
    missing, degree, solver, random_state, fit_intercept = "indicator", 1, "auto", None, True

    term_strengths_: Floats
    term_worth_: Floats
    effect_covariances_: tuple[EffectCovariance, ...]

    def __init__(
        self,
        *,
        smoothness: float | Auto = "auto",
        pairs: int = 10,
        kinds: Kinds | None = None,
        columns: ColumnSelection | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
    ) -> None:
        self.smoothness = smoothness
        self.pairs = pairs
        self.kinds = kinds
        self.columns = columns
        self.tol = tol
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Learn from a table and its class column.

        Parameters
        ----------
        X : array, list or data frame of shape (n_samples, n_features), or scan
            Numbers and categories, with or without gaps. Of a scan the curves, the pairs and the strengths
            of penalties are chosen by a sample of 20,000 rows; the coefficients are those of all rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, weight 0 the row not at all.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        self._refuse_settings()
        if isinstance(X, ScannedTable):
            scanned = scanned_table(X, y, sample_weight, type(self).__name__)
            refuse_one_class(scanned.classes)
            refuse_one_reading(scanned, type(self).__name__)
            return self._fit_rows(RowsElsewhere.scanned(scanned), scanned.classes, scanned.target)
        table = labelled_table(X, y, sample_weight, type(self).__name__)
        return self._fit_rows(TrainingRows.of(table), table.classes, getattr(y, "name", None))

    def _fit_rows(self, rows: TrainingRows, classes: AnyArray, name: Any) -> Self:
        """Learn from rows, wherever they are, of these classes; curves and strengths from enough of them."""
        loss, total = SoftmaxLoss(len(classes)), rows.total
        plain = self._learning(rows, reference=False)
        told = Tasks("part", 2, leaves=False)
        with told.next(), one_blas_thread:
            some = _enough_rows(rows, plain)
            design, found = self._strengths(plain.design, some, loss)
        scaled = design.with_strengths(found.kept)
        scan = Scan.of(plain.dataset, scaled)
        small = not scan.sparse and scan.n_rows * scan.n_features <= IN_MEMORY_CELLS
        if small and not rows.elsewhere:
            scan = InMemoryScan.copied(scan)
        problem = Problem(scan, loss, ElasticNet(l2=1.0 / total))
        solver = with_settings(problem.solver(), tol=self.tol, max_iter=self.max_iter)
        with told.next():
            # Of many rows a solver does better to begin with some of them.
            few = scan.n_rows < 2 * ENOUGH_ROWS
            fit = solve(problem, solver, _start(scaled, found, loss) if few else None)

        self._install(
            scaled,
            fit.model,
            classes_=classes,
            coef_=shown(fit.model.coef.copy(), scaled.schema),
            intercept_=shown(fit.model.intercept, scaled.schema),
            fit_=fit,
            n_iter_=np.array([fit.solution.iterations], dtype=np.int32),
            target_name_=name if isinstance(name, str) else None,
            weight_=total,
            priors_=rows.class_weights / total,
            term_strengths_=found.kept,
            term_worth_=np.where(np.isinf(found.kept), 0.0, found.worth),
            effect_covariances_=_covariances(fit, scaled, some),
        )
        self._report(fit)
        return self

    def _refuse_settings(self) -> None:
        auto = isinstance(self.smoothness, str) and self.smoothness == "auto"
        if not auto and not (not isinstance(self.smoothness, str) and 0 < self.smoothness < np.inf):
            raise ValueError(f'smoothness must be a number above 0 or "auto", found {self.smoothness!r}')
        if not isinstance(self.pairs, int | np.integer) or self.pairs < 0:
            raise ValueError(f"pairs must be a whole number from 0 upwards, found {self.pairs!r}")

    def _strengths(self, plain: Design, some: Dataset, loss: SoftmaxLoss) -> tuple[AdditiveDesign, Strengths]:
        """The design with its pairs, and the strength of each of its terms, from enough of the rows."""
        design = AdditiveDesign.learnt_from(some, plain)
        found = self._found(some, design, loss, np.ones(len(design.terms)))
        if not self.pairs or len(design.pairable) < 2:
            return design, found
        pairs = _pairs(some, design, found, int(self.pairs))
        if not pairs:
            return design, found
        more = design.with_pairs(pairs)
        known = dict(zip(design.terms, found.strengths, strict=True))
        usual = float(np.exp(np.log(found.strengths).mean()))
        start = np.array([known.get(term, usual) for term in more.terms])
        return more, self._found(some, more, loss, start, found)

    def _found(
        self,
        rows: Dataset,
        design: AdditiveDesign,
        loss: SoftmaxLoss,
        start: Floats,
        known: Strengths | None = None,
    ) -> Strengths:
        kinds = np.array([KINDS.index(term.kind) for term in design.terms], dtype=np.int64)
        evidence = Evidence.of(Scan.of(rows, design), loss, design.term_of, kinds)
        if self.smoothness == "auto":
            return evidence.strengths(start, known=known)
        return evidence.strengths(np.full(len(start), float(self.smoothness)), fixed=True, known=known)

    @property
    def strengths_(self) -> dict[str, float]:
        """The strength of every term, by its name: age, age (curve), age (gap), age:income."""
        design: Any = self.design_
        plain = {"line", "category", "product"}
        names = [t.name if t.kind in plain else f"{t.name} ({t.kind})" for t in design.terms]
        return dict(zip(names, self.term_strengths_.tolist(), strict=True))

    @property
    def pairs_(self) -> list[tuple[str, str]]:
        """The pairs of columns whose products joined in."""
        design: Any = self.design_
        columns = design.schema.columns
        return [(columns[i].name, columns[j].name) for i, j in design.pairs_kept]

    def effect_errors(self, X: TableLike) -> Floats:
        """Standard errors of what each column of the table adds to the log odds, (n, n_features, 1 or K).

        They are spreads of the posterior under the priors that the penalties stand for, strengths taken as
        known; products are no part of them. NaN where coefficients are too many to tell.
        """
        scan, model = self._reading(X), self._current
        contrasts = SoftmaxLoss(len(self.classes_)).contrasts
        made = self.design_.made_of
        known = bool(self.effect_covariances_) or all(len(columns) > 1 for columns in made)
        # A column whose terms do not count adds nothing, for certain.
        out = np.full((scan.n_rows, len(self.design_.schema), len(contrasts)), 0.0 if known else np.nan)
        if self.effect_covariances_:
            columns = [made[one.numbers[0]][0] for one in self.effect_covariances_]
            out[:, columns] = scan.each(
                lambda block: effect_errors(self.effect_covariances_, block, model.centre, contrasts)
            )
        return out

    @property
    def n_parameters_(self) -> float:
        """What the coefficients are worth under their penalties: the trace of H(H + P)⁻¹, by term.

        H is the Hessian of minus the log-likelihood, of 20,000 rows at most, and P that of the penalty.
        """
        self._solved()
        return float(self.term_worth_.sum()) + len(self.classes_) - 1

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the training rows, Σ w ln p(class | row), without the penalty."""
        point = self._solved().solution.point
        return float(-point.loss * point.weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _restored(self) -> str:
        """Set what follows from the attributes in a model file; what is impossible about them, in words."""
        K, design = len(self.classes_), self.design_
        if not isinstance(design, AdditiveDesign):
            return "a design without curves"
        n = len(design.terms)
        return (
            super()._restored()
            or self._impossible_classifier(self.classes_, 1 if K == 2 else K)
            or impossible_priors(vars(self).get("priors_"), K)
            or first_true(
                {
                    "rows of no weight": not 0 < self.weight_ < np.inf,
                    "terms that are worth no number": not (
                        np.isfinite(self.term_worth_).all() and (self.term_worth_ >= 0).all()
                    ),
                    "errors of other columns": not _fitting(self.effect_covariances_, design, K),
                    "strengths of other terms": not len(self.term_strengths_) == len(self.term_worth_) == n,
                }
            )
        )


def _pairs(rows: Dataset, design: AdditiveDesign, found: Strengths, most: int) -> list[tuple[int, int]]:
    """The pairs of columns that say more together than one by one."""
    block = Scan.of(rows, design).collected()
    scores = (block.matrix - found.mean) @ found.coef.T + found.level
    left = -softmax(np.column_stack([np.zeros(len(scores)), scores]), axis=1)
    left[np.arange(len(left)), block.target] += 1.0
    return telling_pairs(design.paired_numbers(rows), left, block.weights, most)


def _enough_rows(rows: TrainingRows, scan: Scan) -> Any:
    """All rows, or of many some that are drawn: every so many might keep time with a column or the classes.

    A rare class has more of them than its share, unless the rows are elsewhere.
    """
    dataset: Any = scan.dataset
    n = dataset.n_rows
    if rows.elsewhere:
        return dataset.sample(n if n < 2 * ENOUGH_ROWS else ENOUGH_ROWS)
    if n < 2 * ENOUGH_ROWS:
        return dataset
    order = np.random.default_rng(0).permutation(n)
    drawn = [order[:ENOUGH_ROWS]]
    seen = np.bincount(rows.target[drawn[0]], minlength=rows.n_classes)
    drawn += [order[rows.target[order] == k][:FEW_ROWS] for k in np.flatnonzero(seen < FEW_ROWS)]
    part = np.unique(np.concatenate(drawn))
    schema = scan.design.schema
    data = schema.encode(read_table(rows_of(rows.source, part)))
    return LocalDataset(schema, data, rows.target[part], None if rows.weight is None else rows.weight[part])


def _covariances(fit: Fit, design: AdditiveDesign, some: Dataset) -> tuple[EffectCovariance, ...]:
    """How uncertain the effects are, by enough of the rows."""
    objective = fit.objective
    if objective is None or not fit.solution.converged:
        return ()
    if some.n_rows < objective.scan.n_rows:
        objective = replace(objective, scan=Scan.of(some, design))
    point = fit.solution.point
    with one_blas_thread:
        return effect_covariances(objective, point.theta, design.made_of, point.weight)


def _start(design: AdditiveDesign, found: Strengths, loss: SoftmaxLoss) -> LinearModel:
    """Where the solver begins: the coefficients that came with the strengths."""
    kept = design.kept
    root = np.sqrt(found.kept)[design.term_of][kept]
    coef = found.coef[:, kept] * np.where(np.isinf(root), 0.0, root)
    return LinearModel(loss.contrasts @ coef, loss.contrasts @ found.level, found.mean[kept] / root)


def _fitting(covariances: tuple[EffectCovariance, ...], design: AdditiveDesign, n_classes: int) -> bool:
    """Whether covariances are those of the columns of a design."""
    made = design.made_of
    seen: set[tuple[int, ...]] = set()
    for one in covariances:
        if not one.numbers or not all(0 <= f < len(made) for f in one.numbers):
            return False
        sources = {made[f] for f in one.numbers}
        if len(sources) > 1 or len(next(iter(sources))) > 1 or sources & seen:
            return False
        if len(one.covariance) != len(one.numbers) * (n_classes - 1):
            return False
        seen |= sources
    return True
