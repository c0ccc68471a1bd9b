"""scikit-learn's callbacks see what a fit does, change nothing, and may end it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import posterior
from posterior.families import MixtureOfNormals, MultivariateNormal

X, Y = load_iris(return_X_y=True)
GAPS = X.copy()
GAPS[::3, 1] = np.nan
GAPS[::4, 2] = np.nan

HAS_CALLBACKS = hasattr(posterior.LDA(), "set_callbacks")
needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")


class Recorder:
    """What was told, in order."""

    def __init__(self, stop_after=None, fail_after=None):
        self.begun, self.ended, self.stop_after, self.fail_after = [], [], stop_after, fail_after

    def setup(self, estimator, context):
        self.begun, self.ended = [], []

    def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None):
        self.begun.append((path(context), fitted_estimator))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.ended.append((path(context), fitted_estimator))
        if self.fail_after == len(self.ended):
            raise RuntimeError("enough")
        return self.stop_after is not None and len(self.ended) >= self.stop_after

    def teardown(self, estimator, context):
        pass

    @property
    def steps(self):
        return [model for names, model in self.ended if names[-1].startswith("iteration")]


def path(context):
    return (() if context.parent is None else path(context.parent)) + (context.task_name,)


def generative(**settings):
    return posterior.GenerativeClassifier([(slice(None), MultivariateNormal(**settings))])


def logistic(solver, **settings):
    return posterior.LogisticRegression(solver=solver, **settings)


def answers(model):
    if isinstance(model, posterior.LinearRegression):
        return model.predict(X[:, :3])
    return model.predict_proba(X)


# The makers of estimators with so many iterations, and the rows they learn from.
ITERATIVE = {
    "newton": (lambda n: logistic("newton", max_iter=n), X, Y),
    "lbfgs": (lambda n: logistic("lbfgs", max_iter=n), X, Y),
    "gradient descent": (lambda n: logistic("gd", max_iter=n), X, Y),
    "sgd": (lambda n: logistic("sgd", max_iter=n), X, Y),
    "lasso": (lambda n: logistic("auto", penalty="l1", max_iter=n), X, Y),
    "firth": (lambda n: logistic("auto", penalty="firth", max_iter=n), X, Y),
    "standardized": (lambda n: logistic("auto", standardize=True, max_iter=n), X, Y),
    "linear sgd": (lambda n: posterior.LinearRegression(solver="sgd", max_iter=n), X[:, :3], X[:, 3]),
    "linear gradient descent": (
        lambda n: posterior.LinearRegression(penalty="l2", solver="gd", max_iter=n),
        X[:, :3],
        X[:, 3],
    ),
    "gaps": (lambda n: generative(max_iter=n), GAPS, Y),
    "gaps, shrunk": (lambda n: generative(max_iter=n, shrinkage=0.2), GAPS, Y),
}
ignore_short = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@needs_callbacks
@ignore_short
@pytest.mark.parametrize("case", ITERATIVE)
def test_the_model_after_an_iteration_is_that_of_a_fit_with_so_many_of_them(case):
    make, rows, target = ITERATIVE[case]
    seen = Recorder()
    model = make(3).set_callbacks(seen).fit(rows, target)
    assert len(seen.steps) == 3 == np.max(model.n_iter_)
    for i, halfway in enumerate(seen.steps):
        np.testing.assert_allclose(answers(halfway), answers(make(i + 1).fit(rows, target)), rtol=1e-12)


@needs_callbacks
@ignore_short
@pytest.mark.parametrize("case", ITERATIVE)
def test_an_iteration_begins_where_the_last_one_ended(case):
    make, rows, target = ITERATIVE[case]
    seen = Recorder()
    make(3).set_callbacks(seen).fit(rows, target)
    begun = [model for names, model in seen.begun if names[-1].startswith("iteration")]
    for before, after in zip(seen.steps[:-1], begun[1:], strict=True):
        np.testing.assert_array_equal(answers(before), answers(after))


@needs_callbacks
@ignore_short
@pytest.mark.parametrize("case", ITERATIVE)
def test_a_fit_that_is_watched_is_the_same_to_the_bit(case):
    make, rows, target = ITERATIVE[case]
    watched = make(200).set_callbacks(Recorder()).fit(rows, target)
    np.testing.assert_array_equal(answers(watched), answers(make(200).fit(rows, target)))


@needs_callbacks
@pytest.mark.parametrize("case", ITERATIVE)
def test_a_callback_may_end_the_iterations_and_nobody_complains(case):
    make, rows, target = ITERATIVE[case]
    model = make(2000).set_callbacks(Recorder(stop_after=2)).fit(rows, target)  # warnings are errors
    assert np.max(model.n_iter_) == 2
    with_two = make(2).set_callbacks(Recorder(stop_after=2)).fit(rows, target)
    np.testing.assert_allclose(answers(model), answers(with_two), rtol=1e-12)


@needs_callbacks
def test_a_fit_that_was_ended_has_not_converged():
    model = logistic("newton").set_callbacks(Recorder(stop_after=2)).fit(X, Y)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning):
        assert not logistic("newton", max_iter=2).fit(X, Y).converged_


@needs_callbacks
def test_a_callback_that_fails_leaves_the_earlier_fit():
    model = logistic("newton", C=1.0).fit(X, Y)
    before = model.predict_proba(X)
    model.set_params(C=100.0).set_callbacks(Recorder(fail_after=3))
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@needs_callbacks
def test_halfway_models_know_likelihood_and_parameters():
    seen = Recorder()
    model = logistic("newton", C=np.inf).set_callbacks(seen).fit(X[Y > 0][:, :2], Y[Y > 0])
    heights = [halfway.log_likelihood_ for halfway in seen.steps]
    assert (np.diff(heights) > -1e-10).all()
    assert heights[-1] == pytest.approx(model.log_likelihood_)
    assert [h.n_parameters_ for h in seen.steps] == pytest.approx([3.0] * len(heights))


@needs_callbacks
def test_least_absolute_deviations_tell_their_steps():
    seen = Recorder()
    model = posterior.LinearRegression(noise="laplace").set_callbacks(seen).fit(X[:, :3], X[:, 3])
    off = [np.abs(halfway.predict(X[:, :3]) - X[:, 3]).mean() for halfway in seen.steps]
    assert len(off) == model.n_iter_
    assert off[-1] == pytest.approx(np.abs(model.predict(X[:, :3]) - X[:, 3]).mean(), rel=1e-3)


# -- what there is to tell ------------------------------------------------------------------------


def told(model, rows=X, target=Y):
    seen = Recorder()
    model.set_callbacks(seen).fit(rows, target)
    assert {names for names, _ in seen.begun} == {names for names, _ in seen.ended}
    return [names for names, _ in seen.ended]


@needs_callbacks
def test_a_fit_without_iterations_is_one_task():
    assert told(posterior.GaussianNB()) == [("fit",)]


@needs_callbacks
def test_tuning_tells_its_folds_and_then_the_fit():
    names = told(posterior.GaussianDiscriminantAnalysis(shrinkage="auto", cv=3))
    folds = [("fit", "part 0", f"fold {i}") for i in range(3)]
    assert names == [*folds, ("fit", "part 0"), ("fit", "part 1"), ("fit",)]


@needs_callbacks
def test_tuning_by_leaving_out_rows_tells_its_candidates():
    names = told(posterior.NaiveBayes(alpha="auto", cv="loo"), [["a"], ["b"]] * 10, [0, 1, 1, 0, 1] * 4)
    assert ("fit", "part 0", "candidate 0") in names
    assert names[-2:] == [("fit", "part 1"), ("fit",)]


@needs_callbacks
def test_folds_with_gaps_tell_their_iterations():
    names = told(posterior.GaussianDiscriminantAnalysis(shrinkage="auto", cv=3), GAPS)
    assert ("fit", "part 0", "fold 2", "iteration 1") in names
    assert ("fit", "part 1", "iteration 1") in names


@needs_callbacks
def test_a_chosen_strength_tells_those_it_tried():
    model = logistic("newton", C="auto")
    names = told(model)
    assert sum(len(n) == 2 for n in names) == len(model.choice_.strengths)
    assert ("fit", "strength 0", "iteration 0") in names


@needs_callbacks
def test_a_mixture_tells_its_classes_and_their_iterations():
    names = told(posterior.GenerativeClassifier([(slice(None), MixtureOfNormals(2))]))
    assert [n for n in names if len(n) == 2] == [("fit", f"class {k}") for k in range(3)]
    assert ("fit", "class 2", "iteration 0") in names


@needs_callbacks
def test_a_mixture_that_is_ended_is_a_mixture():
    model = posterior.GenerativeClassifier([(slice(None), MixtureOfNormals(2))])
    model.set_callbacks(Recorder(stop_after=1)).fit(X, Y)
    assert model.score(X, Y) > 0.9


@needs_callbacks
def test_large_tables_tell_of_the_sample_and_of_all_rows():
    rng = np.random.default_rng(0)
    rows, target = rng.normal(size=(41_000, 2)), rng.integers(2, size=41_000)
    for solver in ("newton", "lbfgs"):
        parts = [n for n in told(logistic(solver), rows, target) if len(n) == 2]
        assert parts == [("fit", "part 0"), ("fit", "part 1")]


@needs_callbacks
@ignore_short
def test_gross_cells_tell_of_the_other_rows_and_of_all():
    rng = np.random.default_rng(0)
    rows, target = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    rows[:2, 0] = [1e10, -1e10]
    names = told(logistic("newton"), rows, target)
    assert names.count(("fit", "part 0")) == 1
    assert ("fit", "part 0", "iteration 0") in names


# -- in company -----------------------------------------------------------------------------------


@needs_callbacks
def test_callbacks_that_go_along_see_the_estimators_inside():
    class Propagated(Recorder):
        max_propagation_depth = None

    for model in (
        posterior.DecisionClassifier(logistic("newton"), cv=3),
        posterior.CalibratedClassifier(logistic("newton"), cv=3),
        posterior.FusionClassifier([("a", logistic("newton"), [0, 1]), ("b", logistic("newton"), [2, 3])]),
    ):
        seen = Propagated()
        model.set_callbacks(seen).fit(X, Y)
        inner = [names for names, _ in seen.ended if len(names) == 2]
        assert len(inner) == (2 if isinstance(model, posterior.FusionClassifier) else 4)
        assert any(len(names) == 3 for names, _ in seen.ended)
        assert seen.ended[-1][0] == ("fit",)


@needs_callbacks
def test_callbacks_of_an_estimator_inside_are_not_those_of_the_one_around_it():
    seen, around = Recorder(), Recorder()
    inner = logistic("newton").set_callbacks(seen)
    posterior.DecisionClassifier(inner).set_callbacks(around).fit(X, Y)
    assert [names for names, _ in around.ended] == [("fit", "fit of LogisticRegression"), ("fit",)]
    assert len(seen.steps) > 3


@needs_callbacks
def test_a_pipeline_hands_its_callbacks_on():
    class Propagated(Recorder):
        max_propagation_depth = None

    seen = Propagated()
    make_pipeline(StandardScaler(), logistic("newton")).set_callbacks(seen).fit(X, Y)
    assert len(seen.steps) > 3


@needs_callbacks
def test_scoring_monitor_logs_the_score_of_every_iteration_with_the_weights():
    from sklearn.callback import ScoringMonitor
    from sklearn.metrics import log_loss

    weight = np.linspace(0.5, 2.0, len(Y))
    monitor = ScoringMonitor(scoring="neg_log_loss")
    model = logistic("lbfgs").set_callbacks(monitor).fit(X, Y, sample_weight=weight)
    last = monitor.get_logs().data[-1]["neg_log_loss"]
    assert last == pytest.approx(-log_loss(Y, model.predict_proba(X), sample_weight=weight), rel=1e-6)
    assert len(monitor.get_logs().data) == 1 + model.n_iter_[0]


@needs_callbacks
def test_a_model_file_leaves_callbacks_out(tmp_path):
    model = logistic("newton").set_callbacks(Recorder()).fit(X, Y)
    posterior.save(model, tmp_path / "model")
    loaded = posterior.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert not hasattr(loaded, "_skl_callbacks")


@pytest.mark.skipif(HAS_CALLBACKS, reason="this scikit-learn has callbacks")
def test_an_older_scikit_learn_is_named_where_callbacks_are_asked_for():
    model = posterior.LDA()
    assert not hasattr(model, "set_callbacks")
    with pytest.raises(AttributeError, match="callbacks came with scikit-learn"):
        model.set_callbacks(Recorder())
