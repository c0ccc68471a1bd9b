"""The parameters that are shown are those of the density, which can be written down from them alone."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from places import module_from
from posterior import BernoulliNB, GenerativeClassifier, NaiveBayes
from posterior.families import (
    BagOfWordsDistribution,
    BernoulliDistribution,
    CategoricalDistribution,
    HistogramDistribution,
    KernelDensityDistribution,
    LogNormalDistribution,
    MixtureOfNormalsDistribution,
    MultinomialDistribution,
    MultivariateNormalDistribution,
    NormalDistribution,
    OneDependenceDistribution,
    TreeAugmentedDistribution,
)
from posterior.families.bag_of_words import LISTED_WORDS
from posterior.families.categorical import LISTED_CELLS
from posterior.schema import Codes

laws = module_from(Path(__file__).with_name("test_laws.py"))
K = laws.K
NAMES = ["a", "b", "c"]


def fitted_to_rows(case):
    block, y, _ = laws.rows_of(case, 5, n=90, gaps=False)
    distribution = case.family.estimate(case.family.summarize(block, y, None, K))
    codes = isinstance(block, Codes)
    levels = [[f"level {v}" for v in range(size)] for size in block.sizes] if codes else [None] * 3
    return distribution, block.array if codes else block, distribution.parameters(NAMES, levels)


def normal_log_density(found, rows, lead, k):
    """That of normals, from means, standard deviations and correlations by their names."""
    mean = np.array([found[(name,), f"{lead}mean"][k] for name in NAMES])
    sd = np.array([found[(name,), f"{lead}standard deviation"][k] for name in NAMES])
    if np.isnan(mean).any():
        return np.full(len(rows), -np.inf)
    correlation = np.eye(3)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        value = found.get(((NAMES[i], NAMES[j]), f"{lead}correlation"), np.zeros(K))[k]
        correlation[i, j] = correlation[j, i] = value
    return scipy_stats.multivariate_normal(mean, correlation * np.outer(sd, sd)).logpdf(rows)


def mixture_log_density(found, rows, k):
    parts, m = [], 1
    while (weight := found.get((tuple(NAMES), f"component {m}: weight"))) is not None:
        share = np.nan_to_num(np.log(weight[k]), nan=-np.inf)
        parts.append(share + normal_log_density(found, rows, f"component {m}: ", k))
        m += 1
    return np.logaddexp.reduce(parts, axis=0)


def kernel_log_density(found, distribution, rows, k):
    """From the widths, the wide density and the places of the kernels, which are too many to be shown."""
    total = np.zeros(len(rows))
    for j, name in enumerate(NAMES):
        own = {text: values[k] for (columns, text), values in found.items() if columns == (name,)}
        places, share = distribution.places[j], distribution.share[j][k]
        near = scipy_stats.norm(places, own["bandwidth"]).pdf(rows[:, [j]]) @ share
        wide = own["share of the wide density"]
        middle, spread = own["middle of the wide density"], own["standard deviation of the wide density"]
        total += np.log((1 - wide) * near + wide * scipy_stats.norm(middle, spread).pdf(rows[:, j]))
    return total


def histogram_log_density(found, edges, rows, k):
    """From the probabilities of the bins and the lengths of the tails."""
    total = np.zeros(len(rows))
    for j, name in enumerate(NAMES):
        own = {text: values[k] for (columns, text), values in found.items() if columns == (name,)}
        share = [own[text] for text in own if text.startswith("bin ")]
        assert sum(share) == pytest.approx(1, abs=1e-12)
        place = np.searchsorted(edges[j], rows[:, j], side="right")
        width = [own["tail below"], *np.diff(edges[j]), own["tail above"]]
        beyond = np.maximum(np.maximum(edges[j][0] - rows[:, j], rows[:, j] - edges[j][-1]), 0)
        with np.errstate(divide="ignore"):
            total += np.log(share)[place] - np.log(width)[place] - beyond / np.array(width)[place]
    return total


def edges_of(distribution):
    """The edges of every column where all are described by histograms."""
    members = getattr(distribution, "members", [distribution])
    if not all(isinstance(member, HistogramDistribution) for member in members):
        return None
    return [edges for member in members for edges in member.edges]


DENSITIES = {
    ("mean",): lambda own, x: scipy_stats.expon(scale=own["mean"]).logpdf(x),
    ("rate",): lambda own, x: scipy_stats.poisson(own["rate"]).logpmf(x),
    ("median", "scale"): lambda own, x: scipy_stats.laplace(own["median"], own["scale"]).logpdf(x),
    ("log standard deviation", "median"): lambda own, x: scipy_stats.lognorm(
        own["log standard deviation"], scale=own["median"]
    ).logpdf(x),
    ("mean", "shape"): lambda own, x: scipy_stats.gamma(
        own["shape"], scale=own["mean"] / own["shape"]
    ).logpdf(x),
    ("alpha", "beta"): lambda own, x: scipy_stats.beta(own["alpha"], own["beta"]).logpdf(x),
    ("degrees of freedom", "location", "scale"): lambda own, x: scipy_stats.t(
        own["degrees of freedom"], own["location"], own["scale"]
    ).logpdf(x),
    ("mean", "standard deviation"): lambda own, x: scipy_stats.norm(
        own["mean"], own["standard deviation"]
    ).logpdf(x),
    ("loc", "scale"): lambda own, x: scipy_stats.expon(own["loc"], own["scale"]).logpdf(x),
    ("dispersion", "mean"): lambda own, x: laws.negative_binomial_log_density(
        own["mean"], own["dispersion"], x
    ),
    ("p(1)",): lambda own, x: scipy_stats.bernoulli(own["p(1)"]).logpmf(x.astype(int)),
}


def column_log_density(found, name, x, k):
    """That of one column, by whichever parameters it has."""
    own = {parameter: values[k] for (columns, parameter), values in found.items() if columns == (name,)}
    density = DENSITIES.get(tuple(sorted(own)))
    if density is not None:
        return density(own, x)
    assert sum(own.values()) == pytest.approx(1, abs=1e-12)
    with np.errstate(divide="ignore"):
        return np.log([own[f"p(level {code})"] for code in x])


def log_density_from(found, distribution, rows, k):
    if isinstance(distribution, OneDependenceDistribution | TreeAugmentedDistribution):
        return np.log([dependence_density(found, distribution, row, k) for row in rows])
    return simpler_log_density_from(found, distribution, rows, k)


def simpler_log_density_from(found, distribution, rows, k):
    if isinstance(distribution, MixtureOfNormalsDistribution):
        return mixture_log_density(found, rows, k)
    if isinstance(distribution, NormalDistribution | MultivariateNormalDistribution):
        return normal_log_density(found, rows, "", k)
    if isinstance(distribution, MultinomialDistribution):
        share = np.array([found[(name,), "share"][k] for name in NAMES])
        if distribution.ordered:
            return rows @ np.log(share)
        return scipy_stats.multinomial(rows.sum(axis=1).astype(int), share).logpmf(rows.astype(int))
    if isinstance(distribution, CategoricalDistribution) and distribution.joint:
        assert sum(values[k] for values in found.values()) == pytest.approx(1, abs=1e-12)
        cells = ["p(" + ", ".join(f"level {code}" for code in row) + ")" for row in rows]
        return np.log([found[tuple(NAMES), cell][k] for cell in cells])
    return sum(column_log_density(found, name, rows[:, j], k) for j, name in enumerate(NAMES))


def dependence_density(found, distribution, row, k):
    """That of a tree, or the mean of those in which each column is the parent of the others."""

    def of(j, i):
        if i < 0:
            return found[(NAMES[j],), f"p(level {row[j]})"][k]
        return found[(NAMES[j], NAMES[i]), f"p(level {row[j]} | {NAMES[i]} = level {row[i]})"][k]

    if isinstance(distribution, TreeAugmentedDistribution):
        return np.prod([of(j, i) for j, i in enumerate(distribution.parent)])
    parents = [[-1 if j == i else i for j in range(3)] for i in range(3)]
    return np.mean([np.prod([of(j, i) for j, i in enumerate(parent)]) for parent in parents])


@laws.every_family
def test_the_parameters_of_every_family_are_enough_to_write_its_density_down(case):
    distribution, rows, parameters = fitted_to_rows(case)
    found = {(p.columns, p.name): p.values for p in parameters}
    assert len(found) == len(parameters)
    assert all(p.values.shape == (K,) for p in parameters)
    for k in range(K):
        edges = edges_of(distribution)
        if edges is not None:
            laws.close(
                histogram_log_density(found, edges, rows, k),
                distribution.log_density(rows)[:, k],
                1e-9,
            )
            continue
        if isinstance(distribution, KernelDensityDistribution):
            shown = kernel_log_density(found, distribution, rows, k)
            laws.close(shown, distribution.log_density(rows)[:, k], 1e-9)
            continue
        laws.close(log_density_from(found, distribution, rows, k), distribution.log_density(rows)[:, k], 1e-9)


@laws.every_family
def test_changing_what_is_shown_changes_no_density(case):
    distribution, rows, parameters = fitted_to_rows(case)
    density, values = distribution.log_density(rows), [p.values.copy() for p in parameters]
    for parameter in parameters:
        parameter.values[:] = -7.0
    assert np.array_equal(distribution.log_density(rows), density)
    again = [p.values for p in distribution.parameters(NAMES, [None] * 3)]
    assert np.array_equal(again, values, equal_nan=True)


def test_classes_that_share_a_covariance_show_the_same_correlation():
    tied = MultivariateNormalDistribution([[0.0, 0.0], [1.0, 5.0]], [[4.0, 1.0], [1.0, 1.0]])
    shown = [(p.columns, p.name, p.values.tolist()) for p in tied.parameters(["x", "y"], [None, None])]
    assert shown == [
        (("x",), "mean", [0.0, 1.0]),
        (("x",), "standard deviation", [2.0, 2.0]),
        (("y",), "mean", [0.0, 5.0]),
        (("y",), "standard deviation", [1.0, 1.0]),
        (("x", "y"), "correlation", [0.5, 0.5]),
    ]


def test_a_class_with_fewer_components_has_nan_for_the_others():
    humps = MixtureOfNormalsDistribution([1.0, 0.75, 0.25], [[0.0], [2.0], [9.0]], [[4.0]], [0, 1, 1])
    shown = {p.name: p.values.tolist() for p in humps.parameters(["x"], [None])}
    assert shown["component 1: weight"] == [1.0, 0.75]
    assert shown["component 1: standard deviation"] == [2.0, 2.0]
    assert str(shown["component 2: mean"]) == "[nan, 9.0]"


def test_a_binary_column_is_called_by_the_level_that_counts_as_on():
    X = [["no", True, 0], ["yes", False, 1], ["yes", True, 0], ["no", False, 0]]
    model = NaiveBayes(kinds=dict.fromkeys(range(3), "binary"), tied=False, weights=1.0).fit(X, [0, 0, 1, 1])
    ((block, distribution),) = model.model_.distributions
    levels = [model.schema_.columns[j].levels for j in block.columns]
    assert [p.name for p in distribution.parameters(["a", "b", "c"], levels)] == ["p(yes)", "p(True)", "p(1)"]


def test_a_threshold_is_said():
    model = BernoulliNB(binarize=0.25).fit([[0.0], [1.0], [0.5]], [0, 0, 1])
    ((_, distribution),) = model.model_.distributions
    assert [p.name for p in distribution.parameters(["x"], [None])] == ["p(> 0.25)"]


def test_the_median_of_a_log_normal_beyond_all_numbers_is_infinite_without_a_warning():
    huge = LogNormalDistribution([[800.0]], [[1.0]])
    assert huge.parameters(["x"], [None])[0].values.tolist() == [np.inf]


# -- of very many events those are listed that tell most ----------------------------------------------


def words(n):
    return [f"word{j:04d}" for j in range(n)]


def test_of_a_vocabulary_the_words_are_listed_that_tell_classes_apart_most():
    n = 4 * LISTED_WORDS
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(n), size=2)
    texts = BagOfWordsDistribution(MultinomialDistribution(p, ordered=True), words(n))
    shown = texts.parameters(["text"], [None])
    assert len(shown) == LISTED_WORDS
    spread = np.abs(np.log(p[0]) - np.log(p[1]))
    best = np.argsort(-spread)[:LISTED_WORDS]
    assert [s.name for s in shown] == [f"p({words(n)[j]})" for j in best]
    assert np.array_equal([s.values for s in shown], p[:, best].T)
    assert {s.columns for s in shown} == {("text",)}


def test_of_words_that_a_class_never_uses_the_likeliest_come_first_and_those_nobody_uses_last():
    p = [[0.0, 0.3, 0.5, 0.2, 0.0], [0.1, 0.0, 0.5, 0.3, 0.1]]
    texts = BagOfWordsDistribution(BernoulliDistribution(p), ["a", "b", "c", "d", "e"])
    assert [s.name for s in texts.parameters(["text"], [None])] == [f"p({w})" for w in "baedc"]


def test_hashed_words_go_by_their_numbers():
    from posterior.families import BagOfWords

    family = BagOfWords(hashing=4)
    texts = np.array([["cheap cheap watches"], ["meeting at noon"]], dtype=object)
    fitted = family.estimate(family.summarize(texts, np.array([0, 1]), None, 2))
    assert {s.name for s in fitted.parameters(["text"], [None])} == {"p(0)", "p(1)", "p(2)", "p(3)"}


def test_of_a_joint_table_of_very_many_cells_some_are_listed_in_the_order_of_the_table():
    side = int(np.sqrt(2 * LISTED_CELLS))
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(side * side), size=2).reshape(2, side, side)
    shown = CategoricalDistribution(p).parameters(["a", "b"], [None, None])
    places = [tuple(int(code) for code in s.name[2:-1].split(", ")) for s in shown]
    assert len(places) == LISTED_CELLS
    assert places == sorted(places)
    assert all(np.allclose(s.values, p[:, i, j]) for s, (i, j) in zip(shown, places, strict=True))


def test_classes_of_given_distributions_may_come_in_any_order():
    heights = NormalDistribution(mean=[[178.0], [165.0], [120.0]], variance=[[49.0], [36.0], [100.0]])
    sexes = CategoricalDistribution([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], categories=["m", "f"])
    blocks = [("height", heights), ("letter", sexes)]
    model = GenerativeClassifier.from_distributions(["man", "woman", "child"], [0.3, 0.5, 0.2], blocks)
    assert model.classes_.tolist() == ["child", "man", "woman"]
    np.testing.assert_allclose(model.priors_, [0.2, 0.3, 0.5])
    density = np.exp(model.class_log_density([[170.0, "m"]]))[0]
    expected = scipy_stats.norm([120, 178, 165], [10, 7, 6]).pdf(170.0) * [0.5, 0.9, 0.2]
    np.testing.assert_allclose(density, expected)
    with pytest.raises(ValueError, match="classes must be distinct"):
        GenerativeClassifier.from_distributions(["man", "man", "child"], None, blocks)
