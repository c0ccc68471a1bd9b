"""Published and hand-derived values, each with the number it has in the project's checklist."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.optimize import brentq

from posterior import (
    LDA,
    QDA,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    NaiveBayes,
    datasets,
)
from posterior.families import (
    Bernoulli,
    Categorical,
    CategoricalDistribution,
    MultivariateNormal,
    MultivariateNormalDistribution,
    Normal,
    NormalDistribution,
    PoissonDistribution,
)

STATS = ["hp", "attack", "defense", "sp_atk", "sp_def", "speed"]
NO_NOTES = pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")


def water_and_normal(columns):
    """Water against Normal: dex numbers below 400 train, the others test."""
    table = datasets.load_pokemon(backend="pandas").frame
    table = table[table["type_1"].isin(["Water", "Normal"])]
    early = table["number"] < 400
    train, test = table[early], table[~early]
    return train[columns], train["type_1"], test[columns], test["type_1"]


def test_m02_a_blue_ball_came_from_box_one_with_probability_eight_elevenths():
    balls = CategoricalDistribution([[4 / 5, 1 / 5], [3 / 5, 2 / 5]], categories=["blue", "red"])
    boxes = GenerativeClassifier.from_distributions(["B1", "B2"], [2 / 3, 1 / 3], [("ball", balls)])
    assert boxes.predict_proba([["blue"]])[0] == pytest.approx([8 / 11, 3 / 11], abs=1e-15)
    assert np.exp(boxes.score_samples([["blue"]]))[0] == pytest.approx(11 / 15, abs=1e-15)
    assert boxes.predict([["blue"], ["red"]]).tolist() == ["B1", "B1"]


def test_m02_any_distribution_can_be_given():
    model = GenerativeClassifier.from_distributions(
        [0, 1],
        {0: 0.25, 1: 0.75},
        [
            ("height", NormalDistribution([[170.0], [180.0]], [[49.0], [64.0]])),
            (["a", "b"], MultivariateNormalDistribution([[0, 0], [1, 1]], [[1, 0.5], [0.5, 1]])),
            ("visits", PoissonDistribution([[2.0], [5.0]])),
        ],
    )
    row = [[175.0, 0.2, 0.9, 3.0]]
    joint = [
        scipy_stats.norm(m, s).pdf(175)
        * scipy_stats.multivariate_normal(mu, [[1, 0.5], [0.5, 1]]).pdf([0.2, 0.9])
        * scipy_stats.poisson(rate).pmf(3)
        * p
        for m, s, mu, rate, p in [(170, 7, [0, 0], 2, 0.25), (180, 8, [1, 1], 5, 0.75)]
    ]
    assert model.predict_proba(row)[0] == pytest.approx(np.array(joint) / sum(joint), rel=1e-12)
    X, y = model.sample(4, random_state=0)
    assert X.shape == (4, 4)
    assert set(y) <= {0, 1}


@NO_NOTES
def test_m03_priors_are_frequencies_smoothed_uniform_or_given():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "a", "b"]
    assert GaussianNB().fit(X, y).class_prior_ == pytest.approx([0.75, 0.25])
    assert np.exp(
        NaiveBayes(prior_smoothing=1, tied=False, weights=1.0).fit(X, y).model_.log_prior
    ) == pytest.approx([4 / 6, 2 / 6])
    assert GaussianDiscriminantAnalysis(priors="uniform", tied=1).fit(X, y).priors_ == pytest.approx(
        [0.5, 0.5]
    )
    assert GaussianNB(priors={"b": 0.1, "a": 0.9}).fit(X, y).class_prior_ == pytest.approx([0.9, 0.1])


def test_m04_log_odds_of_1e5_come_out_as_such():
    X = np.array([[-1.0], [1.0], [-1.0 + 2e-3], [1.0 - 2e-3]])
    model = LDA().fit(X, [0, 1, 0, 1])
    logs = model.predict_log_proba([[100.0], [-0.1]])
    odds = model.decision_function([[100.0], [-0.1]])
    assert odds[0] > 1e5
    assert logs[0, 0] == pytest.approx(-odds[0], rel=1e-12)
    assert logs[0, 1] == 0
    assert logs[1, 1] == pytest.approx(odds[1], rel=1e-12)
    assert np.isfinite(logs).all()


@pytest.mark.parametrize("d", [1, 3, 5])
def test_m05_parameters_are_counted_as_in_the_notes(d):
    rng = np.random.default_rng(d)
    X, y = rng.normal(size=(80, d)), np.arange(80) % 2
    assert LDA().fit(X, y).n_parameters_ == 2 * d + d * (d + 1) // 2 + 1
    flags = rng.random((80, d)) < 0.5
    K = 4
    y = np.arange(80) % K
    assert NaiveBayes(tied=False, weights=1.0).fit(flags, y).n_parameters_ == K * d + K - 1
    table = GenerativeClassifier([(list(range(d)), Categorical(joint=True))])
    assert table.fit(flags, y).n_parameters_ == K * (2**d - 1) + K - 1


def test_m05_the_joint_likelihood_of_the_training_data_is_readable():
    table = datasets.load_penguins(backend="pandas")
    model = NaiveBayes(kinds={"year": "categorical"}, tied=False, weights=1.0).fit(table.X, table.y)
    own = np.searchsorted(model.classes_, table.y)
    by_row = model.predict_joint_log_proba(table.X)[np.arange(len(own)), own]
    assert model.log_likelihood_ == pytest.approx(by_row.sum(), rel=1e-12)
    assert model.aic_ == pytest.approx(2 * model.n_parameters_ - 2 * by_row.sum(), rel=1e-12)
    assert model.bic_ == pytest.approx(np.log(344) * model.n_parameters_ - 2 * by_row.sum(), rel=1e-12)


def test_m06_decision_points_in_one_dimension_are_where_the_posterior_crosses():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    x = rng.normal(np.array([0.0, 1.0, 4.0])[y], np.array([0.5, 2.0, 1.0])[y])[:, None]
    model = GaussianNB().fit(x, y)
    assert model.theta_[1, 0] == pytest.approx(x[y == 1].mean())
    assert model.var_[1, 0] == pytest.approx(x[y == 1].var())
    points, winners = model.decision_points()
    for point, left, right in zip(points, winners[:-1], winners[1:], strict=True):
        gap = lambda t, a=left, b=right: np.subtract(*model.predict_log_proba([[t]])[0, [a, b]])
        assert point == pytest.approx(brentq(gap, point - 0.05, point + 0.05), abs=1e-9)
    grid = np.linspace(-10, 12, 3001)
    assert (model.predict(grid[:, None]) == winners[np.searchsorted(points, grid)]).all()


def test_m07_the_closed_form_of_lda_equals_its_density_form():
    X, y, _, _ = water_and_normal(["defense", "sp_def"])
    model = LDA().fit(X, y)
    values, sigma = X.to_numpy(dtype=float), model.covariance_
    form = model.linear_form()
    scores = form(values)
    direct = model.predict_joint_log_proba(X)
    assert scores[:, 0] - scores[:, 1] == pytest.approx(direct[:, 0] - direct[:, 1], abs=1e-10)
    w, w0 = form.pair(1, 0)  # Water against Normal
    normal, water = model.means_
    assert w == pytest.approx(np.linalg.solve(sigma, water - normal), abs=1e-12)
    expected = -0.5 * water @ np.linalg.solve(sigma, water) + 0.5 * normal @ np.linalg.solve(sigma, normal)
    assert w0 == pytest.approx(expected + np.log(79 / 61), abs=1e-10)


def test_m07_priors_only_shift_the_boundary():
    X, y, _, _ = water_and_normal(["defense", "sp_def"])
    even, uneven = LDA(priors=[0.5, 0.5]).fit(X, y), LDA(priors=[0.1, 0.9]).fit(X, y)
    assert even.coef_ == pytest.approx(uneven.coef_, abs=1e-14)
    assert uneven.intercept_ - even.intercept_ == pytest.approx([np.log(9)], abs=1e-10)


def test_m08_the_boundary_between_two_classes_is_a_conic_with_a_name():
    X, y, _, _ = water_and_normal(["defense", "sp_def"])
    assert LDA().fit(X, y).quadratic_form("Water", "Normal").type == "line"
    quadratic = QDA().fit(X, y)
    conic = quadratic.quadratic_form("Water", "Normal")
    assert conic.type == "ellipse"
    values = X.to_numpy(dtype=float)
    joint = quadratic.predict_joint_log_proba(X)
    assert conic(values) == pytest.approx(joint[:, 1] - joint[:, 0], abs=1e-10)


def test_m09_the_ladder_meets_at_its_ends():
    iris = datasets.load_penguins(backend="pandas").frame.dropna()
    X, y = iris[["bill_length_mm", "bill_depth_mm", "body_mass_g"]], iris["species"]
    logs = {
        "nb": GaussianNB(var_smoothing=0).fit(X, y).predict_log_proba(X),
        "diagonal": GaussianDiscriminantAnalysis(shape="diagonal").fit(X, y).predict_log_proba(X),
        "lda": LDA().fit(X, y).predict_log_proba(X),
        "tied": GaussianDiscriminantAnalysis(tied=1).fit(X, y).predict_log_proba(X),
        "qda": QDA().fit(X, y).predict_log_proba(X),
        "own": GaussianDiscriminantAnalysis(tied=0).fit(X, y).predict_log_proba(X),
        "tied nb": NaiveBayes(tied=True, weights=1.0).fit(X, y).predict_log_proba(X),
        "tied diagonal": GaussianDiscriminantAnalysis(tied=1, shape="diagonal")
        .fit(X, y)
        .predict_log_proba(X),
    }
    for a, b in (("nb", "diagonal"), ("lda", "tied"), ("qda", "own"), ("tied nb", "tied diagonal")):
        assert (np.abs(logs[a] - logs[b]) <= 1e-10 * (1 + np.abs(logs[b]))).all()


def test_m09_naive_bayes_is_diagonal_qda_even_with_a_redundant_column():
    X, y, X_test, _ = water_and_normal([*STATS, "total"])
    naive = GaussianNB(var_smoothing=0).fit(X, y).predict_log_proba(X_test)
    diagonal = GaussianDiscriminantAnalysis(shape="diagonal").fit(X, y).predict_log_proba(X_test)
    assert (np.abs(naive - diagonal) <= 1e-10 * (1 + np.abs(naive))).all()


def test_m10_the_pokemon_example():
    X, y, X_test, y_test = water_and_normal(["defense", "sp_def"])
    assert (y == "Water").sum() == 79
    assert (y == "Normal").sum() == 61
    assert len(y_test) == 70
    linear, quadratic = LDA().fit(X, y), QDA().fit(X, y)
    assert linear.priors_ == pytest.approx([0.44, 0.56], abs=0.005)
    assert quadratic.means_ == pytest.approx(np.array([[55.56, 59.84], [75.04, 71.33]]), abs=0.005)
    normal, water = quadratic.covariance_
    assert water == pytest.approx(np.array([[873.86, 327.20], [327.20, 928.68]]), abs=0.005)
    assert normal == pytest.approx(np.array([[468.28, 197.76], [197.76, 552.69]]), abs=0.005)
    assert linear.covariance_ == pytest.approx(np.array([[697.14, 270.80], [270.80, 764.86]]), abs=0.005)
    assert linear.coef_[0] == pytest.approx([0.02563, 0.00595], abs=5e-6)
    assert linear.intercept_[0] == pytest.approx(-1.8054, abs=5e-5)

    def right(model, **how):
        return int((model.predict(X_test, **how) == y_test.to_numpy()).sum())

    assert (right(quadratic), right(linear)) == (36, 34)
    assert (right(quadratic, priors="uniform"), right(linear, priors="uniform")) == (38, 33)


def test_m10_the_published_covariance_of_normal_is_the_scatter_about_the_mean_of_water():
    X, y, _, _ = water_and_normal(["defense", "sp_def"])
    values = X.to_numpy(dtype=float)
    apart = values[y == "Normal"] - values[y == "Water"].mean(axis=0)
    assert apart.T @ apart / 61 == pytest.approx(np.array([[847, 422], [422, 685]]), abs=1)


@NO_NOTES
def test_m11_a_total_beside_its_six_parts_changes_nothing():
    X, y, X_test, y_test = water_and_normal([*STATS, "total"])
    for model in (LDA(), QDA()):
        seven = model.fit(X, y)
        logs = seven.predict_log_proba(X_test)
        assert [(n.problem, n.columns, n.of) for n in seven.notes_] == [
            ("redundant", ("total",), tuple(STATS))
        ]
        assert logs == pytest.approx(model.fit(X[STATS], y).predict_log_proba(X_test[STATS]), abs=1e-10)
    right = [
        int((model.fit(X, y).predict(X_test, priors=p) == y_test.to_numpy()).sum())
        for p in (None, "uniform")
        for model in (LDA(), QDA())
    ]
    assert right == [54, 45, 51, 45]


def test_m12_any_family_per_feature_in_one_model():
    from posterior.families import Laplace, LogNormal, Poisson

    rng = np.random.default_rng(0)
    pd = pytest.importorskip("pandas")
    y = np.arange(300) % 2
    X = pd.DataFrame(
        {
            "size": rng.normal(y),
            "noise": rng.laplace(y),
            "income": np.exp(rng.normal(y)),
            "visits": rng.poisson(1 + y),
            "member": rng.random(300) < 0.3 + 0.4 * y,
            "state": rng.choice(["a", "b", "c"], 300),
        }
    )
    families = {"noise": Laplace(), "income": LogNormal(), "visits": Poisson(alpha=0)}
    model = NaiveBayes(families=families, tied=False, weights=1.0, variance_rows=0).fit(X, y)
    parts = {
        "size": GaussianNB(var_smoothing=0),
        "noise": GenerativeClassifier([("noise", Laplace())]),
        "income": GenerativeClassifier([("income", LogNormal())]),
        "visits": GenerativeClassifier([("visits", Poisson(alpha=0))]),
        "member": GenerativeClassifier([("member", Bernoulli())]),
        "state": GenerativeClassifier([("state", Categorical(hierarchical=True))]),
    }
    total = sum(part.fit(X[[name]], y).class_log_density(X[[name]]) for name, part in parts.items())
    assert model.class_log_density(X) == pytest.approx(total, abs=1e-10)


def test_m13_a_block_sees_what_naive_bayes_cannot():
    rng = np.random.default_rng(1)
    y = np.arange(2000) % 2
    height = rng.normal(size=2000)
    weight = height + np.where(y == 1, 0.5, -0.5) + 0.1 * rng.normal(size=2000)
    X = np.c_[height * 10 + 170, weight * 10 + 70]
    together = GenerativeClassifier([([0, 1], MultivariateNormal(tied=1))]).fit(X, y)
    assert together.score(X, y) > 0.99
    assert GenerativeClassifier([([0, 1], Normal())]).fit(X, y).score(X, y) < 0.75


def test_m13_a_joint_table_sees_an_exclusive_or():
    a, b = np.array([0, 0, 1, 1] * 25), np.array([0, 1, 0, 1] * 25)
    X, y = np.c_[a, b], a ^ b
    assert GenerativeClassifier([([0, 1], Categorical(joint=True))]).fit(X, y).score(X, y) == 1
    assert GenerativeClassifier([([0, 1], Categorical())]).fit(X, y).score(X, y) <= 0.5


def test_m15_a_missing_feature_is_left_out_or_integrated_out():
    X, y, X_test, _ = water_and_normal(STATS)
    gaps = X_test.astype(float).copy()
    gaps[["hp", "speed"]] = np.nan
    rest = [c for c in STATS if c not in ("hp", "speed")]
    for model in (LDA(), QDA(), GaussianNB(var_smoothing=0), GaussianDiscriminantAnalysis(tied=0.3)):
        without = model.fit(X[rest], y).predict_log_proba(X_test[rest])
        logs = model.fit(X, y).predict_log_proba(gaps)
        assert (np.abs(logs - without) <= 1e-8 * (1 + np.abs(without))).all()


def test_m16_unanswered_questions_do_not_count():
    voters = datasets.load_voters(backend="pandas")
    adams = voters.y == "Adams"
    answers = voters.X["voted_before"][adams]
    assert answers.value_counts().to_dict() == {"yes": 103, "no": 54}
    assert answers.isna().sum() == 25
    model = NaiveBayes(alpha=0, tied=False, weights=1.0).fit(voters.X, voters.y)
    which = model.schema_.names.index("voted_before")
    for block, distribution in model.model_.distributions:
        if which in block.columns:
            table = np.exp(distribution.log_tables[block.columns.index(which)])
    assert table[list(model.classes_).index("Adams")] == pytest.approx([54 / 157, 103 / 157], abs=1e-15)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_m17_voters_straight_from_a_data_frame_with_strings_and_gaps(backend):
    voters = datasets.load_voters(backend=backend)
    model = NaiveBayes(tied=False, weights=1.0).fit(voters.X, voters.y)
    logs = model.predict_log_proba(voters.X)
    assert np.isfinite(logs).all()
    assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(len(logs)), abs=1e-12)
    assert model.score(voters.X, voters.y) > 0.5


def test_forms_follow_the_table_and_name_the_columns_they_use():
    X, y, _, _ = water_and_normal(STATS)
    numbers = X.to_numpy(dtype=float)
    backwards = GenerativeClassifier([(STATS[::-1], MultivariateNormal(tied=1))]).fit(X, y)
    assert backwards.linear_form().columns == tuple(STATS)
    scores, joint = backwards.linear_form()(numbers), backwards.predict_joint_log_proba(X)
    assert scores[:, 0] - scores[:, 1] == pytest.approx(joint[:, 0] - joint[:, 1], abs=1e-9)
    two = GenerativeClassifier([("speed", Normal()), ("hp", Normal(tied=True))]).fit(X, y)
    conic = two.quadratic_form("Water", "Normal")
    assert conic.columns == ("hp", "speed")
    joint = two.predict_joint_log_proba(X)
    assert conic(X[["hp", "speed"]]) == pytest.approx(joint[:, 1] - joint[:, 0], abs=1e-9)
    with pytest.raises(ValueError, match=r"expected rows of the columns \['hp', 'speed'\]"):
        conic(numbers)


def test_r_conventions_come_from_bias_false():
    """R's MASS: lda divides the pooled scatter by N − K, qda each scatter by n_k − 1."""
    X, y, _, _ = water_and_normal(["defense", "sp_def"])
    values, labels = X.to_numpy(dtype=float), y.to_numpy()
    groups = [values[labels == c] for c in ("Normal", "Water")]
    own = [np.cov(g, rowvar=False) for g in groups]
    pooled = sum((len(g) - 1) * c for g, c in zip(groups, own, strict=True)) / (len(values) - 2)
    assert QDA(bias=False).fit(X, y).covariance_ == pytest.approx(np.array(own), rel=1e-12)
    assert LDA(bias=False).fit(X, y).covariance_ == pytest.approx(pooled, rel=1e-12)
    logs = QDA(bias=False).fit(X, y).predict_log_proba(X)
    joint = np.stack(
        [
            scipy_stats.multivariate_normal(g.mean(axis=0), c).logpdf(values) + np.log(len(g) / len(values))
            for g, c in zip(groups, own, strict=True)
        ],
        axis=1,
    )
    expected = joint - np.logaddexp(joint[:, :1], joint[:, 1:])
    assert logs == pytest.approx(expected, abs=1e-10)


def test_r_mass_lda_on_iris_gives_its_published_scalings():
    """What R prints as "Coefficients of linear discriminants" of MASS::lda(Species ~ ., iris)."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    scalings = LDA(bias=False).fit(X, y).scalings_
    published = np.array(
        [
            [0.8293776, -0.02410215],
            [1.5344731, -2.16452123],
            [-2.2012117, 0.93192121],
            [-2.8104603, -2.83918785],
        ]
    )
    assert np.abs(scalings) == pytest.approx(np.abs(published), abs=5e-7)
    assert LDA().fit(X, y).explained_variance_ratio_ == pytest.approx([0.9912, 0.0088], abs=5e-5)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_penguins_straight_from_a_data_frame_are_told_apart(backend):
    from sklearn.model_selection import cross_val_score

    penguins = datasets.load_penguins(backend=backend)
    assert (
        cross_val_score(NaiveBayes(tied=False, weights=1.0), penguins.X, penguins.y.to_numpy(), cv=10).mean()
        >= 0.96
    )
