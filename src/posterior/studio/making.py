"""From a table, or a model and rows, to a page where the decision can be moved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from posterior.comparison.inputs import compared_table
from posterior.estimators import DecisionClassifier
from posterior.estimators.held_out import HeldOutRows
from posterior.files import writing
from posterior.schema import LabelledTable
from posterior.studio.content import Subject
from posterior.studio.page import page_of
from posterior.studio.state import page_settings
from posterior.workflow import train

HELD_OUT = "Each row was judged by a model that had not seen it (cross-validated)."
GIVEN = "These rows were given beside the model, which judged them as they are."
TRAINING = (
    "These look like the rows that the model learnt from: it has seen them, and does better on them than on "
    "others."
)
KEPT = "The model file keeps averages of the rows held out when it was fitted."


def studio(  # noqa: PLR0913 -- what the page is about, where it goes, and what it is called
    X: Any,
    y: Any = None,
    path: str | Path = "studio.html",
    *,
    model: Any = "naive-bayes",
    rows: bool = True,
    kinds: Any = None,
    seed: int = 0,
    title: str | None = None,
    decision: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
) -> Path:
    """Write one self-contained page on which priors, costs, rejecting and outliers of a model can be moved.

    The page holds log posteriors of rows that the model has not seen, works out in the browser what every
    setting does to them, and shows the command and the Python lines of the setting; a row can be picked and
    its cells changed. It asks nothing of a network.

    Parameters
    ----------
    X : table of shape (n_samples, n_features), or fitted classifier
        The rows; a fitted classifier alone is shown by the averages of held-out rows that it keeps.
    y : array of shape (n_samples,) or str, default=None
        The class of each row, or the column of X that holds it.
    path : str or Path, default="studio.html"
        Where the page is written.
    model : str or classifier, default="naive-bayes"
        A model by its name or as an unfitted estimator, which is cross-validated; or a fitted classifier,
        of which the posteriors of the rows are shown as they are.
    rows : bool, default=True
        False keeps averages of rows with like posteriors, and no cell of any row.
    kinds : mapping, default=None
        What columns are, as estimators take it.
    seed : int, default=0
        Which rows are held out together, and which of too many are drawn.
    title : str, default=None
        The heading of the page.
    decision : mapping, default=None
        Where the page begins: priors, costs, reject, outliers, as `set_decision` takes them.
    names : mapping, default=None
        How data, target and model are called in the commands of the page.

    Returns
    -------
    path : Path
        Where the page was written.

    Examples
    --------
    >>> import tempfile, posterior
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = posterior.studio(penguins.X, penguins.y, f"{folder}/studio.html", model="lda")
    ...     page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'

    """
    subject = subject_of(X, y, model, rows=rows, kinds=kinds, seed=seed, decision=decision, names=names)
    page = page_of(subject, title=title, seed=seed)
    with writing(path) as file:
        file.write(page.encode("utf-8"))
    return Path(path)


def subject_of(  # noqa: PLR0913 -- those of studio
    X: Any,
    y: Any,
    model: Any = "naive-bayes",
    *,
    rows: bool = True,
    kinds: Any = None,
    seed: int = 0,
    decision: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    origin: str = "",
) -> Subject:
    """What a page is about.

    >>> from posterior import LDA
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins().frame.dropna()
    >>> sizes = penguins[["bill_length_mm", "bill_depth_mm"]]
    >>> subject_of(sizes, penguins["species"], LDA()).fitted.classes_.tolist()
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    if isinstance(X, str | Path):
        raise TypeError(
            f"X is {str(X)!r}, a name: pass the table that was read from the file, or posterior.load(…) of a "
            "model file"
        )
    if hasattr(X, "predict") and y is None:
        subject = _kept(X)
    elif not isinstance(model, str) and _is_fitted(model):
        subject = _judged(model, compared_table(X, y, kinds=kinds))
    else:
        subject = _cross_validated(compared_table(X, y, kinds=kinds), model, seed)
    held = subject.rows if rows else subject.rows.summarized()
    return Subject(
        subject.fitted,
        held,
        subject.observed,
        subject.table if rows else None,
        origin or subject.origin,
        names or {},
        page_settings(decision or {}, subject.fitted.classes_),
    )


def _cross_validated(table: LabelledTable, model: Any, seed: int) -> Subject:
    fitted = train(table, None, model, seed=seed)
    if not isinstance(fitted, DecisionClassifier):
        raise ValueError(
            f"{type(fitted).__name__} gives no probabilities, and a studio page moves what is done with "
            "them; choose a model that does, such as naive-bayes or logistic"
        )
    held = fitted._learnt.rows_held_out("a studio page")
    return Subject(fitted, held, np.asarray(fitted._learnt.observed), table, HELD_OUT)


def _judged(model: Any, table: LabelledTable) -> Subject:
    """Rows as a fitted classifier sees them, before anything is decided."""
    fitted = _as_decision(model)
    table = table.among(fitted.classes_)
    logs = np.asarray(fitted.predict_log_proba(table.native))
    count = np.bincount(table.codes, table.weight, len(fitted.classes_)).astype(np.float64)
    return Subject(fitted, HeldOutRows(logs, table.codes, table.weight), count / count.sum(), table, GIVEN)


def _kept(model: Any) -> Subject:
    fitted = _as_decision(model)
    learnt = fitted._learnt
    if learnt.held_out is None or learnt.observed is None:
        raise ValueError(
            "this model keeps no rows that were held out; pass rows with their classes beside it"
        )
    logs = learnt.adjustment(fitted.calibration).apply(learnt.held_out.log_posterior)
    held = HeldOutRows(logs, learnt.held_out.y, learnt.held_out.weight, learnt.held_out.averaged)
    return Subject(fitted, held.summarized(), np.asarray(learnt.observed), None, KEPT)


def _as_decision(model: Any) -> DecisionClassifier:
    """A fitted classifier with nothing decided, so that a page may."""
    if isinstance(model, DecisionClassifier):
        return model.set_decision(costs=None, reject=None, priors=None, outliers=None)
    if not hasattr(model, "predict_log_proba"):
        raise ValueError(f"{type(model).__name__} gives no probabilities; pass a classifier that does")
    return DecisionClassifier(model)


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
