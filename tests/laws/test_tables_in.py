"""The same content gives the same model, whatever table it comes in; and what comes out again."""

import pickle
import re

import narwhals.selectors as ncs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector

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
)
from posterior.datasets import load_penguins, load_pokemon
from posterior.estimators.discrete import DiscreteNB
from posterior.estimators.precision import in_double
from posterior.families import (
    Bernoulli,
    Categorical,
    Laplace,
    Multinomial,
    MultivariateNormal,
    Normal,
    Poisson,
)
from posterior.notices import DataWarning, OutsideSupportWarning, UnseenCategoryWarning

N = 120
RNG = np.random.default_rng(5)
K = np.arange(N) % 3
Y = np.array(["ash", "birch", "cedar"])[K]
NUMBERS = RNG.normal(size=(N, 3)) @ np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 2.0]]) + K[:, None]
GAPS = np.where(RNG.random((N, 3)) < 0.1, np.nan, NUMBERS)
COUNTS = RNG.poisson(0.5 + np.column_stack([K, 2 - K, np.ones(N), np.ones(N)])).astype(float)
COLOURS = np.array(["blue", "green", "red"])
MIXED = pd.DataFrame(
    {
        "size": GAPS[:, 0],
        "visits": COUNTS[:, 0].astype(int),
        "colour": pd.Series(COLOURS[RNG.integers(3, size=N)]).mask(RNG.random(N) < 0.1),
        "member": NUMBERS[:, 1] > 1,
    }
)
NAMES = ["size", "mass", "wait"]

ON_GAPS = [
    NaiveBayes(tied=False, weights=1.0),
    GenerativeClassifier(),
    GaussianNB(),
    BernoulliNB(),
    NaiveBayes(families={"continuous": Laplace()}, tied=False, weights=1.0),
]
ON_NUMBERS = [
    GaussianDiscriminantAnalysis(tied=0.3, shrinkage="ledoit-wolf"),
    LDA(),
    QDA(),
    GenerativeClassifier([([0, 1], MultivariateNormal()), (2, Normal())]),
]
ON_COUNTS = [MultinomialNB(), BernoulliNB(), CategoricalNB(), GaussianNB(), LDA()]


def posteriors(model, table, y=Y):
    return clone(model).fit(table, y).predict_log_proba(table)


def agree(model, tables, y=Y, tolerance=1e-12):
    first, *others = [posteriors(model, table, y) for table in tables]
    assert np.isfinite(first).all()
    for other in others:
        np.testing.assert_allclose(other, first, rtol=tolerance, atol=tolerance)


def frames(array, names=NAMES):
    """The numbers of an array in every kind of data frame, gaps as nulls."""
    plain = pd.DataFrame(array, columns=names)
    cells = {
        name: [None if np.isnan(v) else v for v in column]
        for name, column in zip(names, array.T, strict=True)
    }
    return {
        "pandas": plain,
        "pandas, nullable": plain.astype("Float64"),
        "pandas, arrow": pd.DataFrame({k: pd.array(v, dtype="double[pyarrow]") for k, v in cells.items()}),
        "pandas, objects": pd.DataFrame(cells, dtype=object),
        "polars": pl.DataFrame(cells, schema=dict.fromkeys(names, pl.Float64)),
        "pyarrow": pa.table({k: pa.array(v, pa.float64()) for k, v in cells.items()}),
    }


# ---------------------------------------------------------------- the same content


@pytest.mark.parametrize("model", [*ON_GAPS, *ON_NUMBERS], ids=str)
def test_arrays_and_lists_in_any_layout_give_the_same_posteriors(model):
    values = GAPS if any(model is m for m in ON_GAPS) else NUMBERS
    wide = np.empty((2 * N, 6))
    wide[::2, ::2] = values
    agree(
        model,
        [
            np.ascontiguousarray(values),
            np.asfortranarray(values),
            wide[::2, ::2],
            values.astype(object),
            values.tolist(),
            tuple(map(tuple, values.tolist())),
        ],
    )


@pytest.mark.parametrize("model", [*ON_GAPS, *ON_NUMBERS], ids=str)
def test_float32_gives_the_posteriors_of_the_same_numbers_in_float64(model):
    values = (GAPS if any(model is m for m in ON_GAPS) else NUMBERS).astype(np.float32)
    tables = [values, np.asfortranarray(values), pd.DataFrame(values, columns=NAMES)]
    with in_double():
        agree(model, [values.astype(np.float64), *tables])
    fitted = clone(model).fit(values, Y)
    with in_double():
        want = fitted.predict_log_proba(values)
    for table in tables:
        found = clone(model).fit(table, Y).predict_log_proba(table)
        assert found.dtype == (np.float64 if isinstance(model, DiscreteNB) else np.float32)
        np.testing.assert_allclose(found, want, rtol=2e-7, atol=1e-9)


@pytest.mark.parametrize("model", [*ON_GAPS, *ON_NUMBERS], ids=str)
def test_every_data_frame_gives_the_posteriors_of_the_array(model):
    values = GAPS if any(model is m for m in ON_GAPS) else NUMBERS
    agree(model, [values, *frames(values).values()])


@pytest.mark.parametrize("model", ON_COUNTS, ids=str)
def test_sparse_matrices_give_the_posteriors_of_the_dense_array(model):
    formats = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array]
    agree(model, [COUNTS, COUNTS.astype(int), *(make(COUNTS) for make in formats)])


def test_a_sparse_table_of_counts_is_a_dense_table_declared_so():
    dense = NaiveBayes(kinds=[(slice(None), "count")], tied=False, weights=1.0)
    np.testing.assert_allclose(
        posteriors(NaiveBayes(tied=False, weights=1.0), sparse.csr_array(COUNTS)),
        posteriors(dense, COUNTS),
        atol=1e-12,
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, bool])
def test_whole_numbers_of_any_type_are_the_same_numbers(dtype):
    values = (COUNTS > 1).astype(dtype)
    for model in (GaussianNB(), BernoulliNB(), MultinomialNB(), CategoricalNB(), LDA()):
        with in_double():
            agree(model, [values.astype(np.float64), values])


def mixed_tables():
    """The mixed table in every data frame, in every way to store a string or a gap."""
    lists = {name: [None if pd.isna(v) else v for v in MIXED[name]] for name in MIXED}
    polars = pl.DataFrame(lists)
    return {
        "pandas": MIXED,
        "pandas, objects": MIXED.assign(colour=pd.Series(lists["colour"], dtype=object)),
        "pandas, nullable": MIXED.astype(
            {"size": "Float64", "visits": "Int64", "colour": "string", "member": "boolean"}
        ),
        "pandas, arrow": MIXED.astype(
            {
                "size": "double[pyarrow]",
                "visits": "int64[pyarrow]",
                "colour": "string[pyarrow]",
                "member": "bool[pyarrow]",
            }
        ),
        "pandas, categories": MIXED.astype({"colour": pd.CategoricalDtype(list(COLOURS))}),
        "polars": polars,
        "polars, categories": polars.with_columns(pl.col("colour").cast(pl.Categorical)),
        "polars, enum": polars.with_columns(pl.col("colour").cast(pl.Enum(list(COLOURS)))),
        "pyarrow": polars.to_arrow(),
        "pyarrow, dictionary": pa.table(lists).set_column(
            2, "colour", pa.array(lists["colour"]).dictionary_encode()
        ),
        "objects": np.array(list(zip(*lists.values(), strict=True)), dtype=object),
        "lists": [list(row) for row in zip(*lists.values(), strict=True)],
    }


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(tied=False, weights=1.0),
        NaiveBayes(kinds={1: "count"}, tied=True, weights=1.0),
        GenerativeClassifier(
            [(0, Normal()), (1, Poisson()), (2, Categorical()), (3, Bernoulli())], prior_smoothing=1.0
        ),
        GenerativeClassifier([([2, 3], Categorical(joint=True))]),
    ],
    ids=["naive Bayes", "counts", "composed", "joint"],
)
def test_a_mixed_table_gives_the_same_posteriors_in_every_container(model):
    agree(model, mixed_tables().values())


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_the_penguins_are_the_same_birds_in_every_library(backend):
    ours, theirs = load_penguins("pandas"), load_penguins(backend)
    a, b = (
        NaiveBayes(tied=False, weights=1.0).fit(ours.X, ours.y),
        NaiveBayes(tied=False, weights=1.0).fit(theirs.X, theirs.y),
    )
    np.testing.assert_array_equal(a.predict_log_proba(ours.X), b.predict_log_proba(theirs.X))
    np.testing.assert_array_equal(a.predict_log_proba(theirs.X), b.predict_log_proba(ours.X))


@pytest.mark.parametrize(
    "make", [list, np.array, pd.Series, pd.Categorical, pl.Series, lambda y: pa.array(list(y))]
)
def test_the_class_column_may_be_of_any_kind(make):
    expected = NaiveBayes(tied=False, weights=1.0).fit(MIXED, Y)
    model = NaiveBayes(tied=False, weights=1.0).fit(MIXED, make(Y))
    assert model.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_array_equal(model.predict_log_proba(MIXED), expected.predict_log_proba(MIXED))


# ---------------------------------------------------------------- names, order and selections


@settings(max_examples=20, deadline=None, derandomize=True)
@given(order=st.permutations(list(MIXED)), name=st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_columns_in_any_order_are_matched_by_name_in_prediction(order, name):
    table = mixed_tables()[name]
    model = NaiveBayes(tied=False, weights=1.0).fit(table, Y)
    shuffled = table.select(order) if name != "pandas" else table[order]
    np.testing.assert_array_equal(model.predict_log_proba(shuffled), model.predict_log_proba(table))


@pytest.mark.parametrize("model", [GaussianNB(), LDA(), QDA(), BernoulliNB()], ids=str)
def test_the_drop_ins_match_columns_by_name_too(model):
    table = pd.DataFrame(NUMBERS, columns=NAMES)
    model = clone(model).fit(table, Y)
    np.testing.assert_array_equal(model.predict_log_proba(table[NAMES[::-1]]), model.predict_log_proba(table))


@pytest.mark.parametrize(
    "kinds",
    [
        {"visits": "categorical"},
        {1: "categorical"},
        {-3: "categorical"},
        {("visits",): "categorical"},
        {re.compile("^vis"): "categorical"},
        [(re.compile("^vis"), "categorical")],
        [(slice("visits", "visits"), "categorical")],
        [(slice(1, 2), "categorical")],
        [([False, True, False, False], "categorical")],
        [(make_column_selector(pattern="^vis"), "categorical")],
        [(make_column_selector(dtype_include="int64"), "categorical")],
        [(ncs.matches("^vis"), "categorical")],
        [(slice(0, 2), "count"), ("size", "continuous"), ("visits", "categorical")],
    ],
)
def test_kinds_may_be_given_by_name_position_pattern_or_selector(kinds):
    model = NaiveBayes(kinds=kinds, tied=False, weights=1.0).fit(MIXED.assign(size=MIXED["size"].abs()), Y)
    assert model.schema_.kinds == ("continuous", "categorical", "categorical", "binary")
    reference = NaiveBayes(kinds={"visits": "categorical"}, tied=False, weights=1.0).fit(
        MIXED.assign(size=MIXED["size"].abs()), Y
    )
    np.testing.assert_array_equal(model.predict_log_proba(MIXED), reference.predict_log_proba(MIXED))


@pytest.mark.parametrize(
    "columns",
    [["size", "mass"], [0, 1], slice(0, 2), slice("size", "mass"), re.compile("s"), [True, True, False]],
    ids=str,
)
def test_features_may_be_given_by_name_position_slice_pattern_or_mask(columns):
    table = pd.DataFrame(NUMBERS, columns=NAMES)
    model = GenerativeClassifier([(columns, MultivariateNormal())], remainder="auto").fit(table, Y)
    alone = Normal(variance_rows=10)
    reference = GenerativeClassifier([([0, 1], MultivariateNormal()), (2, alone)]).fit(table, Y)
    np.testing.assert_allclose(model.predict_log_proba(table), reference.predict_log_proba(table), atol=1e-12)


def test_features_may_be_given_by_scikit_learns_selector():
    model = GenerativeClassifier(
        [
            (make_column_selector(dtype_include="float"), Normal()),
            (make_column_selector(pattern="colour"), Categorical()),
        ]
    ).fit(MIXED, Y)
    reference = GenerativeClassifier([("size", Normal()), ("colour", Categorical())]).fit(MIXED, Y)
    np.testing.assert_array_equal(model.predict_log_proba(MIXED), reference.predict_log_proba(MIXED))


def test_the_schema_prints_every_column_with_its_kind_and_a_reason():
    schema = NaiveBayes(kinds={"visits": "count"}, tied=False, weights=1.0).fit(MIXED, Y).schema_
    lines = str(schema).splitlines()
    assert lines[0].split() == ["column", "kind", "levels", "why"]
    reasons = {
        "size": "float",
        "visits": "declared",
        "colour": "strings, 3 categories",
        "member": "true/false",
    }
    for line, column in zip(lines[1:], schema.columns, strict=False):
        assert line.startswith(column.name)
        assert column.kind in line
        assert column.reason
        assert reasons[column.name] in line
    assert lines[-1].startswith("Rule:")


# ---------------------------------------------------------------- columns that are pointed out


def test_constant_identifier_and_duplicate_columns_are_pointed_out_in_one_warning():
    table = MIXED.assign(
        flat=3.0,
        same="x",
        key=[f"row{i}" for i in range(N)],
        again=MIXED["size"],
    )
    with pytest.warns(DataWarning) as caught:
        model = NaiveBayes(tied=False, weights=1.0).fit(table, Y)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "'flat' is constant: no effect" in message
    assert "'same' is constant: no effect" in message
    assert "'key' has a category for nearly every row, like an identifier: left out" in message
    assert "declare its kind" in message
    assert "'again' repeats 'size'" in message
    assert "counts twice" in message
    found = {(note.problem, note.columns[0], note.left_out) for note in model.notes_}
    assert found == {
        ("constant", "flat", True),
        ("constant", "same", True),
        ("identifier", "key", True),
        ("duplicate", "again", False),
    }


LEFT_OUT = {
    "constant number": ({"extra": 3.0}, NaiveBayes(tied=False, weights=1.0)),
    "constant string": ({"extra": "x"}, NaiveBayes(tied=False, weights=1.0)),
    "constant truth": ({"extra": True}, NaiveBayes(tied=False, weights=1.0)),
    "only gaps": ({"extra": np.nan}, NaiveBayes(tied=False, weights=1.0)),
    "identifier": ({"extra": [f"row{i}" for i in range(N)]}, NaiveBayes(tied=False, weights=1.0)),
    "constant number, composed": ({"extra": 3.0}, GenerativeClassifier()),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_a_column_that_is_left_out_has_no_effect_on_any_posterior(case):
    columns, model = LEFT_OUT[case]
    table = MIXED.assign(**columns)
    with pytest.warns(DataWarning, match="'extra'"):
        fitted = clone(model).fit(table, Y)
    np.testing.assert_allclose(fitted.predict_log_proba(table), posteriors(model, MIXED), atol=1e-12)


@pytest.mark.parametrize(
    "model", [LDA(), QDA(), GaussianDiscriminantAnalysis(tied=0.5), LDA(shrinkage="auto")], ids=str
)
@pytest.mark.parametrize("extra", ["constant", "repeated", "sum"])
def test_a_column_that_a_gaussian_block_leaves_out_has_no_effect_on_any_posterior(model, extra):
    plain = pd.DataFrame(NUMBERS, columns=NAMES)
    values = {"constant": 7.0, "repeated": plain["mass"], "sum": plain.sum(axis=1)}[extra]
    table = plain.assign(extra=values)
    with pytest.warns(DataWarning, match="'extra' is") as caught:
        fitted = clone(model).fit(table, Y)
    assert len(caught) == 1
    np.testing.assert_allclose(
        fitted.predict_log_proba(table), posteriors(model, plain), rtol=1e-9, atol=1e-9
    )


def test_a_count_that_is_always_zero_has_no_effect_on_a_multinomial_block():
    model = GenerativeClassifier([(slice(None), Multinomial(alpha=0.5))])
    with pytest.warns(DataWarning, match="'x4' is constant"):
        fitted = clone(model).fit(np.column_stack([COUNTS, np.zeros(N)]), Y)
    found = fitted.predict_log_proba(np.column_stack([COUNTS, np.zeros(N)]))
    np.testing.assert_allclose(found, posteriors(model, COUNTS), atol=1e-12)


def test_an_identifier_that_the_user_declares_is_used():
    table = MIXED.assign(key=[f"row{i}" for i in range(N)])
    with pytest.warns(DataWarning, match="'key'.*kept"):
        model = NaiveBayes(kinds={"key": "categorical"}, tied=False, weights=1.0).fit(table, Y)
    assert (
        np.abs(model.predict_log_proba(table) - posteriors(NaiveBayes(tied=False, weights=1.0), MIXED)).max()
        > 0.1
    )


def test_a_clean_table_gives_no_warning_and_no_note():
    assert NaiveBayes(tied=False, weights=1.0).fit(MIXED, Y).notes_ == ()
    assert LDA().fit(NUMBERS, Y).notes_ == ()


# ---------------------------------------------------------------- unseen categories


def test_an_unseen_category_is_left_out_by_default_with_a_warning():
    model = NaiveBayes(tied=False, weights=1.0).fit(MIXED, Y)
    with pytest.warns(UnseenCategoryWarning, match="column 'colour': 120 rows .*'teal'.*left out"):
        found = model.predict_log_proba(MIXED.assign(colour="teal"))
    np.testing.assert_array_equal(
        found, model.predict_log_proba(MIXED.assign(colour=None).astype({"colour": "string"}))
    )


def test_an_unseen_category_gets_the_smoothing_probability_if_asked_to():
    table = MIXED[["colour"]].fillna("red")
    model = NaiveBayes(unknown="smooth", alpha=0.5, tied=False, weights=1.0).fit(table, Y)
    with pytest.warns(UnseenCategoryWarning, match="column 'colour': 1 rows .*'teal'.*smoothing probability"):
        found = model.class_log_density(pd.DataFrame({"colour": ["teal"]}))
    share = 1 / (len(table) + 4)  # of a fourth colour, which no row has, among all
    np.testing.assert_allclose(np.exp(found[0]), 0.5 * 4 * share / (40 + 0.5 * 4), rtol=1e-12)


def test_an_unseen_category_is_an_error_if_asked_to():
    model = NaiveBayes(unknown="error", tied=False, weights=1.0).fit(MIXED, Y)
    with pytest.raises(ValueError, match="column 'colour': category 'teal' was not seen in training"):
        model.predict(MIXED.assign(colour="teal"))
    assert np.isfinite(model.predict_log_proba(MIXED)).all()


def test_an_unseen_category_of_a_joint_table_is_summed_over():
    table = MIXED.assign(colour=MIXED["colour"].fillna("red"))
    model = GenerativeClassifier([(["colour", "member"], Categorical(joint=True))]).fit(table, Y)
    with pytest.warns(UnseenCategoryWarning, match="'teal'"):
        found = model.predict_log_proba(table.assign(colour="teal"))
    np.testing.assert_allclose(
        found, model.predict_log_proba(table.assign(colour=pd.Series([None] * N, dtype="str"))), atol=1e-12
    )


# ---------------------------------------------------------------- tables that come out


@pytest.mark.parametrize("name", mixed_tables())
def test_samples_are_the_kind_of_table_that_was_fitted(name):
    table = mixed_tables()[name]
    model = NaiveBayes(kinds={1: "count"}, tied=False, weights=1.0).fit(table, Y)
    rows, y = model.sample(50, random_state=1)
    assert y.shape == (50,)
    assert set(y) <= set(Y)
    if isinstance(table, list):
        assert isinstance(rows, np.ndarray)
        assert rows.shape == (50, 4)
        return
    assert type(rows) is type(table)
    assert rows.shape == (50, 4)
    if not isinstance(table, np.ndarray):
        names = rows.column_names if isinstance(rows, pa.Table) else list(rows.columns)
        assert names == list(MIXED)
    assert np.isfinite(model.predict_log_proba(rows)).all()


def test_samples_of_a_sparse_model_are_sparse():
    rows, _ = MultinomialNB().fit(sparse.csr_array(COUNTS), Y).sample(7, random_state=0)
    assert sparse.issparse(rows)
    assert rows.shape == (7, 4)


@pytest.mark.parametrize(
    "model", [NaiveBayes(tied=False, weights=1.0), GenerativeClassifier([("size", Normal())])], ids=str
)
def test_the_same_seed_gives_the_same_rows(model):
    model = clone(model).fit(MIXED, Y)
    (a, y), (b, z) = model.sample(200, random_state=4), model.sample(200, random_state=4)
    pd.testing.assert_frame_equal(a, b)
    assert (y == z).all()
    c, _ = model.sample(200, random_state=5)
    assert not a["size"].equals(c["size"])
    state = np.random.RandomState(4)
    d, _ = model.sample(200, random_state=state)
    pd.testing.assert_frame_equal(a, d)


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (NaiveBayes(kinds={"visits": "count"}, tied=False, weights=1.0), MIXED),
        (GenerativeClassifier([(["colour", "member"], Categorical(joint=True)), ("size", Normal())]), MIXED),
        (LDA(), NUMBERS),
        (QDA(), NUMBERS),
        (GaussianNB(), NUMBERS),
        (MultinomialNB(), COUNTS),
        (CategoricalNB(), COUNTS.astype(int)),
        (BernoulliNB(), (COUNTS > 1).astype(int)),
    ],
    ids=lambda value: str(value) if hasattr(value, "fit") else "",
)
@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_samples_refit_to_about_the_same_model(model, table):
    model = clone(model).fit(table, Y)
    rows, y = model.sample(20_000, random_state=0)
    again = clone(model).fit(rows, y)
    assert again.classes_.tolist() == model.classes_.tolist()
    distance = np.abs(again.predict_proba(table) - model.predict_proba(table))
    assert distance.mean() < 0.01
    assert distance.max() < 0.1


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_samples_of_a_model_with_a_redundant_column_keep_the_identity(make):
    stats = ["hp", "attack", "defense", "sp_atk", "sp_def", "speed"]
    pokemon = load_pokemon("pandas")
    table = make({name: pokemon.X[name].to_numpy() for name in ["total", *stats]})
    with pytest.warns(DataWarning, match="linear combination"):
        model = LDA().fit(table, pokemon.X["legendary"])
    rows, _ = model.sample(500, random_state=3)
    assert list(rows.columns) == ["total", *stats]
    values = np.asarray(rows)
    np.testing.assert_allclose(values[:, 0], values[:, 1:].sum(axis=1), rtol=1e-9)


def test_samples_write_constant_columns_as_they_were():
    with pytest.warns(DataWarning, match="constant"):
        model = NaiveBayes(tied=False, weights=1.0).fit(MIXED.assign(flat=3.0, word="x", yes=True), Y)
    rows, _ = model.sample(20, random_state=0)
    assert (rows["flat"] == 3.0).all()
    assert (rows["word"] == "x").all()
    assert rows["yes"].all()


# ---------------------------------------------------------------- copies

EVERY = [
    (NaiveBayes(kinds={"visits": "count"}, tied=False, weights=1.0), MIXED),
    (NaiveBayes(families={"continuous": Laplace()}, tied=False, weights=1.0), MIXED),
    (GenerativeClassifier([("size", Normal()), ("colour", Categorical())], remainder="auto"), MIXED),
    (GaussianNB(), NUMBERS),
    (BernoulliNB(), COUNTS),
    (MultinomialNB(), COUNTS),
    (CategoricalNB(), COUNTS.astype(int)),
    (GaussianDiscriminantAnalysis(tied=0.5, shrinkage="oas"), NUMBERS),
    (LDA(shrinkage="auto"), NUMBERS),
    (QDA(), NUMBERS),
]


@pytest.mark.parametrize(
    ("model", "table"), EVERY, ids=lambda value: str(value) if hasattr(value, "fit") else ""
)
def test_a_pickled_estimator_predicts_the_same_bits_and_learns_on(model, table):
    model = clone(model).fit(table, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_log_proba(table).tobytes() == model.predict_log_proba(table).tobytes()
    assert copy.score_samples(table).tobytes() == model.score_samples(table).tobytes()
    assert str(copy.schema_) == str(model.schema_)
    if model.statistics_ is not None:
        a, b = copy.partial_fit(table, Y), model.partial_fit(table, Y)
        assert a.predict_log_proba(table).tobytes() == b.predict_log_proba(table).tobytes()


@pytest.mark.parametrize(
    ("model", "table"), EVERY, ids=lambda value: str(value) if hasattr(value, "fit") else ""
)
def test_a_clone_is_unfitted_and_fits_to_the_same_bits(model, table):
    model = clone(model).fit(table, Y)
    copy = clone(model)
    assert not hasattr(copy, "model_")
    assert repr(copy.get_params()) == repr(model.get_params())
    assert copy.fit(table, Y).predict_log_proba(table).tobytes() == model.predict_log_proba(table).tobytes()


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a & b", "<b>bold</b>", '"quoted"'])
def test_no_column_name_reaches_html_unescaped(name):
    table = MIXED.rename(columns={"colour": name}).assign(**{f"{name}2": COLOURS[K]})
    model = NaiveBayes(kinds={name: "categorical"}, tied=False, weights=1.0).fit(table, Y)
    for html in (model.schema_._repr_html_(), model._repr_html_()):
        for tag in ("<script>alert", "<b>bold", "a & b"):
            assert tag not in html
    assert "colour" not in model.schema_._repr_html_()


def test_no_category_reaches_html_unescaped():
    model = NaiveBayes(tied=False, weights=1.0).fit(MIXED.assign(colour=np.where(K == 0, "<i>x</i>", "y")), Y)
    assert "<i>x" not in model.schema_._repr_html_()
    assert "&lt;i&gt;x" in model.schema_._repr_html_()


def test_fitting_and_predicting_leave_the_table_as_it_was():
    table, matrix = MIXED.copy(), sparse.csr_array(COUNTS)
    array = GAPS.copy()
    NaiveBayes(tied=False, weights=1.0).fit(table, Y).predict(table)
    GaussianNB().fit(array, Y).predict(array)
    MultinomialNB().fit(matrix, Y).predict(matrix)
    pd.testing.assert_frame_equal(table, MIXED)
    np.testing.assert_array_equal(array, GAPS)
    np.testing.assert_array_equal(matrix.toarray(), COUNTS)


# ---------------------------------------------------------------- columns that are not used


def test_columns_that_no_block_names_are_not_read_and_may_be_absent_in_prediction():
    when = pd.Series(pd.date_range("2020-01-01", periods=N), index=MIXED.index)
    table = MIXED.assign(when=when, mess=[{}] * N)
    model = GenerativeClassifier([("size", Normal())]).fit(table, Y)
    expected = (
        GenerativeClassifier([("size", Normal())]).fit(MIXED[["size"]], Y).predict_log_proba(MIXED[["size"]])
    )
    np.testing.assert_array_equal(model.predict_log_proba(table), expected)
    np.testing.assert_array_equal(model.predict_log_proba(table[["size"]]), expected)
    assert model.n_features_in_ == table.shape[1]
    parts = (
        GenerativeClassifier([("size", Normal())])
        .partial_fit(table[:50], Y[:50])
        .partial_fit(table[50:], Y[50:])
    )
    np.testing.assert_allclose(parts.predict_log_proba(table), expected, atol=1e-9)
    with pytest.raises(TypeError, match=r"'mess'.*dict"):
        GenerativeClassifier([("size", Normal())], remainder="auto").fit(table, Y)


def test_a_column_of_numbers_that_came_as_strings_is_pointed_out():
    table = MIXED.assign(age=[str(i) if i % 9 else "NA" for i in range(N)])
    with pytest.warns(DataWarning, match="column 'age': read as numbers, and 'NA' .14 cells. as gaps"):
        NaiveBayes(tied=False, weights=1.0).fit(table, Y)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        NaiveBayes(tied=False, weights=1.0),
        NaiveBayes(kinds={"visits": "count"}, tied=False, weights=1.0),
    ],
)
def test_a_column_without_a_value_in_the_first_part_is_learned_from_the_next(model):
    numbers = MIXED[["size", "visits"]].astype(float)
    numbers.loc[numbers.index[:30], "visits"] = np.nan
    parts = clone(model).partial_fit(numbers[:30], Y[:30]).partial_fit(numbers[30:], Y[30:])
    whole = clone(model).fit(numbers, Y)
    np.testing.assert_allclose(parts.predict_log_proba(numbers), whole.predict_log_proba(numbers), atol=1e-9)


@pytest.mark.parametrize("gap", [np.nan, None])
@pytest.mark.parametrize(
    "model",
    [
        GenerativeClassifier([(["size", "visits"], Normal())]),
        NaiveBayes(families={"visits": Normal()}, tied=False, weights=1.0),
    ],
    ids=["features", "families"],
)
def test_a_named_column_without_a_value_in_the_first_part_counts_once(model, gap):
    numbers = MIXED[["size", "visits"]].astype(float).astype(object if gap is None else float)
    numbers.loc[numbers.index[:30], "visits"] = gap
    parts = clone(model).partial_fit(numbers[:30], Y[:30]).partial_fit(numbers[30:], Y[30:])
    whole = clone(model).fit(numbers, Y)
    np.testing.assert_allclose(parts.predict_log_proba(numbers), whole.predict_log_proba(numbers), atol=1e-9)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_negative_counts_in_prediction_are_left_out_and_counted_dense_or_sparse(layout):
    model = MultinomialNB().fit(COUNTS, Y)
    rows = COUNTS[:5].copy()
    rows[:, 1] = -2
    gaps = rows.astype(float)
    gaps[:, 1] = np.nan
    with pytest.warns(OutsideSupportWarning, match="column 'x1': 5 rows"):
        found = model.predict_log_proba(layout(rows))
    np.testing.assert_allclose(found, model.predict_log_proba(gaps), atol=1e-12)
    with pytest.warns(OutsideSupportWarning):
        assert np.isneginf(model.score_samples(layout(rows))).all()
    with pytest.warns(OutsideSupportWarning):
        parts = model.contributions(layout(rows))
    np.testing.assert_allclose(parts.values.sum(axis=1), parts.total, atol=1e-9)
