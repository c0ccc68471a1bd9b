"""Gaps in Gaussian blocks: missing is marginal in prediction, maximum likelihood by EM in training."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import posterior
from posterior import (
    LDA,
    QDA,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    NaiveBayes,
)
from posterior.families import Categorical, MultivariateNormal, MultivariateNormalDistribution
from posterior.kernels import expected_mixed_moments, expected_rows, gap_groups
from posterior.notices import DataWarning

GAUSSIANS = {
    "qda": QDA(),
    "lda": LDA(),
    "lda, unbiased": LDA(bias=False),
    "between": GaussianDiscriminantAnalysis(tied=0.3),
    "diagonal": GaussianDiscriminantAnalysis(shape="diagonal"),
    "shrunk": GaussianDiscriminantAnalysis(tied=1, shrinkage=0.2),
    "oas": GaussianDiscriminantAnalysis(shrinkage="oas"),
    "ledoit-wolf": LDA(shrinkage="auto"),
}
by_name = pytest.mark.parametrize("model", GAUSSIANS.values(), ids=GAUSSIANS)


def table(n=400, d=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    mix = np.eye(d) + 0.4 * rng.normal(size=(n_classes, d, d))
    return np.einsum("ni,nij->nj", rng.normal(size=(n, d)), mix[y]) + rng.normal(size=(n_classes, d))[y], y


def with_gaps(X, share=0.25, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


# -- prediction --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LDA(), QDA(), GaussianNB(var_smoothing=0)], ids=["lda", "qda", "nb"])
@pytest.mark.parametrize("gone", [[0], [1, 3], [0, 1, 2], [0, 1, 2, 3]])
def test_missing_in_prediction_is_the_model_fitted_without_those_columns(model, gone):
    X, y = table()
    X = X * [1.0, 1e3, 1e-3, 1.0] + [0.0, 1e5, 0.0, -40.0]
    holes = X.copy()
    holes[:, gone] = np.nan
    found = model.fit(X, y).predict_log_proba(holes)
    rest = [j for j in range(4) if j not in gone]
    if rest:
        np.testing.assert_allclose(
            found, clone(model).fit(X[:, rest], y).predict_log_proba(X[:, rest]), atol=1e-8
        )
    else:
        np.testing.assert_allclose(np.exp(found), np.tile(np.bincount(y) / len(y), (len(y), 1)))


@pytest.mark.parametrize("model", [LDA(), QDA()], ids=["lda", "qda"])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_rows_with_patterns_of_their_own_are_scored_as_those_with_few(model, offset):
    X, y = table(n=200, d=8)
    X = X * np.logspace(-3, 3, 8) + offset * np.logspace(-3, 3, 8)
    holes = with_gaps(X, 0.4)
    model.fit(X, y)
    together = model.class_log_density(holes)
    one_by_one = np.concatenate([model.class_log_density(np.repeat(row[None], 64, 0))[:1] for row in holes])
    np.testing.assert_allclose(together, one_by_one, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        model.predict_log_proba(holes), model.predict_log_proba(holes[::-1])[::-1], atol=1e-9
    )


def test_nearly_collinear_columns_keep_their_digits():
    X, y = table(n=600, d=6)
    X[:, 5] = X[:, 0] + 1e-3 * X[:, 5]
    holes = with_gaps(X, 0.4)
    model = QDA().fit(X, y)
    one_by_one = np.concatenate([model.class_log_density(np.repeat(row[None], 64, 0))[:1] for row in holes])
    # A condition of 1e6 costs ten digits of sixteen, at worst; which ones depends on the release of the BLAS.
    np.testing.assert_allclose(model.class_log_density(holes), one_by_one, rtol=1e-8)


# -- what a Gaussian expects of a row -----------------------------------------------------------------


def test_expected_rows_are_the_textbook_regressions():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    cov = root @ root.T
    z = with_gaps(rng.normal(size=(300, 5)) @ root.T, 0.4)
    weight = rng.random(300) + 0.5
    rows = expected_rows(z, np.linalg.inv(cov), gap_groups(np.isnan(z)), weight)
    spread = np.zeros((5, 5))
    for i, row in enumerate(z):
        m, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
        inverse = np.linalg.inv(cov[np.ix_(o, o)])
        expected = row.copy()
        expected[m] = cov[np.ix_(m, o)] @ inverse @ row[o]
        np.testing.assert_allclose(rows.deviation[i], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(rows.quadratic[i], row[o] @ inverse @ row[o], rtol=1e-9, atol=1e-9)
        log_det = np.linalg.slogdet(cov)[1] + rows.log_det[i]
        np.testing.assert_allclose(log_det, np.linalg.slogdet(cov[np.ix_(o, o)])[1], atol=1e-9)
        spread[np.ix_(m, m)] += weight[i] * (
            cov[np.ix_(m, m)] - cov[np.ix_(m, o)] @ inverse @ cov[np.ix_(o, m)]
        )
    np.testing.assert_allclose(rows.spread, spread, rtol=1e-9)


def test_more_than_sixty_two_columns_have_patterns_too():
    rng = np.random.default_rng(3)
    z = with_gaps(rng.normal(size=(50, 70)), 0.1)
    root = np.eye(70) + 0.05 * rng.normal(size=(70, 70))
    density = MultivariateNormalDistribution(np.zeros((1, 70)), root @ root.T)
    one_by_one = [density.log_density(np.repeat(row[None], 64, 0))[0] for row in z]
    np.testing.assert_allclose(density.log_density(z), one_by_one, rtol=1e-9)


def test_expected_mixed_moments_are_those_of_quadrature():
    rng = np.random.default_rng(5)
    root = np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    cov = root @ root.T
    z = np.array([[1.0, np.nan, 0.5], [np.nan, np.nan, -1.0], [0.3, 0.2, np.nan], [1.0, -1.0, 0.5]])
    groups, weight = gap_groups(np.isnan(z)), np.array([1.0, 2.0, 0.5, 1.0])
    precision = np.linalg.inv(cov)
    filled = expected_rows(z, precision, groups).deviation
    third, fourth = expected_mixed_moments(filled, precision, groups, weight)
    nodes, share = np.polynomial.hermite_e.hermegauss(8)  # exact for the polynomials at hand
    share = share / share.sum()
    exact_third, exact_fourth = np.zeros((3, 3)), np.zeros((3, 3))
    for row, expected, w in zip(z, filled, weight, strict=True):
        m = np.flatnonzero(np.isnan(row))
        noise = np.linalg.cholesky(np.linalg.inv(precision[np.ix_(m, m)]))
        for index in np.ndindex(*(len(nodes),) * len(m)):
            x = expected.copy()
            x[m] += noise @ nodes[list(index)]
            p = w * share[list(index)].prod()
            exact_third += p * np.outer(x**2, x)
            exact_fourth += p * np.outer(x**2, x**2)
    np.testing.assert_allclose(third, exact_third, atol=1e-12)
    np.testing.assert_allclose(fourth, exact_fourth, atol=1e-12)


# -- training ----------------------------------------------------------------------------------------


def plain_em(X, y, tied, iterations=600):
    """EM as the textbooks write it, row by row."""
    n_classes, d = y.max() + 1, X.shape[1]
    mean = np.array([np.nanmean(X[y == k], axis=0) for k in range(n_classes)])
    cov = np.repeat(np.diag(np.nanvar(X, axis=0))[None], n_classes, axis=0)
    for _ in range(iterations):
        filled, extra = X.copy(), np.zeros((n_classes, d, d))
        for i, (row, k) in enumerate(zip(X, y, strict=True)):
            m, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
            slope = cov[k][np.ix_(m, o)] @ np.linalg.inv(cov[k][np.ix_(o, o)])
            filled[i, m] = mean[k, m] + slope @ (row[o] - mean[k, o])
            extra[k][np.ix_(m, m)] += cov[k][np.ix_(m, m)] - slope @ cov[k][np.ix_(o, m)]
        mean = np.array([filled[y == k].mean(axis=0) for k in range(n_classes)])
        sums = np.array([(z := filled[y == k] - mean[k]).T @ z + extra[k] for k in range(n_classes)])
        size = np.bincount(y)[:, None, None]
        cov = np.repeat(sums.sum(axis=0)[None] / len(y), n_classes, axis=0) if tied else sums / size
    return mean, cov


@pytest.mark.parametrize("tied", [0.0, 1.0])
def test_training_with_gaps_is_the_textbook_em(tied):
    X, y = table(n=60, d=3)
    X = with_gaps(X, 0.2)
    model = GaussianDiscriminantAnalysis(tied=tied).fit(X, y)
    mean, cov = plain_em(X, y, tied)
    np.testing.assert_allclose(model.means_, mean, atol=1e-5)
    np.testing.assert_allclose(model.covariance_, cov, atol=1e-5)


def test_a_column_with_gaps_beside_a_complete_one_has_a_closed_form():
    """Anderson (1957): the complete column as it is, the other by its regression in the complete rows."""
    X, y = table(n=300, d=2, n_classes=2)
    X[np.random.default_rng(0).random(len(X)) < 0.4, 1] = np.nan
    family = MultivariateNormal(tol=1e-14)
    model = GenerativeClassifier([([0, 1], family)]).fit(X, y)
    (_, density), *_ = model.model_.distributions
    for k in range(2):
        x, both = X[y == k, 0], X[(y == k) & ~np.isnan(X[:, 1])]
        slope = np.cov(both.T, bias=True)[0, 1] / both[:, 0].var()
        mean = both[:, 1].mean() + slope * (x.mean() - both[:, 0].mean())
        rest = (both[:, 1] - slope * both[:, 0]).var()
        np.testing.assert_allclose(density.mean[k], [x.mean(), mean], atol=1e-6)
        cross = slope * x.var()
        np.testing.assert_allclose(
            density.covariance[k], [[x.var(), cross], [cross, rest + slope * cross]], atol=1e-5
        )


def test_without_correlations_em_uses_the_cells_that_are_there():
    X, y = table()
    X = with_gaps(X)
    em, naive = GaussianDiscriminantAnalysis(shape="diagonal").fit(X, y), GaussianNB().fit(X, y)
    np.testing.assert_allclose(em.means_, naive.theta_, atol=1e-4)
    np.testing.assert_allclose(np.diagonal(em.covariance_, axis1=1, axis2=2), naive.var_, atol=1e-3)


@by_name
def test_the_log_likelihood_never_falls_and_is_that_of_the_cells_there(model):
    X, y = table()
    X = with_gaps(X)
    model.fit(X, y)
    path = model.log_likelihood_path_
    assert len(path) == model.n_iter_ + 1 > 3
    assert (np.diff(path) >= 0).all()
    joint = model.predict_joint_log_proba(X)[np.arange(len(y)), y].sum()
    np.testing.assert_allclose(model.log_likelihood_, joint, rtol=1e-10)
    by_likelihood = model.get_params().get("tied", 0) in (0, 1) and not model.get_params()["shrinkage"]
    if by_likelihood and model.bias:
        assert path[-1] == model.log_likelihood_


@pytest.mark.parametrize("tied", [0.0, 1.0])
def test_no_other_parameters_near_by_are_likelier(tied):
    X, y = table(n=200, d=3)
    X = with_gaps(X)
    model = GaussianDiscriminantAnalysis(tied=tied).fit(X, y)
    (_, density), *_ = model.model_.distributions
    rng = np.random.default_rng(0)

    def likelihood(mean, covariance):
        found = MultivariateNormalDistribution(mean, covariance).log_density(X)
        return found[np.arange(len(y)), y].sum()

    best = likelihood(density.mean, density.covariance)
    for size in (1e-2, 1e-1):
        for _ in range(20):
            step = rng.normal(size=density.covariance.shape) * size
            mean = density.mean + rng.normal(size=density.mean.shape) * size
            assert likelihood(mean, density.covariance + step @ step.transpose(0, 2, 1)) < best
            assert likelihood(density.mean, density.covariance * (1 + size)) < best


@by_name
@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")  # one class has hardly any weight
def test_weights_are_repetitions(model):
    X, y = table(n=120, d=3)
    X = with_gaps(X)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    a = model.fit(X, y, sample_weight=weight).predict_log_proba(X)
    b = model.fit(X.repeat(weight, axis=0), y.repeat(weight)).predict_log_proba(X)
    np.testing.assert_allclose(a, b, atol=1e-9)


@by_name
def test_offsets_and_units_change_nothing(model):
    if model.get_params()["shrinkage"] == "auto":
        pytest.skip("scikit-learn's shrinkage acts in the units of the data")
    X, y = table(n=200)
    X = with_gaps(X)
    unit = np.array([1e-6, 1.0, 1e6, 3.0])
    a = model.fit(X, y).predict_log_proba(X)
    b = model.fit(X * unit + 1e6 * unit, y).predict_log_proba(X * unit + 1e6 * unit)
    np.testing.assert_allclose(a, b, atol=1e-6)


@by_name
def test_rows_without_any_cell_change_only_the_class_frequencies(model):
    X, y = table()
    X = with_gaps(X)
    empty, more = np.full((40, X.shape[1]), np.nan), np.zeros(40, dtype=int)
    some = model.fit(X, y).class_log_density(X)
    model.fit(np.concatenate([X, empty]), np.concatenate([y, more]))
    np.testing.assert_allclose(model.class_log_density(X), some, rtol=1e-5)
    np.testing.assert_allclose(model.priors_[0], (np.sum(y == 0) + 40) / (len(y) + 40))


@pytest.mark.parametrize("model", [QDA(), LDA(shrinkage="auto")], ids=["qda", "ledoit-wolf"])
def test_the_same_bits_on_any_number_of_threads(model):
    X, y = table(n=40_000, d=3)
    X = with_gaps(X)
    with posterior.threads(1):
        one = model.fit(X, y).predict_log_proba(X)
    with posterior.threads(3):
        three = model.fit(X, y).predict_log_proba(X)
    np.testing.assert_array_equal(one, three)


def test_em_comes_nearer_to_the_truth_than_complete_rows_alone():
    X, y = table(n=3000, d=8, n_classes=2)
    holes = with_gaps(X)
    complete = ~np.isnan(holes).any(axis=1)
    for model in (LDA, QDA):
        truth = model().fit(X, y).predict_log_proba(X)

        def distance(fitted, truth=truth):
            return (np.exp(truth) * (truth - fitted.predict_log_proba(X))).sum(axis=1).mean()

        em, rest = model().fit(holes, y), model().fit(holes[complete], y[complete])
        assert distance(em) < 0.2 * distance(rest)


def test_a_gaussian_block_with_gaps_beside_other_blocks():
    pd = pytest.importorskip("pandas")
    X, y = table()
    X = with_gaps(X)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        colour=np.where(y == 0, "red", np.random.default_rng(0).choice(["red", "blue"], len(y)))
    )
    features = [
        (["a", "b", "c", "d"], MultivariateNormal(tied=1)),
        ("colour", Categorical(hierarchical=True)),
    ]
    both = GenerativeClassifier(features).fit(frame, y)
    gauss = LDA().fit(frame[list("abcd")], y)
    colour = NaiveBayes(tied=False, weights=1.0).fit(frame[["colour"]], y)
    sums = gauss.class_log_density(frame[list("abcd")]) + colour.class_log_density(frame[["colour"]])
    np.testing.assert_allclose(both.class_log_density(frame), sums, atol=1e-9)
    np.testing.assert_allclose(both.log_likelihood_path_[-1], both.log_likelihood_)
    assert both.n_iter_ == gauss.n_iter_


def test_two_blocks_with_gaps_are_filled_in_together():
    X, y = table(d=6)
    X = with_gaps(X)
    features = [([0, 1, 2], MultivariateNormal()), ([3, 4, 5], MultivariateNormal(tied=1))]
    both = GenerativeClassifier(features).fit(X, y)
    a, b = QDA().fit(X[:, :3], y), LDA().fit(X[:, 3:], y)
    np.testing.assert_allclose(
        both.class_log_density(X), a.class_log_density(X[:, :3]) + b.class_log_density(X[:, 3:]), atol=1e-3
    )


def test_a_redundant_column_with_gaps_is_found_in_the_complete_rows():
    X, y = table(n=600)
    total = with_gaps(np.column_stack([X, X.sum(axis=1)]), 0.15)
    gone = int(np.isnan(total).sum(axis=0).argmax())  # the column with the fewest values gives way
    with pytest.warns(DataWarning, match=f"'x{gone}' is a linear combination of .*: left out"):
        model = QDA().fit(total, y)
    rest = [j for j in range(5) if j != gone]
    without = QDA().fit(total[:, rest], y)
    np.testing.assert_allclose(
        model.predict_log_proba(total), without.predict_log_proba(total[:, rest]), atol=1e-9
    )
    assert np.isfinite(model.score_samples(total)).all()


def test_a_rule_that_only_complete_rows_keep_is_no_rule():
    X, y = table(n=200, d=3, n_classes=2)
    X[:, 1] = X[:, 0]
    gappy = np.arange(200) % 4 < 2
    X[gappy, 1] += np.random.default_rng(0).normal(size=gappy.sum())
    X[gappy, 2] = np.nan
    with pytest.warns(DataWarning, match="held near the spread"):
        model = LDA().fit(X, y)
    assert [note.problem for note in model.notes_] == ["undetermined"]
    assert np.isfinite(model.score_samples(X)).all()


def test_a_column_that_is_nearly_always_missing_does_not_drive_out_a_full_one():
    rng = np.random.default_rng(1)
    y = np.arange(400) % 2
    x = rng.normal(size=(400, 2))
    x[:, 0] += 3 * y
    rare = np.where(rng.random(400) < 0.9, np.nan, x[:, 0])
    with pytest.warns(DataWarning, match="'x0' is a linear combination of 'x1': left out"):
        model = LDA().fit(np.column_stack([rare, x]), y)
    assert model.score(np.column_stack([rare, x]), y) == LDA().fit(x, y).score(x, y)


@pytest.mark.parametrize("model", [LDA(), QDA(), GaussianDiscriminantAnalysis(tied=0.3)], ids=str)
def test_a_column_that_a_class_never_shows_says_nothing_about_it(model):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    c = rng.normal(size=400) + 5 * y
    full = np.column_stack([c + 0.1 * rng.normal(size=400), c, rng.normal(size=400)])
    holes = full.copy()
    holes[y == 1, 0] = np.nan
    with pytest.warns(DataWarning, match=r"density of class 1 has no value to go by \(columns 'x0'\)"):
        model.fit(holes, y)
    without = full.copy()
    without[:, 0] = np.nan
    odds = model.predict_log_proba(full) - model.predict_log_proba(without)
    assert np.abs(odds).max() < 2
    np.testing.assert_allclose(model.means_[1, 0], full[y == 1, 0].mean(), atol=0.1)
    assert (np.diff(model.log_likelihood_path_) >= 0).all()


@pytest.mark.parametrize(("d", "gap", "n"), [(3, 0.2, 9), (4, 0.25, 7), (6, 0.2, 12), (6, 0.2, 7)])
def test_a_small_class_with_gaps_does_not_collapse(d, gap, n):
    """The likelihood may rise without end towards a singular covariance; the answer must not follow it."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = (np.arange(n + 60) >= n) * 1
        X = with_gaps(rng.normal(size=(n + 60, d)), gap, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            model = QDA().fit(X, y)
        correlations = [c / np.sqrt(np.outer(np.diag(c), np.diag(c))) for c in model.covariance_]
        assert min(np.linalg.eigvalsh(r)[0] for r in correlations) > 1e-4


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(15, 60), marks=pytest.mark.long)], ids=str)
def test_small_tables_with_gaps_give_finite_answers_and_a_likelihood_that_never_falls(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(3, 16)), int(rng.integers(1, 4))
        y = np.concatenate([[0, 1], rng.integers(0, 2, n)])
        X = with_gaps(rng.integers(-3, 3, size=(n + 2, d)).astype(float), 0.3, seed)
        if np.isnan(X).all():
            continue
        for model in (LDA(), QDA(), GaussianDiscriminantAnalysis(tied=0.5)):
            model.fit(X, y)
            assert np.isfinite(model.predict_log_proba(np.nan_to_num(X))).all()
            assert (np.diff(model.log_likelihood_path_) >= 0).all()


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_a_small_class_does_not_stop_the_iterations_of_a_large_one():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [500, 500, 8])
    X = with_gaps(rng.normal(size=(1008, 4)) @ (np.eye(4) + 0.3 * rng.normal(size=(4, 4))), 0.4)
    three, two = QDA().fit(X, y), QDA().fit(X[:1000], y[:1000])
    np.testing.assert_allclose(three.covariance_[0], two.covariance_[0], atol=1e-4)


def test_columns_that_are_all_left_out_leave_the_priors():
    holes = [[1, np.nan], [1, 2], [np.nan, 2], [1, 2]]
    with pytest.warns(DataWarning, match="'x0' is constant"):
        model = LDA().fit(holes, [0, 1, 0, 1])
    np.testing.assert_allclose(model.predict_proba([[1, 2]]), [[0.5, 0.5]])


def test_parts_with_gaps_do_not_add_up_and_say_so():
    X, y = table()
    holes = with_gaps(X)
    with pytest.raises(ValueError, match=r"EM, which needs all rows at once; use fit"):
        LDA().partial_fit(holes, y)
    stream = LDA().partial_fit(X, y)
    before = stream.predict_log_proba(X)
    with pytest.raises(ValueError, match="'x0'"):
        stream.partial_fit(holes, y)
    np.testing.assert_array_equal(stream.predict_log_proba(X), before)
    with pytest.raises(ValueError, match="EM"):
        LDA().fit(holes, y) + LDA().fit(X, y)


def test_iterations_that_do_not_end_are_told():
    X, y = table()
    X = with_gaps(X)
    model = GenerativeClassifier([(slice(None), MultivariateNormal(max_iter=2))])
    with pytest.warns(DataWarning, match="stopped after 2 iterations"):
        model.fit(X, y)


def test_complete_tables_need_no_iteration():
    X, y = table()
    model = LDA().fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.log_likelihood_path_, [model.log_likelihood_])


def test_coordinates_of_rows_with_gaps_are_those_to_be_expected():
    X, y = table()
    X = np.column_stack([X, X.sum(axis=1)])
    with pytest.warns(DataWarning, match="'x4' is a linear combination"):
        model = LDA().fit(X, y)
    holes = X[:5].copy()
    holes[0, 4] = holes[1, 1] = np.nan
    found = model.transform(holes)
    np.testing.assert_allclose(found[[0, 2, 3, 4]], model.transform(X[[0, 2, 3, 4]]))
    (_, density), *_ = model.model_.distributions
    cov, rest = density.covariance[0], [0, 2, 3]
    slope = cov[1, rest] @ np.linalg.inv(cov[np.ix_(rest, rest)])
    guess = density.mean[:, 1] + (X[1, rest] - density.mean[:, rest]) @ slope
    filled = X[[1]].copy()
    filled[0, 1] = model.predict_proba(holes[[1]])[0] @ guess
    np.testing.assert_allclose(found[1], model.transform(filled)[0], atol=1e-9)


def test_a_small_class_with_gaps_may_be_refused():
    X, y = table(n=200)
    X, y = with_gaps(X), np.where(np.arange(200) < 6, 9, y)
    with pytest.raises(ValueError, match=r"class 9 is not determined by the rows.*on_singular='error'"):
        QDA(on_singular="error").fit(X, y)


def test_a_column_without_a_value_is_left_out_of_a_gaussian_block():
    X, y = table()
    with pytest.warns(DataWarning, match="'x4' has no value: left out"):
        model = LDA().fit(np.column_stack([with_gaps(X, 0.1), np.full(len(X), np.nan)]), y)
    assert np.isfinite(model.predict_log_proba(np.column_stack([X, np.zeros(len(X))]))).all()


@pytest.mark.parametrize("model", [LDA(), QDA()], ids=repr)
def test_rows_without_any_number_need_no_iterations(model):
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=90)
    X = rng.normal(size=(90, 3)) + y[:, None]
    empty = np.arange(90) % 17 == 0
    X[empty] = np.nan
    fitted = clone(model).fit(X, y)
    others = clone(model).set_params(priors=fitted.priors_).fit(X[~empty], y[~empty])
    assert np.array_equal(fitted.predict_proba(X[~empty]), others.predict_proba(X[~empty]))
    left_out = fitted.leave_one_out_log_proba(X, y)
    for i in (0, 1, 17):  # without a number, with all of them
        rest = np.arange(90) != i
        again = clone(model).fit(X[rest], y[rest]).predict_log_proba(X[[i]])[0]
        assert np.allclose(left_out[i], again, rtol=0, atol=1e-12)


def test_a_class_without_any_number_is_as_likely_as_its_prior():
    y = np.repeat([0, 1, 2], 20)
    X = np.random.default_rng(5).normal(size=(60, 2)) + y[:, None]
    X[y == 1] = np.nan
    fitted = QDA().fit(X, y)
    assert np.allclose(fitted.predict_proba([[np.nan, np.nan]]), 1 / 3)
    assert np.isfinite(fitted.predict_log_proba(X)).all()
