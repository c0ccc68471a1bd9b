"""Parts add up: any split, any order, any number of threads, and the sum of models."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from examples import few_examples
from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    OneDependence,
    TreeAugmented,
    threads,
)
from posterior.datasets import load_penguins
from posterior.families import (
    Bernoulli,
    Categorical,
    Exponential,
    FewValues,
    FromScipy,
    Gamma,
    Histogram,
    KernelDensity,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
)

pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")

N = 90
RNG = np.random.default_rng(3)
K = np.repeat([0, 1, 2], [45, 30, 15])[RNG.permutation(N)]
Y = np.array(["ash", "birch", "cedar"])[K]
COLOURS = np.array(["blue", "green", "red", "teal", "white"])


def with_gaps(values, share=0.15):
    return pd.Series(values).mask(RNG.random(len(values)) < share)


MIXED = pd.DataFrame(
    {
        "size": with_gaps(RNG.normal(K, 1.0)),
        "mass": np.exp(RNG.normal(0.5 * K, 0.6)),
        "wait": RNG.exponential(1.0 + K),
        "visits": RNG.poisson(1.0 + K),
        "colour": with_gaps(COLOURS[np.minimum(RNG.integers(4, size=N) + (RNG.random(N) < 0.2), 4)]),
        "shape": np.array(["round", "square"])[(RNG.random(N) < 0.2 + 0.3 * K).astype(int)],
        "member": pd.array(RNG.random(N) < 0.2 + 0.2 * K, dtype="boolean"),
    }
)
MIXED["member"] = MIXED["member"].mask(RNG.random(N) < 0.1)
NUMBERS = RNG.normal(size=(N, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.4], [0.0, 0.0, 1.0]]) + K[:, None]
WITH_GAPS = np.where(RNG.random((N, 3)) < 0.15, np.nan, NUMBERS)
COUNTS = RNG.poisson(1.0 + np.column_stack([K, 2 - K, np.ones(N), np.ones(N)])).astype(float)
DIGITS = np.column_stack([RNG.integers(5, size=N), RNG.integers(2 + K), RNG.integers(3, size=N)])


def composed(*features, **settings_):
    return GenerativeClassifier(list(features), **settings_)


CUTS = {"size": [0.0, 1.0, 2.0], "mass": [1.0, 2.5], "wait": [0.5, 2.0], "visits": [1, 2, 4]}
# A column that the first part shows no value of is in the block only if its kind is known.
WITH_KINDS = {"size": "continuous", "colour": "categorical", "member": "binary"}
MODELS = {
    "naive Bayes": (NaiveBayes(tied=False, weights=1.0), MIXED),
    "naive Bayes, counts": (
        NaiveBayes(kinds={"visits": "count", "shape": "binary"}, tied=True, weights=1.0),
        MIXED,
    ),
    "naive Bayes, smooth": (
        NaiveBayes(unknown="smooth", prior_smoothing=1.0, tied=False, weights=1.0),
        MIXED,
    ),
    "auto": (GenerativeClassifier(), MIXED),
    "OneDependence": (OneDependence(cuts=CUTS, kinds=WITH_KINDS), MIXED),
    "TreeAugmented": (TreeAugmented(cuts=CUTS, kinds=WITH_KINDS), MIXED),
    "GaussianNB": (GaussianNB(), WITH_GAPS),
    "BernoulliNB": (BernoulliNB(binarize=1.0), COUNTS),
    "BernoulliNB, sparse": (BernoulliNB(), sparse.csr_array(COUNTS)),
    "MultinomialNB": (MultinomialNB(), COUNTS),
    "MultinomialNB, sparse": (MultinomialNB(alpha=0.5), sparse.csr_array(COUNTS)),
    "CategoricalNB": (CategoricalNB(), DIGITS),
    "CategoricalNB, strings": (CategoricalNB(), MIXED[["colour", "shape"]]),
    "LDA": (LDA(), NUMBERS),
    "LDA, auto": (LDA(shrinkage="auto"), NUMBERS),
    "LDA, 0.3": (LDA(shrinkage=0.3, bias=False), NUMBERS),
    "QDA": (QDA(), NUMBERS),
    "QDA, auto": (QDA(shrinkage="auto"), NUMBERS),
    "QDA, reg_param": (QDA(reg_param=0.1), NUMBERS),
    "Normal": (composed(("size", Normal(bias=False)), ("mass", Normal(tied=True))), MIXED),
    "LogNormal": (composed((["mass", "wait"], LogNormal())), MIXED),
    "Gamma": (composed((["mass", "wait"], Gamma())), MIXED),
    "Exponential": (composed((["mass", "wait"], Exponential())), MIXED),
    "NegativeBinomial": (composed(("visits", NegativeBinomial())), MIXED),
    "StudentT": (composed((["mass", "wait"], StudentT())), MIXED),
    "Histogram": (composed((["mass", "wait"], Histogram())), MIXED),
    "FewValues": (composed(("visits", FewValues(discrete=False, tied=True)), ("wait", FewValues())), MIXED),
    "KernelDensity": (composed((["mass", "wait"], KernelDensity())), MIXED),
    "FromScipy": (composed(("mass", FromScipy("norm"))), MIXED),
    "families=auto": (NaiveBayes(families="auto", tied=False, weights=1.0), MIXED),
    "Poisson": (composed(("visits", Poisson())), MIXED),
    "Bernoulli": (composed((["member", "shape"], Bernoulli())), MIXED),
    "Categorical": (composed((["colour", "shape"], Categorical(alpha=0.5))), MIXED),
    "Categorical, joint": (composed((["colour", "shape"], Categorical(joint=True))), MIXED),
    "Categorical, numbers": (composed(("visits", Categorical())), MIXED),
    "Multinomial": (composed(([0, 1, 2, 3], Multinomial())), COUNTS),
    "MultivariateNormal": (composed((["mass", "wait"], MultivariateNormal(tied=1)), remainder="auto"), MIXED),
}
GAUSSIAN = {
    f"tied={tied}, {shape}, {shrinkage}": (
        GaussianDiscriminantAnalysis(tied=tied, shape=shape, shrinkage=shrinkage),
        NUMBERS,
    )
    for tied in (0.0, 0.3, 1.0)
    for shape in ("full", "diagonal", "spherical")
    for shrinkage in (None, "oas", "ledoit-wolf")
}


def rows_of(table, rows):
    if isinstance(table, pd.DataFrame):
        return table.iloc[rows]
    return table[rows.tolist()] if isinstance(table, pl.DataFrame) else table[rows]


def reordered(table, rng):
    """The same rows with their columns in another order, where columns have names."""
    if not isinstance(table, pd.DataFrame | pl.DataFrame):
        return table
    return table[[table.columns[j] for j in rng.permutation(table.shape[1])]]


ORDERS = {
    "as they are": lambda rng, y: np.arange(len(y)),
    "shuffled": lambda rng, y: rng.permutation(len(y)),
    "by class": lambda rng, y: np.argsort(y, kind="stable"),
    "last class first": lambda rng, y: np.argsort(y, kind="stable")[::-1],
}


@st.composite
def splits(draw):
    """Where to cut, in which order the rows come, and whether they have weights."""
    cuts = draw(st.lists(st.integers(1, N - 1), max_size=6, unique=True).map(sorted))
    return {
        "cuts": cuts,
        "order": draw(st.sampled_from(sorted(ORDERS))),
        "weighted": draw(st.booleans()),
        "shuffle_columns": draw(st.booleans()),
        "seed": draw(st.integers(0, 99)),
    }


def parts_of(table, y, split):
    rng = np.random.default_rng(split["seed"])
    weight = rng.integers(1, 5, size=len(y)) / 2.0 if split["weighted"] else None
    rows = ORDERS[split["order"]](rng, y)
    scaled = [cut * len(y) // N for cut in split["cuts"]]
    parts = []
    for part in np.split(rows, scaled):
        if len(part):
            columns = rows_of(table, part)
            columns = reordered(columns, rng) if split["shuffle_columns"] and parts else columns
            parts.append((columns, y[part], None if weight is None else weight[part]))
    return parts, weight


def shows_every_column(part):
    """Whether each column has a value; what a column of gaps would hold only later parts can tell."""
    columns = part[0]
    return sparse.issparse(columns) or bool(pd.DataFrame(columns).notna().any().all())


def streamed(model, parts):
    out = clone(model)
    for table, y, weight in parts:
        out.partial_fit(table, y, sample_weight=weight)
    return out


def same(a, b, table):
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(
        a.predict_log_proba(table), b.predict_log_proba(table), rtol=1e-9, atol=1e-9, equal_nan=False
    )


def arrays_of(value):
    """Every array inside statistics, means as plain numbers."""
    if hasattr(value, "pivot"):
        return [value.value]
    if isinstance(value, np.ndarray):
        return [value] if value.dtype.kind == "f" else []
    if isinstance(value, tuple):
        return [array for item in value for array in arrays_of(item)]
    if is_dataclass(value):
        # A mark is a fingerprint of columns in the codes of its part; what it must keep is tested below.
        names = [f.name for f in fields(value) if f.name != "mark"]
        return [array for name in names for array in arrays_of(getattr(value, name))]
    return []


def same_statistics(a, b):
    a, b = a.statistics_, b.statistics_
    assert a.n_rows == b.n_rows
    assert a.classes.tolist() == b.classes.tolist()
    assert [c.levels for c in a.schema.columns] == [c.levels for c in b.schema.columns]
    pairs = list(zip(arrays_of(a), arrays_of(b), strict=True))
    assert pairs
    for x, y in pairs:
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def holds_for_any_split(test):
    return few_examples(given(split=splits())(test))


@pytest.mark.parametrize("name", MODELS)
@holds_for_any_split
def test_partial_fit_over_any_split_is_fit(name, split):
    model, table = MODELS[name]
    parts, weight = parts_of(table, Y, split)
    whole = clone(model).fit(table, Y, sample_weight=weight)
    pieces = streamed(model, parts)
    same(pieces, whole, table)
    if shows_every_column(parts[0]):  # else columns that come later are described apart from the others
        same_statistics(pieces, whole)


@pytest.mark.parametrize("name", GAUSSIAN)
@holds_for_any_split
def test_partial_fit_over_any_split_is_fit_for_every_gaussian(name, split):
    model, table = GAUSSIAN[name]
    parts, weight = parts_of(table, Y, split)
    same(streamed(model, parts), clone(model).fit(table, Y, sample_weight=weight), table)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
@holds_for_any_split
def test_partial_fit_over_any_split_of_the_penguins_is_fit(backend, split):
    penguins = load_penguins(backend)
    table, y = penguins.X, penguins.y.to_numpy()
    parts, weight = parts_of(table, y, split)
    whole = NaiveBayes(tied=False, weights=1.0).fit(table, y, sample_weight=weight)
    pieces = streamed(NaiveBayes(tied=False, weights=1.0), parts)
    same(pieces, whole, table)
    if shows_every_column(parts[0]):
        same_statistics(pieces, whole)


@pytest.mark.parametrize("name", MODELS | GAUSSIAN)
@holds_for_any_split
def test_the_sum_of_models_is_the_model_of_all_rows_in_any_order(name, split):
    model, table = (MODELS | GAUSSIAN)[name]
    parts, weight = parts_of(table, Y, split | {"shuffle_columns": False})
    assume(all(map(shows_every_column, parts)))
    whole = clone(model).fit(table, Y, sample_weight=weight)
    fitted = [streamed(model, [part]) for part in parts]
    forth, back = reduce(lambda a, b: a + b, fitted), reduce(lambda a, b: b + a, fitted)
    right = reduce(lambda a, b: b + a, reversed(fitted))
    for total in (forth, back, right):
        same(total, whole, table)
        if total.n_features_in_ and len(parts) > 1:
            same_statistics(total, whole)


@pytest.mark.parametrize("name", MODELS | GAUSSIAN)
def test_parts_of_one_class_each_add_up(name):
    """The hardest split of all: no part knows more than one class."""
    model, table = (MODELS | GAUSSIAN)[name]
    parts = [(rows_of(table, rows), Y[rows], None) for rows in (np.flatnonzero(k == K) for k in range(3))]
    whole = clone(model).fit(table, Y)
    same(streamed(model, parts), whole, table)
    a, b, c = (streamed(model, [part]) for part in parts)
    same((a + b) + c, whole, table)
    same(c + (b + a), whole, table)


@pytest.mark.parametrize("name", MODELS | GAUSSIAN)
def test_a_part_of_one_class_and_a_part_of_all_classes_add_up(name):
    model, table = (MODELS | GAUSSIAN)[name]
    first = np.flatnonzero(K == 0)[:20]
    rest = np.setdiff1d(np.arange(N), first)
    parts = [(rows_of(table, rows), Y[rows], None) for rows in (first, rest)]
    whole = clone(model).fit(table, Y)
    same(streamed(model, parts), whole, table)
    same(streamed(model, parts[::-1]), whole, table)


@pytest.mark.parametrize("name", MODELS | GAUSSIAN)
def test_adding_changes_neither_model(name):
    model, table = (MODELS | GAUSSIAN)[name]
    a, b = streamed(model, [(rows_of(table, np.arange(50)), Y[:50], None)]), clone(model).fit(table, Y)
    before = [m.predict_log_proba(table).tobytes() for m in (a, b)]
    assert (a + b) is not a
    assert [m.predict_log_proba(table).tobytes() for m in (a, b)] == before


@pytest.mark.parametrize("name", MODELS)
def test_naming_the_classes_beforehand_is_optional(name):
    model, table = MODELS[name]
    rows = [np.flatnonzero(K == 1), np.flatnonzero(K != 1)]
    plain, named = clone(model), clone(model)
    for i, part in enumerate(rows):
        plain.partial_fit(rows_of(table, part), Y[part])
        classes = ["ash", "birch", "cedar"] if i == 0 else None
        named.partial_fit(rows_of(table, part), Y[part], classes=classes)
        assert named.classes_.tolist() == ["ash", "birch", "cedar"]
    same(plain, named, table)


def test_a_named_class_that_never_comes_has_probability_zero():
    model = NaiveBayes(tied=False, weights=1.0).partial_fit(
        MIXED, Y, classes=["ash", "birch", "cedar", "yew"]
    )
    assert model.predict_proba(MIXED)[:, 3].max() == 0
    np.testing.assert_allclose(
        model.predict_proba(MIXED)[:, :3],
        NaiveBayes(tied=False, weights=1.0).fit(MIXED, Y).predict_proba(MIXED),
        atol=1e-12,
    )


def test_a_class_that_appears_later_is_as_good_as_any():
    model = NaiveBayes(tied=False, weights=1.0)
    for k in (2, 0, 1):
        model.partial_fit(MIXED[k == K], Y[k == K])
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    same(model, NaiveBayes(tied=False, weights=1.0).fit(MIXED, Y), MIXED)


def test_longer_class_names_that_appear_later_are_kept_whole():
    model = NaiveBayes(tied=False, weights=1.0).partial_fit(MIXED[:40], np.where(K[:40] == 0, "a", "b"))
    model.partial_fit(MIXED[40:], np.where(K[40:] == 0, "a", "a much longer name"))
    assert model.classes_.tolist() == ["a", "a much longer name", "b"]


def test_weight_two_is_the_row_twice_in_parts():
    weight = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    weighted = NaiveBayes(tied=False, weights=1.0).partial_fit(MIXED[:30], Y[:30], sample_weight=weight[:30])
    weighted.partial_fit(MIXED[30:], Y[30:], sample_weight=weight[30:])
    twice = np.repeat(np.arange(N), weight.astype(int))
    same(weighted, NaiveBayes(tied=False, weights=1.0).fit(MIXED.iloc[twice], Y[twice]), MIXED)


def test_rows_of_weight_zero_are_not_there_in_any_part():
    weight = np.where(np.arange(N) % 4 == 0, 0.0, 1.5)
    there = weight > 0
    for name in ("naive Bayes", "LDA", "QDA", "GaussianNB", "MultinomialNB", "CategoricalNB, strings"):
        model, table = MODELS[name]
        rows = [np.arange(30), np.arange(30, N)]
        parts = [(rows_of(table, r), Y[r], weight[r]) for r in rows]
        kept = np.flatnonzero(there)
        whole = clone(model).fit(rows_of(table, kept), Y[kept], sample_weight=weight[kept])
        same(streamed(model, parts), whole, table)


def test_partial_fit_after_fit_adds_and_fit_after_partial_fit_starts_again():
    model = NaiveBayes(tied=False, weights=1.0).fit(MIXED[:40], Y[:40]).partial_fit(MIXED[40:], Y[40:])
    same(model, NaiveBayes(tied=False, weights=1.0).fit(MIXED, Y), MIXED)
    assert (
        model.fit(MIXED[:40], Y[:40]).predict_log_proba(MIXED[:40]).tobytes()
        == NaiveBayes(tied=False, weights=1.0).fit(MIXED[:40], Y[:40]).predict_log_proba(MIXED[:40]).tobytes()
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: [[None if i < 3 else float(i), "ab"[i % 2]] for i in rows],
        lambda rows: pl.DataFrame(
            {"n": [None if i < 3 else float(i) for i in rows], "s": ["ab"[i % 2] for i in rows]}
        ),
        lambda rows: pd.DataFrame(
            {
                "n": pd.Series([None if i < 3 else float(i) for i in rows], dtype=object),
                "s": ["ab"[i % 2] for i in rows],
            }
        ),
    ],
    ids=["lists", "polars", "pandas"],
)
def test_a_column_without_a_value_in_the_first_part_is_read_as_later_parts_show_it(make):
    rows, y = list(range(40)), np.arange(40) // 3 % 2
    whole = NaiveBayes(tied=False, weights=1.0).fit(make(rows), y)
    pieces = (
        NaiveBayes(tied=False, weights=1.0)
        .partial_fit(make(rows[:3]), y[:3])
        .partial_fit(make(rows[3:]), y[3:])
    )
    assert pieces.schema_.kinds == whole.schema_.kinds == ("continuous", "categorical")
    same(pieces, whole, make(rows))


@pytest.mark.parametrize("cut", [1, 7, 45, 89])
def test_repeated_columns_are_found_in_parts_as_in_the_whole(cut):
    table = MIXED.assign(hue=MIXED["colour"], club=MIXED["member"], bulk=MIXED["size"], other=MIXED["shape"])
    model = (
        NaiveBayes(kinds={"visits": "count"}, tied=False, weights=1.0)
        .partial_fit(table[:cut], Y[:cut])
        .partial_fit(table[cut:], Y[cut:])
    )
    found = {(note.columns, note.of) for note in model.notes_ if note.problem == "duplicate"}
    assert found == {
        (("hue",), ("colour",)),
        (("club",), ("member",)),
        (("bulk",), ("size",)),
        (("other",), ("shape",)),
    }


def test_a_column_left_out_of_a_part_as_constant_is_back_when_it_varies():
    table = pd.DataFrame({"flag": (np.arange(N) >= 40).astype(float), "size": NUMBERS[:, 0]})
    model = LDA().partial_fit(table[:40], Y[:40])
    assert [note.problem for note in model.notes_] == ["constant"]
    model.partial_fit(table[40:], Y[40:])
    assert model.notes_ == ()
    same(model, LDA().fit(table, Y), table)


# ---------------------------------------------------------------- threads

MANY = 120_000  # four chunks
BIG = np.random.default_rng(11)
BIG_K = BIG.integers(3, size=MANY)
BIG_NUMBERS = BIG.normal(size=(MANY, 4)) + BIG_K[:, None]
BIG_GAPS = np.where(BIG.random((MANY, 4)) < 0.1, np.nan, BIG_NUMBERS)
BIG_WEIGHT = BIG.random(MANY) + 0.1
BIG_FRAME = pd.DataFrame(
    {
        "size": BIG_GAPS[:, 0],
        "mass": np.exp(BIG_NUMBERS[:, 1]),
        "colour": pd.Categorical.from_codes(BIG.integers(-1, 5, size=MANY), COLOURS),
        "member": BIG_NUMBERS[:, 2] > 1,
    }
)
BIG_COUNTS = sparse.random_array(
    (MANY, 30), density=0.1, rng=BIG, format="csr", data_sampler=lambda size: BIG.poisson(3, size) + 1.0
)

LARGE = {
    "naive Bayes": (NaiveBayes(tied=False, weights=1.0), BIG_FRAME),
    "GaussianNB": (GaussianNB(), BIG_GAPS),
    "LDA": (LDA(), BIG_NUMBERS),
    "QDA": (QDA(), BIG_NUMBERS),
    "Ledoit-Wolf": (GaussianDiscriminantAnalysis(tied=0.3, shrinkage="ledoit-wolf"), BIG_NUMBERS),
    "MultinomialNB": (MultinomialNB(), BIG_COUNTS),
    "BernoulliNB": (BernoulliNB(), BIG_GAPS),
    "CategoricalNB": (CategoricalNB(), BIG_FRAME[["colour", "member"]]),
}


def bits_of(model, table, weight):
    fitted = clone(model).fit(table, BIG_K, sample_weight=weight)
    statistics = b"".join(array.tobytes() for array in arrays_of(fitted.statistics_))
    return statistics, fitted.predict_log_proba(table).tobytes()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", LARGE)
def test_one_thread_gives_the_same_bits_as_two_and_eight(name, weighted):
    model, table = LARGE[name]
    weight = BIG_WEIGHT if weighted else None
    found = set()
    for n in (1, 2, 8):
        with threads(n):
            found.add(bits_of(model, table, weight))
    assert len(found) == 1


def test_two_python_threads_fitting_at_once_give_the_same_bits():
    jobs = [(*LARGE[name], weight) for name in ("naive Bayes", "LDA") for weight in (None, BIG_WEIGHT)]
    alone = [bits_of(*job) for job in jobs]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda job: bits_of(*job), jobs)) == alone


def test_the_number_of_threads_is_set_for_the_block_and_the_thread_alone():
    from posterior.engines import n_threads

    usual = n_threads()
    with threads(3):
        assert n_threads() == 3
        with threads(5):
            assert n_threads() == 5
        assert n_threads() == 3
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(n_threads).result() == usual
    assert n_threads() == usual
