"""scikit-learn's callbacks: what a fit does is told to the callbacks that were set on an estimator."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import sklearn

from posterior import _tasks as tasks
from posterior.estimators.state import RefusedError
from posterior.schema import LabelledTable

try:  # since scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as torn_down_after
except ImportError:
    CallbackSupportMixin, torn_down_after = object, None

F = TypeVar("F", bound=Callable[..., Any])


class CallbackSupport(CallbackSupportMixin):
    """An estimator whose fit can be watched by scikit-learn's callbacks, where scikit-learn has them."""

    if torn_down_after is None:

        @property
        def set_callbacks(self) -> Any:
            """There are none, and why."""
            raise RefusedError(
                f"callbacks came with scikit-learn 1.9, and {sklearn.__version__} is installed; install a "
                "newer one"
            )


class FitTask:
    """A task in scikit-learn's tree of them: a part of a fit."""

    def __init__(self, fit: "WatchedFit", context: Any) -> None:
        self.fit = fit
        self.context = context
        self.asked = False

    def takes(self, most: int | None) -> bool:
        """Whether parts are told: the first ones of a task that is no leaf."""
        first, self.asked = not self.asked, True
        return first and self.context.max_subtasks != 0

    def begin(self, name: str, state: tasks.State | None, *, leaf: bool) -> "FitTask":
        """A part begins."""
        context = self.context.subcontext(task_name=name, max_subtasks=0 if leaf else None)
        context.call_on_fit_task_begin(**self.fit.told(state))
        return FitTask(self.fit, context)

    def end(self, state: tasks.State | None) -> bool:
        """It ends; whether a callback says stop."""
        stop = bool(self.context.call_on_fit_task_end(**self.fit.told(state)))
        self.fit.stopped |= stop
        return stop


class WatchedFit:
    """The fit of an estimator; `attributes` makes fitted attributes of a state on the way.

    How many parts it has is known once they come, so that its task begins only then.
    """

    task: FitTask

    def __init__(self, estimator: Any, X: Any, y: Any, metadata: Mapping[str, Any]) -> None:
        self.estimator = estimator
        self.rows = {"X": X, "y": y, "metadata": metadata}
        self.attributes: Callable[[Any], dict[str, Any]] | None = None
        self.stopped = False

    def told(self, state: tasks.State | None) -> dict[str, Any]:
        """What callbacks may ask for."""
        attributes, found = self.attributes, None
        if state is not None and attributes is not None:
            found = lambda: attributes(state())  # noqa: E731  # worked out if it is asked for
        return {"estimator": self.estimator, **self.rows, "reconstruction_attributes": found}

    def takes(self, most: int | None) -> bool:
        """Whether parts are told: the first ones, with which the fit begins."""
        if hasattr(self, "task"):
            return False
        context = self.estimator._init_callback_context(max_subtasks=most)
        self.task = FitTask(self, context)
        context.call_on_fit_task_begin(**self.told(None))
        return True

    def begin(self, name: str, state: tasks.State | None, *, leaf: bool) -> FitTask:
        """A part begins."""
        return self.task.begin(name, state, leaf=leaf)

    def end(self, state: tasks.State | None) -> bool:
        """It ends; whether a callback says stop."""
        return self.task.end(state)

    def finish(self) -> None:
        """The estimator is fitted."""
        self.takes(0)
        self.task.context.call_on_fit_task_end(**self.told(None) | {"reconstruction_attributes": {}})


def with_callbacks(fit: F) -> F:
    """Let the callbacks of an estimator watch this `fit`."""
    if torn_down_after is None:
        return fit
    arguments = signature(fit)

    @torn_down_after  # type: ignore[untyped-decorator]
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = arguments.bind(self, *args, **kwargs).arguments
        X, y, weight = given["X"], given.get("y"), given.get("sample_weight")
        if isinstance(X, LabelledTable):
            X, y, weight = X.native, X.labels, X.weight
        watched = WatchedFit(self, X, y, {} if weight is None else {"sample_weight": weight})
        with tasks.inside(watched):
            found = fit(self, *args, **kwargs)
            watched.finish()
        return found

    @wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = tasks.current()
        if isinstance(now, WatchedFit) and now.estimator is self:  # a class derived from this one began it
            return fit(self, *args, **kwargs)
        if hasattr(self, "_skl_callbacks") or hasattr(self, "_parent_callback_ctx"):
            return told(self, *args, **kwargs)
        with tasks.inside(None):
            return fit(self, *args, **kwargs)

    return cast("F", wrapped)


def shown_on_the_way(attributes: Callable[[Any], dict[str, Any]]) -> None:
    """Say what the fitted attributes are that a state of the model stands for, if this fit is watched."""
    now = tasks.current()
    if isinstance(now, WatchedFit):
        now.attributes = attributes


def was_stopped() -> bool:
    """Whether a callback has ended the iterations of this fit."""
    now = tasks.current()
    return isinstance(now, WatchedFit) and now.stopped


def fit_inside(estimator: Any, *rows: Any, **params: Any) -> Any:
    """Fit an estimator inside the one that is being fitted, whose callbacks go along (`ProgressBar`)."""
    now = tasks.current()
    if not isinstance(now, WatchedFit):
        return estimator.fit(*rows, **params)
    now.takes(None)
    context = now.task.context.subcontext(task_name=f"fit of {type(estimator).__name__}")
    with context.propagate_callback_context(estimator):
        context.call_on_fit_task_begin(**now.told(None))
        found = estimator.fit(*rows, **params)
        context.call_on_fit_task_end(**now.told(None))
    return found
