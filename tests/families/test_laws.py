"""Laws that every family obeys. A new family is one line in CASES and gets them all."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats

from examples import few_examples
from posterior.families import (
    Bernoulli,
    BestOf,
    Beta,
    Categorical,
    Exponential,
    FewValues,
    FromScipy,
    Gamma,
    Histogram,
    KernelDensity,
    Laplace,
    LogNormal,
    MixtureOfNormals,
    Multinomial,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    OneDependence,
    Poisson,
    StudentT,
    TreeAugmented,
)
from posterior.schema import Codes

K = 3


@dataclass(frozen=True)
class Case:
    family: Any
    draw: Callable[[np.random.Generator, np.ndarray], Any]
    gaps: bool = True  # whether training takes missing cells
    scales: bool = False  # whether rescaling a column leaves posteriors alone
    shifts: bool = False  # whether shifting a column leaves posteriors alone


def gaussian(rng, y):
    mix = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.2, 0.0, 1.0]])
    return rng.normal(size=(len(y), 3)) @ mix * (1 + 0.3 * y[:, None]) + 0.8 * np.outer(y, [1, -1, 0.5])


def heavy_tails(rng, y):
    return rng.standard_t(2.0 + y[:, None], size=(len(y), 3)) + 0.8 * y[:, None]


def humps(rng, y):
    return gaussian(rng, y) + 6 * np.outer(rng.random(len(y)) < 0.4, [1, 0.5, -1])


def positive(rng, y):
    return rng.gamma(1.5 + y[:, None], size=(len(y), 3)) + 1e-3


def shares(rng, y):
    return rng.beta(1.0 + y[:, None], 2.0, size=(len(y), 3)).clip(1e-9, 1 - 1e-9)


def counts(rng, y):
    return rng.poisson(1.0 + y[:, None], size=(len(y), 3)).astype(float)


def rungs(rng, y):
    return rng.binomial(4, 0.3 + 0.15 * y[:, None], size=(len(y), 3)).astype(float)


def scattered_counts(rng, y):
    return rng.negative_binomial(2, 1 / (2 + y[:, None]), size=(len(y), 3)).astype(float)


def binary(rng, y):
    return (rng.random((len(y), 3)) < 0.2 + 0.25 * y[:, None]).astype(float)


def codes(rng, y):
    array = np.stack(
        [rng.integers(0, 2 + (y > 0)), rng.integers(0, 4, len(y)), (y + rng.integers(0, 2, len(y))) % 3]
    )
    return Codes(array.T.astype(np.int32), (3, 4, 3))


CASES = {
    "normal": Case(Normal(), gaussian, scales=True, shifts=True),
    "normal-prior": Case(Normal(variance_rows=40), gaussian, scales=True, shifts=True),
    "normal-tied": Case(Normal(tied=True), gaussian, scales=True, shifts=True),
    "normal-unbiased": Case(Normal(bias=False), gaussian, scales=True, shifts=True),
    "log-normal": Case(LogNormal(), positive, scales=True),
    "laplace": Case(Laplace(), gaussian, scales=True, shifts=True),
    "student-t": Case(StudentT(), gaussian, scales=True, shifts=True),
    "student-t-ml": Case(StudentT(scale_rows=0), heavy_tails, scales=True, shifts=True),
    "histogram": Case(Histogram(), gaussian, scales=True),
    "histogram-ml": Case(Histogram(bins=5, alpha=0), humps, scales=True),
    "kernel-density": Case(KernelDensity(), humps, scales=True),
    "scipy-expon": Case(FromScipy("expon", fixed={"loc": 0.0}), positive),
    "few-values": Case(FewValues(), rungs, scales=True),
    "few-values-ml": Case(FewValues(alpha=0), rungs, scales=True),
    "few-values-as-normal": Case(FewValues(tied=True, discrete=False), rungs, scales=True, shifts=True),
    "best-of": Case(BestOf((Normal(), Histogram(bins=4))), gaussian, scales=True),
    "beta": Case(Beta(), shares),
    "gamma": Case(Gamma(), positive, scales=True),
    "exponential": Case(Exponential(), positive, scales=True),
    "poisson": Case(Poisson(), counts),
    "poisson-ml": Case(Poisson(alpha=0), counts),
    "negative-binomial": Case(NegativeBinomial(), scattered_counts),
    "negative-binomial-ml": Case(NegativeBinomial(alpha=0), scattered_counts),
    "negative-binomial-of-poisson-counts": Case(NegativeBinomial(), counts),
    "bernoulli": Case(Bernoulli(), binary),
    "bernoulli-ml": Case(Bernoulli(alpha=0), binary),
    "categorical": Case(Categorical(), codes),
    "categorical-ml": Case(Categorical(alpha=0), codes),
    "categorical-joint": Case(Categorical(joint=True), codes),
    "one-dependence": Case(OneDependence(), codes),
    "tree-augmented": Case(TreeAugmented(), codes),
    "multinomial": Case(Multinomial(), counts),
    "multinomial-ordered": Case(Multinomial(alpha=0.3, ordered=True), counts),
    "qda": Case(MultivariateNormal(), gaussian, gaps=False, scales=True, shifts=True),
    "lda": Case(MultivariateNormal(tied=1), gaussian, gaps=False, scales=True, shifts=True),
    "rda": Case(MultivariateNormal(tied=0.3), gaussian, gaps=False, scales=True, shifts=True),
    "qda-unbiased": Case(MultivariateNormal(bias=False), gaussian, gaps=False, scales=True, shifts=True),
    "diagonal": Case(MultivariateNormal(shape="diagonal"), gaussian, gaps=False, scales=True, shifts=True),
    "spherical": Case(MultivariateNormal(shape="spherical", tied=0.5), gaussian, gaps=False, shifts=True),
    "shrunk": Case(MultivariateNormal(shrinkage=0.2), gaussian, gaps=False, scales=True, shifts=True),
    "oas": Case(MultivariateNormal(shrinkage="oas"), gaussian, gaps=False, scales=True, shifts=True),
    "ledoit-wolf": Case(
        MultivariateNormal(shrinkage="ledoit-wolf"), gaussian, gaps=False, scales=True, shifts=True
    ),
    "ledoit-wolf-tied": Case(
        MultivariateNormal(shrinkage="ledoit-wolf", tied=1), gaussian, gaps=False, scales=True, shifts=True
    ),
    "mixture": Case(MixtureOfNormals(2), humps, gaps=False, scales=True, shifts=True),
    "mixture-tied": Case(MixtureOfNormals(2, shape="tied"), humps, gaps=False, scales=True, shifts=True),
    "mixture-diagonal": Case(
        MixtureOfNormals(3, shape="diagonal"), humps, gaps=False, scales=True, shifts=True
    ),
    "mixture-spherical": Case(MixtureOfNormals(2, shape="spherical"), humps, gaps=False, shifts=True),
}
every_family = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
MERGEABLE = {name: case for name, case in CASES.items() if case.family.mergeable}
every_mergeable_family = pytest.mark.parametrize("case", MERGEABLE.values(), ids=MERGEABLE.keys())
seeds = st.integers(0, 2**32 - 1)


def take(block, rows):
    return Codes(block.array[rows], block.sizes) if isinstance(block, Codes) else block[rows]


def blank(block, where):
    """The block with the cells `where` missing."""
    if isinstance(block, Codes):
        return Codes(np.where(where, -1, block.array).astype(np.int32), block.sizes)
    return np.where(where, np.nan, block)


def only(block, columns):
    if isinstance(block, Codes):
        return Codes(block.array[:, columns], tuple(block.sizes[j] for j in columns))
    return block[:, columns]


def rows_of(case, seed, n=60, gaps=True):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    block = case.draw(rng, y)
    if gaps and case.gaps:
        block = blank(block, rng.random((n, 3)) < 0.15)
    return block, y, rng


def densities(case, statistics, probe):
    return case.family.estimate(statistics).log_density(probe)


def close(a, b, tolerance):
    a, b = np.asarray(a), np.asarray(b)
    same = np.isneginf(a) & np.isneginf(b)
    finite = np.isfinite(a) & np.isfinite(b)
    assert (same | finite).all()
    a, b = np.where(finite, a, 0), np.where(finite, b, 0)
    error = np.abs(a - b) / (1 + np.abs(b))
    assert error.max(initial=0) <= tolerance, error.max()


@every_family
@given(seed=seeds, cuts=st.lists(st.integers(0, 60), max_size=6))
@few_examples
def test_parts_add_up_in_any_split_and_order(case, seed, cuts):
    block, y, rng = rows_of(case, seed)
    weight = rng.integers(1, 4, len(y)).astype(float)
    whole = case.family.summarize(block, y, weight, K)
    bounds = [0, *sorted(cuts), len(y)]
    parts = [
        case.family.summarize(take(block, slice(a, b)), y[a:b], weight[a:b], K)
        for a, b in itertools.pairwise(bounds)
    ]
    rng.shuffle(parts)
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    close(densities(case, merged, block), densities(case, whole, block), 1e-9)


@every_family
@given(seed=seeds, offset=st.sampled_from([0.0, 1e8]), scale=st.sampled_from([1e-8, 1.0, 1e8]))
@few_examples
def test_what_rows_add_up_to_is_possible_for_their_weight_and_not_for_less(case, seed, offset, scale):
    block, y, rng = rows_of(case, seed)
    if case.draw is gaussian:
        block = block * scale + offset
    weight = rng.random(len(y)) * 3 if case.family.mergeable else rng.integers(1, 4, len(y)).astype(float)
    half = len(y) // 2
    parts = [
        case.family.summarize(take(block, rows), y[rows], weight[rows], K)
        for rows in (slice(0, half), slice(half, None), slice(0, 0))
    ]
    total = np.bincount(y, weight, K)
    merged = parts[0] + parts[1] + parts[2]
    assert merged.impossible(total) == ""
    assert merged.impossible(total / 4) != ""
    assert parts[2].impossible(np.zeros(K)) == ""


@every_mergeable_family
@given(seed=seeds)
@few_examples
def test_parts_of_one_class_each_add_up(case, seed):
    block, y, _ = rows_of(case, seed)
    parts = []
    for k in range(K):
        rows = y == k
        alone = case.family.summarize(take(block, rows), np.zeros(rows.sum(), dtype=int), None, 1)
        parts.append(alone.reindex(np.array([k]), K))
    merged = parts[2] + parts[0] + parts[1]
    close(
        densities(case, merged, block), densities(case, case.family.summarize(block, y, None, K), block), 1e-9
    )


@every_family
@given(seed=seeds)
@few_examples
def test_weight_two_is_the_row_twice(case, seed):
    block, y, rng = rows_of(case, seed)
    weight = rng.integers(1, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    weighted = case.family.summarize(block, y, weight.astype(float), K)
    repeated = case.family.summarize(take(block, twice), y[twice], None, K)
    close(densities(case, weighted, block), densities(case, repeated, block), 1e-9)
    if not (fitted := case.family.estimate(weighted)).why_no_likelihood:
        again = case.family.estimate(repeated)
        close(fitted.log_likelihood(weighted), again.log_likelihood(repeated), 1e-9)


@every_family
@given(seed=seeds)
@few_examples
def test_row_order_is_irrelevant(case, seed):
    block, y, rng = rows_of(case, seed)
    order = rng.permutation(len(y))
    a = case.family.summarize(block, y, None, K)
    b = case.family.summarize(take(block, order), y[order], None, K)
    close(densities(case, b, block), densities(case, a, block), 1e-9)


@every_family
@given(seed=seeds)
@few_examples
def test_a_missing_cell_is_integrated_out(case, seed):
    block, y, _rng = rows_of(case, seed, gaps=False)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K))
    for gone in ([0], [1], [0, 2], [0, 1, 2]):
        there = [j for j in range(3) if j not in gone]
        probe = blank(block, np.isin(np.arange(3), gone))
        expected = fitted.marginal(there).log_density(only(block, there)) if there else np.zeros((len(y), K))
        close(fitted.log_density(probe), expected, 1e-10)


@every_family
@given(seed=seeds)
@few_examples
def test_terms_by_column_add_up_to_the_density(case, seed):
    block, y, rng = rows_of(case, seed)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K))
    probe = blank(block, rng.random((len(y), 3)) < 0.3)
    total = fitted.log_terms(probe).sum(axis=1) + fitted.log_base
    close(total, fitted.log_density(probe), 1e-9)


@every_family
@given(seed=seeds)
@few_examples
def test_relative_log_densities_differ_from_the_densities_by_a_term_of_the_row(case, seed):
    block, y, _ = rows_of(case, seed)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K))
    density, relative = fitted.log_density(block), fitted.log_relative(block)
    finite = np.isfinite(density).all(axis=1)
    gap = density[finite] - relative[finite]
    close(gap, np.repeat(gap[:, :1], K, axis=1), 1e-9)
    assert (np.isneginf(density) == np.isneginf(relative)).all()


@pytest.mark.parametrize(
    "case",
    [c for n, c in CASES.items() if n != "one-dependence"],
    ids=[n for n in CASES if n != "one-dependence"],
)
@given(seed=seeds)
@few_examples
def test_the_log_likelihood_of_the_statistics_is_that_of_the_rows(case, seed):
    block, y, rng = rows_of(
        case, seed, gaps=not isinstance(case.family, Multinomial | TreeAugmented) and not case.family.joint
    )
    weight = rng.integers(1, 3, len(y)).astype(float)
    statistics = case.family.summarize(block, y, weight, K)
    fitted = case.family.estimate(statistics)
    by_row = weight @ fitted.log_density(block)[np.arange(len(y)), y]
    close(fitted.log_likelihood(statistics), by_row, 1e-9)


@every_family
def test_classes_in_another_order_have_the_same_densities(case):
    block, y, _ = rows_of(case, 9, n=80, gaps=False)
    distribution = case.family.estimate(case.family.summarize(block, y, None, K))
    order = np.roll(np.arange(K), 1)
    again = distribution.of_classes(order)
    np.testing.assert_allclose(again.log_density(block), distribution.log_density(block)[:, order], rtol=1e-9)
    back = again.of_classes(np.argsort(order))
    np.testing.assert_array_equal(back.log_density(block), distribution.log_density(block))


@every_family
def test_samples_refit_to_the_model_they_came_from(case):
    block, y, rng = rows_of(case, 7, n=400, gaps=False)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K))
    many = rng.integers(0, K, 60_000)
    drawn = fitted.sample(many, rng)
    if isinstance(block, Codes):
        drawn = Codes(drawn.astype(np.int32), block.sizes)
    again = case.family.estimate(case.family.summarize(drawn, many, None, K))
    usual = fitted.log_density(block)
    usual = usual > np.nanmax(usual) - 8
    difference = np.abs(again.log_density(block)[usual] - fitted.log_density(block)[usual])
    assert np.median(difference) < (0.25 if blended(case.family) else 0.05)


def blended(family):
    """Whether the estimate lies between models or smooths, so that its samples pull it further."""
    return (
        isinstance(family, BestOf | FewValues | Histogram | KernelDensity | OneDependence)
        or getattr(family, "shrinkage", None) is not None
        or 0 < getattr(family, "tied", 0) < 1
    )


@pytest.mark.parametrize(
    "case", [c for c in CASES.values() if c.shifts], ids=[n for n, c in CASES.items() if c.shifts]
)
@given(seed=seeds)
@few_examples
def test_an_offset_of_1e8_changes_no_log_density(case, seed):
    block, y, _rng = rows_of(case, seed, n=80)
    block = np.round(block * 2**20) / 2**20  # so that adding the offset loses nothing
    offset = np.array([2.0**27, -(2.0**27), 2.0**26])
    plain = densities(case, case.family.summarize(block, y, None, K), block)
    moved = densities(case, case.family.summarize(block + offset, y, None, K), block + offset)
    close(moved, plain, 1e-9)


@pytest.mark.parametrize(
    "case", [c for c in CASES.values() if c.shifts], ids=[n for n, c in CASES.items() if c.shifts]
)
@given(seed=seeds)
@few_examples
def test_an_offset_of_1e8_for_each_class_changes_no_log_density_under_the_own_class(case, seed):
    block, y, _ = rows_of(case, seed, n=80)
    block = np.round(block * 2**20) / 2**20
    offset = np.outer([0, 1, -1], [2.0**27, 2.0**26, -(2.0**27)])[y]
    own = np.arange(len(y)), y
    plain = densities(case, case.family.summarize(block, y, None, K), block)[own]
    moved = densities(case, case.family.summarize(block + offset, y, None, K), block + offset)[own]
    close(moved, plain, 1e-8)


@pytest.mark.parametrize(
    "case", [c for c in CASES.values() if c.scales], ids=[n for n, c in CASES.items() if c.scales]
)
@given(seed=seeds)
@few_examples
def test_scales_of_1e8_and_1e_minus_8_change_densities_by_their_jacobian_only(case, seed):
    block, y, _ = rows_of(case, seed, gaps=False)
    scale = np.array([1e8, 1e-8, 3.0])
    plain = densities(case, case.family.summarize(block, y, None, K), block)
    scaled = densities(case, case.family.summarize(block * scale, y, None, K), block * scale)
    close(scaled + np.log(scale).sum(), plain, 1e-8)


CONTINUOUS = ["normal", "normal-tied", "log-normal", "laplace", "student-t", "student-t-ml", "exponential"]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_one_column_densities_integrate_to_one(name):
    case = CASES[name]
    block, y, _ = rows_of(case, 3, n=200, gaps=False)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K)).marginal([1])
    low = -np.inf if case.shifts else 0
    for k in range(K):
        middle = float(np.median(block[y == k, 1]))
        density = lambda x, k=k: float(np.exp(fitted.log_density(np.array([[x]]))[0, k]))
        area = integrate.quad(density, low, middle)[0] + integrate.quad(density, middle, np.inf)[0]
        assert area == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("name", ["qda", "lda", "rda", "oas", "spherical", "mixture", "mixture-diagonal"])
def test_gaussian_blocks_integrate_to_one(name):
    case = CASES[name]
    block, y, _ = rows_of(case, 3, n=200, gaps=False)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K)).marginal([0, 2])
    grid = np.linspace(-25, 25, 401)
    plane = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    area = np.exp(fitted.log_density(plane)).sum(axis=0) * (grid[1] - grid[0]) ** 2
    assert area == pytest.approx(np.ones(K), abs=1e-6)


def compositions(total, parts):
    if parts == 1:
        return [[total]]
    return [[i, *rest] for i in range(total + 1) for rest in compositions(total - i, parts - 1)]


SUMMED = [
    *("poisson", "negative-binomial", "bernoulli", "categorical", "categorical-joint", "multinomial"),
    *("one-dependence", "tree-augmented"),
]


@pytest.mark.parametrize("name", SUMMED)
def test_probabilities_sum_to_one(name):
    case = CASES[name]
    block, y, _ = rows_of(case, 3, n=200, gaps=False)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K))
    if isinstance(block, Codes):
        cells = np.indices(block.sizes).reshape(3, -1).T
    elif name == "multinomial":
        cells = np.array(compositions(5, 3), dtype=float)
    else:
        top = {"poisson": 40, "negative-binomial": 120}.get(name, 2)
        cells = np.indices((top, top, top)).reshape(3, -1).T.astype(float)
    assert np.exp(fitted.log_density(cells)).sum(axis=0) == pytest.approx(np.ones(K), abs=1e-9)


def negative_binomial_log_density(mean, dispersion, x):
    """By scipy; without dispersion it is a Poisson distribution."""
    some = np.where(dispersion > 0, dispersion, 1.0)
    scattered = scipy_stats.nbinom(1 / some, 1 / (1 + some * mean)).logpmf(x)
    return np.where(dispersion > 0, scattered, scipy_stats.poisson(mean).logpmf(x))


@pytest.mark.parametrize(
    ("name", "scipy_log_density"),
    [
        ("normal", lambda d, x, k: scipy_stats.norm(d.mean[k], np.sqrt(d.variance[k])).logpdf(x)),
        (
            "log-normal",
            lambda d, x, k: scipy_stats.lognorm(
                np.sqrt(d.log_normal.variance[k]), scale=np.exp(d.log_normal.mean[k])
            ).logpdf(x),
        ),
        ("laplace", lambda d, x, k: scipy_stats.laplace(d.location[k], d.scale[k]).logpdf(x)),
        (
            "student-t",
            lambda d, x, k: scipy_stats.t(d.degrees[k], d.location.value[k], d.scale[k]).logpdf(x),
        ),
        ("exponential", lambda d, x, k: scipy_stats.expon(scale=d.mean[k]).logpdf(x)),
        ("poisson", lambda d, x, k: scipy_stats.poisson(d.rate[k]).logpmf(x)),
        (
            "negative-binomial",
            lambda d, x, k: negative_binomial_log_density(d.mean[k], d.dispersion[k], x),
        ),
        ("bernoulli", lambda d, x, k: scipy_stats.bernoulli(d.probability[k]).logpmf(x)),
    ],
)
def test_densities_are_those_of_scipy(name, scipy_log_density):
    case = CASES[name]
    block, y, _ = rows_of(case, 11, gaps=False)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K))
    for k in range(K):
        close(fitted.log_density(block)[:, k], scipy_log_density(fitted, block, k).sum(axis=1), 1e-10)


def test_gaussian_and_multinomial_blocks_are_those_of_scipy():
    case = CASES["qda"]
    block, y, _ = rows_of(case, 11)
    fitted = case.family.estimate(case.family.summarize(block, y, None, K))
    counted, _, _ = rows_of(CASES["multinomial"], 11, gaps=False)
    words = CASES["multinomial"].family.estimate(CASES["multinomial"].family.summarize(counted, y, None, K))
    for k in range(K):
        theirs = scipy_stats.multivariate_normal(fitted.mean[k], fitted.covariance[k]).logpdf(block)
        close(fitted.log_density(block)[:, k], theirs, 1e-10)
        theirs = scipy_stats.multinomial(counted.sum(axis=1), words.probability[k]).logpmf(counted)
        close(words.log_density(counted)[:, k], theirs, 1e-10)


ML = {
    "normal": lambda d, s: type(d)(d.location, d.variance * s),
    "laplace": lambda d, s: type(d)(d.location, d.scale * s),
    "student-t-ml": lambda d, s: type(d)(d.location, d.scale * s, d.degrees),
    "exponential": lambda d, s: type(d)(d.mean * s),
    "poisson-ml": lambda d, s: type(d)(d.rate * s),
    "negative-binomial-ml": lambda d, s: type(d)(d.mean * s, d.dispersion),
    "qda": lambda d, s: type(d)(d.location, d.covariance * s),
    "lda": lambda d, s: type(d)(d.location, d.covariance * s),
}


@pytest.mark.parametrize("name", ML)
@given(seed=seeds)
@few_examples
def test_no_scaling_of_the_maximum_likelihood_estimate_is_more_likely(name, seed):
    case = CASES[name]
    block, y, _ = rows_of(case, seed, gaps=False)
    statistics = case.family.summarize(block, y, None, K)
    fitted = case.family.estimate(statistics)
    best = fitted.log_likelihood(statistics)
    for s in (0.9, 1.1):
        assert ML[name](fitted, s).log_likelihood(statistics) < best


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("normal", 18),
        ("normal-tied", 12),
        ("log-normal", 18),
        ("laplace", 18),
        ("student-t", 27),
        ("exponential", 9),
        ("poisson", 9),
        ("negative-binomial", 18),
        ("bernoulli", 9),
        ("categorical", 3 * (2 + 3 + 2)),
        ("categorical-joint", 3 * (36 - 1)),
        ("one-dependence", 3 * (2 + 3 + 2 + 2 * 3 + 2 * 2 + 3 * 2)),
        ("multinomial", 6),
        ("qda", 9 + 18),
        ("lda", 9 + 6),
        ("diagonal", 9 + 9),
        ("mixture", 18 + 36 + 3),
        ("mixture-tied", 18 + 18 + 3),
        ("mixture-diagonal", 27 + 27 + 6),
        ("mixture-spherical", 18 + 6 + 3),
    ],
)
def test_free_parameters_are_counted(name, expected):
    case = CASES[name]
    block, y, _ = rows_of(case, 0, gaps=False)
    assert case.family.estimate(case.family.summarize(block, y, None, K)).n_parameters == expected


@pytest.mark.parametrize("name", ["rda", "shrunk", "oas", "ledoit-wolf"])
def test_free_parameters_are_refused_where_the_count_has_no_meaning(name):
    case = CASES[name]
    block, y, _ = rows_of(case, 0)
    with pytest.raises(ValueError, match=r"no meaning here: (tied|shrinkage)"):
        _ = case.family.estimate(case.family.summarize(block, y, None, K)).n_parameters
