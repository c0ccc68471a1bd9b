"""Standard errors, tests and figures of linear models: statsmodels, dense formulas, and laws."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import sparse, stats

from posterior.engines import LocalDataset
from posterior.linear.basis import Basis, column_moments, moments
from posterior.linear.design import Design
from posterior.linear.inference import estimates
from posterior.linear.jeffreys import JeffreysObjective
from posterior.linear.losses import GaussianLoss, LaplaceLoss, SoftmaxLoss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Scan
from posterior.linear.separation import find_separation
from posterior.linear.solvers.newton import Newton
from posterior.linear.summary import INTERCEPT, Summary, summarize
from posterior.schema import Schema, read_table

TIGHT = Newton(tol=1e-13)
FIGURES = ["coef", "std err", "z", "p", "ci low", "ci high", "odds ratio", "standardised"]


def scan_of(X, y, weight=None):
    source = read_table(X)
    schema = Schema.infer(source)
    return Scan.of(LocalDataset(schema, schema.encode(source), y, weight), Design.of(schema))


def objective_of(X, y, n_classes=0, weight=None, intercept=True):
    """The unpenalised objective of a classification, or of a regression where there are no classes."""
    scan = scan_of(X, y, weight)
    axes = Basis.whitened(moments(scan), scan.n_rows, intercept)
    return Objective(scan, SoftmaxLoss(n_classes) if n_classes else GaussianLoss(), ElasticNet(), axes)


def optimum(objective):
    """Two Newton steps past the place where the solver is content."""
    theta = TIGHT.minimize(objective).theta
    for _ in range(2):
        theta = theta - np.linalg.solve(objective.curvature(theta), objective.slope(theta).gradient)
    return theta


def summary_of(X, y, n_classes=0, *, weight=None, intercept=True, **options) -> Summary:
    objective = objective_of(X, y, n_classes, weight, intercept)
    return summarize(objective, optimum(objective), labels=tuple(range(n_classes)), **options)


def table(n=300, d=4, n_classes=2, seed=0):
    """Correlated columns of different scales and offsets, and classes that follow a softmax."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * 10.0 ** np.arange(-1, d - 1) + np.arange(d)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = 0.5 * z @ rng.normal(size=(d, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def regression(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X, _ = table(n, d, seed=seed)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, 3.0 + z @ rng.normal(size=d) + (1.0 + 0.5 * np.abs(z[:, 0])) * rng.normal(size=n)


def close(found, expected, rtol=1e-8):
    assert_allclose(found, expected, rtol=rtol, atol=1e-300)


def same_as_statsmodels(frame, result, ratio="z"):
    """Whether a block of the table is that of a fitted statsmodels model."""
    close(frame["coef"], result.params)
    close(frame["std err"], result.bse)
    close(frame[ratio], result.tvalues)
    close(frame["p"], result.pvalues)
    close(frame[["ci low", "ci high"]], result.conf_int())


# -- statsmodels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["model", "sandwich"])
def test_two_classes_are_those_of_statsmodels_logit(kind, intercept):
    X, y = table()
    made = summary_of(X, y, 2, intercept=intercept, covariance=kind)
    exog = sm.add_constant(X) if intercept else X
    cov_type = "nonrobust" if kind == "model" else "HC0"
    theirs = sm.Logit(y, exog).fit(disp=0, tol=1e-14, method="newton", maxiter=50, cov_type=cov_type)
    assert list(made.frame.columns) == FIGURES
    assert list(made.frame.index) == [INTERCEPT] * intercept + ["x0", "x1", "x2", "x3"]
    same_as_statsmodels(made.frame, theirs)
    close(made.covariance, theirs.cov_params(), rtol=1e-7)
    close(made.frame["odds ratio"], np.exp(theirs.params))
    assert made.kind == kind


@pytest.mark.parametrize("intercept", [True, False])
def test_hc1_of_two_classes_is_hc0_enlarged(intercept):
    # statsmodels (0.15) takes HC1 for HC0 in its discrete models and in GLM; the factor is n/(n − p).
    X, y = table()
    made = summary_of(X, y, 2, intercept=intercept, covariance="HC1")
    exog = sm.add_constant(X) if intercept else X
    theirs = sm.Logit(y, exog).fit(disp=0, tol=1e-14, method="newton", maxiter=50, cov_type="HC0")
    expected = theirs.cov_params() * len(y) / (len(y) - exog.shape[1])
    close(made.covariance, expected, rtol=1e-7)
    close(made.frame["z"], theirs.params / np.sqrt(np.diagonal(expected)))


def test_figures_of_two_classes_are_those_of_statsmodels():
    X, y = table()
    figures = summary_of(X, y, 2).figures
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14)
    close(figures["log-likelihood"], theirs.llf)
    close(figures["null log-likelihood"], theirs.llnull)
    close(figures["residual deviance"], -2 * theirs.llf)
    close(figures["null deviance"], -2 * theirs.llnull)
    close([figures["AIC"], figures["BIC"]], [theirs.aic, theirs.bic])
    close(figures["McFadden R2"], theirs.prsquared)
    assert (figures["n"], figures["df"], figures["coefficients"]) == (len(y), theirs.df_resid, 5)


def test_without_an_intercept_the_null_model_knows_nothing():
    X, y = table(n_classes=3)
    figures = summary_of(X, y, 3, intercept=False).figures
    close(figures["null log-likelihood"], -len(y) * np.log(3))


def test_several_classes_are_those_of_statsmodels_mnlogit():
    X, y = table(n=400, n_classes=4)
    made = summary_of(X, y, 4)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, method="newton", maxiter=50)
    frame = made.frame
    assert frame.index.names == ["class", "term"]
    interval = np.asarray(theirs.conf_int()).reshape(3, 5, 2)
    for k in range(1, 4):
        block = frame.loc[k]
        assert list(block.index) == [INTERCEPT, "x0", "x1", "x2", "x3"]
        close(block["coef"], theirs.params[:, k - 1])
        close(block["std err"], theirs.bse[:, k - 1])
        close(block["z"], theirs.tvalues[:, k - 1])
        close(block["p"], theirs.pvalues[:, k - 1])
        close(block[["ci low", "ci high"]], interval[k - 1])
    figures = made.figures
    close([figures["log-likelihood"], figures["null log-likelihood"]], [theirs.llf, theirs.llnull])
    close([figures["AIC"], figures["BIC"]], [theirs.aic, theirs.bic])
    assert figures["df"] == theirs.df_resid


@pytest.mark.parametrize("kind", ["sandwich", "HC1"])
def test_the_sandwich_of_several_classes_is_the_dense_formula(kind):
    X, y = table(n=400, n_classes=3)
    made = summary_of(X, y, 3, covariance=kind)
    coef = made.columns["coef"].reshape(2, 5)
    Z = np.column_stack([np.ones(len(y)), X])
    share = np.exp(np.column_stack([np.zeros(len(y)), Z @ coef.T]))
    share /= share.sum(axis=1, keepdims=True)
    slope = (share - np.eye(3)[y])[:, 1:]
    bend = np.einsum("na,ab->nab", share[:, 1:], np.eye(2)) - share[:, 1:, None] * share[:, None, 1:]
    bread = np.linalg.inv(np.einsum("nab,ni,nj->aibj", bend, Z, Z).reshape(10, 10))
    rows = np.einsum("na,ni->nai", slope, Z).reshape(-1, 10)
    expected = bread @ rows.T @ rows @ bread * (len(y) / (len(y) - 10) if kind == "HC1" else 1.0)
    scale = np.sqrt(np.outer(np.diagonal(expected), np.diagonal(expected)))
    assert_allclose(made.covariance / scale, expected / scale, atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["model", "sandwich", "HC1"])
def test_a_regression_is_that_of_statsmodels_ols(kind, intercept):
    X, y = regression()
    made = summary_of(X, y, covariance=kind, intercept=intercept, level=0.95)
    cov_type = {"model": "nonrobust", "sandwich": "HC0", "HC1": "HC1"}[kind]
    exog = sm.add_constant(X) if intercept else X
    theirs = sm.OLS(y, exog, hasconst=intercept).fit(cov_type=cov_type, use_t=True)
    names = ["coef", "std err", "t", "p", "ci low", "ci high", "standardised"]
    assert list(made.frame.columns) == names
    same_as_statsmodels(made.frame, theirs, "t")
    figures = made.figures
    close(figures["log-likelihood"], theirs.llf)
    close([figures["AIC"], figures["BIC"]], [theirs.aic, theirs.bic])
    close([figures["R2"], figures["adjusted R2"]], [theirs.rsquared, theirs.rsquared_adj])
    close(figures["sigma"], np.sqrt(theirs.scale))
    close(figures["residual deviance"], theirs.ssr)
    close(figures["null deviance"], theirs.centered_tss if intercept else theirs.uncentered_tss)
    assert figures["df"] == theirs.df_resid
    if intercept:
        close(figures["null log-likelihood"], sm.OLS(y, np.ones(len(y))).fit().llf)


def test_the_level_of_the_intervals_is_the_one_asked_for():
    X, y = table()
    made = summary_of(X, y, 2, level=0.8)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14)
    close(made.frame[["ci low", "ci high"]], theirs.conf_int(alpha=0.2))
    assert "80 % confidence" in str(made)


# -- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["model", "sandwich", "HC1"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_row_of_weight_two_is_two_rows(n_classes, kind):
    X, y = table(150, 3, n_classes) if n_classes else regression(150, 3)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    often = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted = summary_of(X, y, n_classes, weight=weight, covariance=kind)
    repeated = summary_of(X[often], y[often], n_classes, covariance=kind)
    close(weighted.frame.to_numpy(), repeated.frame.to_numpy(), rtol=1e-7)
    for name, value in repeated.figures.items():
        close(weighted.figures[name], value)


@pytest.mark.parametrize("kind", ["model", "sandwich"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_sparse_table_says_what_the_dense_one_says(n_classes, kind):
    X, y = table(300, 5, n_classes)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.6, 0.0, X)
    weight = 1.0 + np.arange(len(y)) % 3
    dense = summary_of(X, y, n_classes, weight=weight, covariance=kind)
    rare = summary_of(sparse.csr_array(X), y, n_classes, weight=weight, covariance=kind)
    close(rare.frame.to_numpy(), dense.frame.to_numpy(), rtol=1e-7)


@pytest.mark.parametrize("kind", ["model", "sandwich"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_scale_and_offset_of_a_column_change_no_test_and_no_standardised_coefficient(n_classes, kind):
    X, y = table(300, 3, n_classes) if n_classes else regression(300, 3)
    X = np.round(X * 2**10) / 2**10  # so that the offset below costs no digit
    before = summary_of(X, y, n_classes, covariance=kind).frame
    after = summary_of(X * 2.0**20 + 2.0**36, y, n_classes, covariance=kind).frame
    slopes = before.index.get_level_values("term") != INTERCEPT
    for name in ["t" if not n_classes else "z", "p", "standardised"]:
        close(after[name][slopes], before[name][slopes], rtol=1e-6)
    close(after["std err"][slopes], before["std err"][slopes] * 2.0**-20, rtol=1e-6)


@pytest.mark.parametrize("coordinates", ["plain", "scaled"])
def test_the_coordinates_of_the_solver_are_irrelevant(coordinates):
    X, y = table(300, 3, 3)
    X = X / X.std(axis=0)
    X = np.column_stack([X, X[:, 0] + 2 * X[:, 1]])
    whitened = objective_of(X, y, 3)
    seen = column_moments(whitened.scan)
    variance = seen.scatter[0] / seen.weight[0]
    axes = Basis.plain(4) if coordinates == "plain" else Basis.scaled(seen.location.value[0], variance)
    other = Objective(whitened.scan, whitened.loss, whitened.penalty, axes)
    theta = optimum(whitened)
    coef, level = whitened.shown(theta)
    moved = other.theta(coef, level + coef @ (axes.centre - whitened.basis.centre))
    a = summarize(whitened, theta, labels="abc")
    b = summarize(other, moved, labels="abc")
    close(b.frame.to_numpy(), a.frame.to_numpy(), rtol=1e-7)
    assert a.aliased == b.aliased == {"x3": ("x0", "x1")}


def test_a_score_for_every_class_says_the_same():
    X, y = table(300, 3, 3)
    held = objective_of(X, y, 3)
    theta = optimum(held)
    every = Objective(held.scan, SoftmaxLoss(3, symmetric=True), held.penalty, held.basis)
    a, b = estimates(held, theta), estimates(every, every.theta(*held.shown(theta)))
    close(b.coef, a.coef)
    close(b.error, a.error)


def test_standardised_coefficients_are_those_of_standardised_columns():
    X, y = table()
    made = summary_of(X, y, 2).frame["standardised"]
    unit = summary_of((X - X.mean(axis=0)) / X.std(axis=0), y, 2).frame["coef"]
    close(made[1:], unit[1:])
    assert np.isnan(made[INTERCEPT])


def test_p_values_far_out_are_not_lost():
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    y = (x + 0.8 * rng.logistic(size=4000) > 0).astype(int)
    row = summary_of(x[:, None], y, 2).frame.loc["x0"]
    assert row["z"] > 20
    close(row["p"], 2 * stats.norm.sf(row["z"]), rtol=1e-10)
    assert 0 < row["p"] < 1e-80


# -- aliased columns ------------------------------------------------------------------------------


def with_aliases(X):
    """A sum in the middle, a constant, and a copy at the end; the columns that are kept."""
    total = X[:, 0] - 2.0 * X[:, 1] + 3.0
    wide = np.column_stack([X[:, :2], total, np.full(len(X), 7.0), X[:, 2:], X[:, 0]])
    return wide, [j for j in range(wide.shape[1]) if j not in {2, 3, wide.shape[1] - 1}]


@pytest.mark.parametrize("kind", ["model", "sandwich", "HC1"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_aliased_columns_leave_what_the_table_without_them_says(n_classes, kind):
    X, y = table(300, 4, n_classes) if n_classes else regression(300, 4)
    X = X / X.std(axis=0)
    wide, kept = with_aliases(X)
    made = summary_of(wide, y, n_classes, covariance=kind)
    alone = summary_of(X, y, n_classes, covariance=kind)
    n_blocks = max(n_classes - 1, 1)
    whole = made.frame.to_numpy().reshape(n_blocks, wide.shape[1] + 1, -1)
    rows = [0, *(1 + j for j in kept)]
    close(whole[:, rows], alone.frame.to_numpy().reshape(n_blocks, 5, -1), rtol=1e-6)
    assert np.isnan(np.delete(whole, rows, axis=1)).all()
    for name, value in alone.figures.items():
        close(made.figures[name], value)
    assert made.aliased == {"x3": (), "x2": ("x0", "x1"), "x6": ("x0",)}
    assert np.isnan(made.covariance).any(axis=1).all()  # a row of the covariance meets an aliased column
    places = np.concatenate([k * (wide.shape[1] + 1) + np.array(rows) for k in range(n_blocks)])
    close(made.covariance[np.ix_(places, places)], alone.covariance, rtol=1e-5)


def test_aliased_columns_agree_with_statsmodels_on_the_reduced_table():
    X, y = table(300, 3)
    wide, kept = with_aliases(X)
    made = summary_of(wide, y, 2).frame
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14)
    same_as_statsmodels(made.iloc[[0, *(1 + j for j in kept)]], theirs)


def test_without_an_intercept_a_constant_column_takes_its_place():
    X, y = table(300, 3)
    ones = np.column_stack([np.ones(len(y)), X, 1.0 + X[:, 0]])
    made = summary_of(ones, y, 2, intercept=False)
    close(made.frame.iloc[:4].to_numpy()[:, :7], summary_of(X, y, 2).frame.to_numpy()[:, :7])
    assert made.aliased == {"x4": ("x0", "x1")}


def test_aliased_columns_are_marked_in_print():
    X, y = table(300, 3)
    made = summary_of(with_aliases(X)[0], y, 2)
    lines = str(made).splitlines()
    assert [line.split() for line in lines if line.startswith("x2 ")] == [["x2", "aliased"]]
    assert lines[-1] == "aliased: x2 (depends on x0, x1), x3 (constant), x5 (depends on x0)"
    assert "nan" not in str(made).lower()
    assert made._repr_html_().count(">aliased</td>") == 3


# -- print ----------------------------------------------------------------------------------------


def test_the_printed_table_is_aligned_and_names_its_classes():
    X, y = table(400, 2, 3)
    objective = objective_of(pd.DataFrame(X, columns=["age", "income"]), y, 3)
    made = summarize(objective, optimum(objective), labels=["red", "green", "blue"], target_name="colour")
    title, _, *lines = str(made).splitlines()
    assert title == "colour: log odds of each class against red"
    body = lines[: lines.index("")]
    assert len({len(line) for line in body if INTERCEPT not in line}) == 1
    assert [line.split()[0] for line in body[1:]] == ["green", "age", "income", "blue", "age", "income"]
    assert body[0].split() == " ".join(FIGURES).split()
    assert all(line == line.rstrip() for line in lines)
    assert list(made.frame.index) == [(c, t) for c in ["green", "blue"] for t in [INTERCEPT, "age", "income"]]


def test_small_p_values_are_printed_as_small():
    X = table(400, 1)[0]
    made = summary_of(X, (X[:, 0] + np.random.default_rng(0).logistic(size=400) * X.std() > 0).astype(int), 2)
    assert made.frame.loc["x0", "p"] < 0.001
    assert "<0.001" in str(made)
    assert "&lt;0.001" in made._repr_html_()


def test_names_from_data_are_escaped_in_html():
    X, y = table(300, 2, 3)
    frame = pd.DataFrame(X, columns=["<script>alert(1)</script>", "a & b"])
    frame["copy<b>"] = X[:, 0]
    objective = objective_of(frame, y, 3)
    made = summarize(objective, optimum(objective), labels=["<i>", "<u>", "c"], target_name="<h1>")
    text = made._repr_html_()
    for name in ["<script>", "a & b", "copy<b>", "<i>", "<u>", "<h1>"]:
        assert name not in text
    assert "a &amp; b" in text
    assert "&lt;script&gt;" in text


def test_a_name_with_a_line_break_takes_one_line():
    X, y = table(300, 1)
    objective = objective_of(pd.DataFrame(X, columns=["a\nb"]), y, 2)
    made = summarize(objective, optimum(objective), labels=["no", "yes"])
    assert any(line.startswith(r"'a\nb'") for line in str(made).splitlines())


def test_columns_do_without_pandas_and_the_frame_says_what_it_needs(monkeypatch):
    X, y = table()
    made = summary_of(X, y, 2)
    monkeypatch.setattr("posterior.schema.decode.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pandas"):
        made.frame  # noqa: B018  (to ask for it is the test)
    assert list(made.columns) == ["term", *FIGURES]
    assert json.dumps(dict(made.figures))


# -- what is refused, and Firth -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("penalty", "covariance"), [(ElasticNet(l2=0.1), "sandwich"), (ElasticNet(l1=0.1), "model")]
)
def test_a_penalised_fit_has_no_standard_errors(penalty, covariance):
    X, y = table()
    plain = objective_of(X, y, 2)
    penalised = Objective(plain.scan, plain.loss, penalty, plain.basis)
    with pytest.raises(ValueError, match=r"penalised \(l. = 0.1\).*C=np.inf.*firth"):
        summarize(penalised, plain.zero(), labels="ab", covariance=covariance)
    X, y = regression()
    plain = objective_of(X, y)
    penalised = Objective(plain.scan, plain.loss, penalty, plain.basis)
    with pytest.raises(ValueError, match=r"fit without a penalty"):
        summarize(penalised, plain.zero(), covariance=covariance)


def test_separated_classes_have_no_standard_errors():
    x = np.arange(20.0)
    objective = objective_of(x[:, None], (x > 9).astype(int), 2)
    point = Newton().minimize(objective).point
    separation = find_separation(objective, point)
    with pytest.raises(
        ValueError, match=r"complete separation of classes 'no' and 'yes' by column 'x0'.*firth"
    ):
        summarize(objective, point.theta, labels=["no", "yes"], separation=separation)


def test_a_singular_information_is_refused():
    X = np.arange(20.0)[:, None]
    objective = objective_of(X, (X[:, 0] > 9).astype(int), 2)
    with pytest.raises(ValueError, match="separated"):
        summarize(objective, np.array([1e5, 0.0]), labels="ab")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"covariance": "HC3"}, "model, sandwich, HC1"), ({"level": 95}, "level=95")],
)
def test_unknown_options_are_refused(options, message):
    X, y = table()
    with pytest.raises(ValueError, match=message):
        summary_of(X, y, 2, **options)


def test_too_few_rows_are_refused():
    X, y = regression(5, 4)
    objective = objective_of(X, y)
    with pytest.raises(ValueError, match="5 rows cannot tell 5 coefficients"):
        summarize(objective, objective.zero())
    X, y = regression(10, 4)
    objective = objective_of(X, y, weight=np.full(10, 0.1))
    for kind in ("model", "sandwich", "HC1"):
        with pytest.raises(ValueError, match="a weight counts how often"):
            summarize(objective, objective.zero(), covariance=kind)


def test_more_coefficients_than_can_be_inverted_are_refused_before_anything_is_computed():
    X = sparse.csr_array((np.ones(3), ([0, 1, 2], [0, 1, 10_500])), shape=(3, 10_501))
    scan = scan_of(X, np.array([0, 1, 1]))
    objective = Objective(scan, SoftmaxLoss(2), ElasticNet(), Basis.plain(10_501))
    with pytest.raises(ValueError, match="10502 coefficients"):
        summarize(objective, objective.zero())


def test_absolute_errors_have_no_standard_errors():
    X, y = regression()
    plain = objective_of(X, y)
    with pytest.raises(ValueError, match="LaplaceLoss has no curvature"):
        summarize(Objective(plain.scan, LaplaceLoss(), plain.penalty, plain.basis), plain.zero())


def test_labels_are_one_a_class_and_may_be_an_array():
    X, y = table(n_classes=3)
    objective = objective_of(X, y, 3)
    theta = optimum(objective)
    with pytest.raises(ValueError, match="found 2 labels for 3 classes"):
        summarize(objective, theta, labels="ab")
    made = summarize(objective, theta, labels=np.array([10, 20, 30]))
    assert list(made.frame.index.levels[0]) == [20, 30]
    assert list(summarize(objective, theta).frame.index.levels[0]) == [1, 2]


def test_a_table_of_constants_has_an_intercept_only():
    y = np.arange(30) % 3 % 2
    objective = objective_of(np.full((30, 1), 5.0), y, 2)
    made = summarize(objective, optimum(objective), labels="ab")
    theirs = sm.Logit(y, np.ones(30)).fit(disp=0, tol=1e-14)
    same_as_statsmodels(made.frame.iloc[:1], theirs)
    close(made.figures["log-likelihood"], made.figures["null log-likelihood"])
    assert made.aliased == {"x0": ()}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_firth_has_the_errors_of_the_information_and_the_likelihood_without_its_penalty(n_classes):
    X, y = table(60, 2, n_classes)
    plain = objective_of(X, y, n_classes)
    firth = JeffreysObjective(plain.scan, plain.loss, plain.penalty, plain.basis)
    theta = optimum(plain) * 0.9
    made = estimates(firth, theta)
    information = firth.curvature(theta) * len(y)
    turn = np.linalg.inv(information)[:2, :2]
    directions = plain.basis.directions
    close(made.covariance[1:3, 1:3], directions @ turn @ directions.T, rtol=1e-7)
    close(made.value, plain.slope(theta).loss * len(y))


def test_a_target_that_never_varies_leaves_nothing_to_explain():
    X, _ = regression(20, 2)
    made = summary_of(X, np.full(20, 4.0))
    assert np.isnan(made.figures["R2"])
    assert str(made)


def test_a_perfect_line_is_summarised_without_a_warning():
    x = np.arange(8.0)
    made = summary_of(x[:, None], 2.0 * x + 1.0)
    close(made.frame["coef"], [1.0, 2.0], rtol=1e-12)
    assert made.figures["R2"] == pytest.approx(1.0)
    assert str(made)
