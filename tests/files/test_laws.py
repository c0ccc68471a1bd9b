"""What is written is read again, and bytes of any kind are a table or are refused in one line."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posterior.files import FileError, read, write_batches
from posterior.files.wide import wide_cells

PEOPLE = pa.table(
    {
        "name": ["Ann", 'Bob "B"', "Çağla,\nthird", None, "NA", "日本", " padded"],
        "age": [31, 42, None, 7, -1, 0, 2**53],
        "height": [1.5, 2.0, 0.1, None, 1e22, -1e-7, 5e-324],
        "member": [True, False, None, True, True, False, False],
        "zip": ["00123", "10001", None, "00000", "7", "8", "9"],
    }
)


NASTY = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12) | st.sampled_from(
    [
        "NA",
        "",
        "nan",
        '"',
        '""',
        ",",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "007",
        "1.50",
        "true",
        " x ",
        "=1+1",
        "'",
        "\\",
        "?",
    ]
)


@given(
    st.lists(
        st.tuples(NASTY | st.none(), st.floats(allow_nan=False) | st.none(), NASTY), min_size=1, max_size=8
    ),
    st.sampled_from(["csv", "tsv"]),
    st.booleans(),
)
def test_delimited_text_gives_back_what_was_written(tmp_path_factory, rows, form, twice):
    first, middle, last = zip(*rows, strict=True)
    table = pa.table(
        {
            "a": pa.array(first, pa.string()),
            "b": pa.array(middle, pa.float64()),
            "c": pa.array(last, pa.string()),
        }
    )
    path = tmp_path_factory.mktemp("law") / f"t.{form}"
    write_batches(path, [table, table] if twice else [table])
    found = read(path, trim=False, types={"a": "text", "b": "number", "c": "text"})
    expected = [
        # A text without a character is the one thing that delimited text cannot tell from a gap.
        {name: None if cell == "" else cell for name, cell in row.items()}
        for row in table.to_pylist()
    ]
    assert found.to_pylist() == expected * (1 + twice)


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@given(
    st.lists(NASTY.filter(lambda name: name.strip()), min_size=1, max_size=4, unique_by=str.strip),
    st.sampled_from(["csv", "tsv", "jsonl", "parquet", "arrow"]),
)
def test_names_of_columns_survive(tmp_path_factory, names, form):
    names = [name.strip() for name in names]
    path = tmp_path_factory.mktemp("law") / f"t.{form}"
    write_batches(path, [pa.table([[1]] * len(names), names=names)])
    assert read(path).column_names == names


@given(
    st.lists(
        st.fixed_dictionaries(
            {"s": NASTY | st.none(), "x": st.floats(allow_nan=False, allow_infinity=False)}
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["jsonl", "parquet", "arrow"]),
)
def test_formats_with_types_give_back_what_was_written(tmp_path_factory, rows, form):
    table = pa.Table.from_pylist(rows, pa.schema({"s": pa.string(), "x": pa.float64()}))
    path = tmp_path_factory.mktemp("law") / f"t.{form}"
    write_batches(path, [table])
    assert read(path).to_pylist() == rows


def is_table_or_refused(path):
    try:
        return read(path).num_rows > 0
    except FileError as error:
        return len(str(error).splitlines()) == 1


@given(
    st.binary(max_size=300),
    st.sampled_from(["t.csv", "t.tsv", "t.jsonl", "t.parquet", "t.arrow", "t", "t.gz"]),
)
def test_bytes_of_any_kind_are_a_table_or_an_error_of_one_line(tmp_path_factory, content, name):
    path = tmp_path_factory.mktemp("law") / name
    path.write_bytes(content)
    assert is_table_or_refused(path)


@given(
    st.data(), st.sampled_from(["csv", "jsonl", "parquet", "arrow", "csv.gz", "csv.zst", "csv.xz", "csv.bz2"])
)
def test_files_that_were_damaged_are_a_table_or_an_error_of_one_line(tmp_path_factory, data, form):
    path = tmp_path_factory.mktemp("law") / f"t.{form}"
    write_batches(path, [PEOPLE])
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[at:]
    else:
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    assert is_table_or_refused(path)


CELL = st.sampled_from(
    ["1", "2.5", "-3", "NA", "", " NA ", "x", "007", "'=1", '"a"', '"a,b"', '"c\nd"', 'q"', "é", "1e5"]
)
LINE = st.lists(CELL, min_size=2, max_size=2) | st.lists(CELL, min_size=1, max_size=3) | st.just([])


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@settings(max_examples=200)
@given(st.lists(LINE, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.integers(8, 64))
def test_wide_tables_are_read_as_others_are(tmp_path_factory, lines, end, last, block):
    text = end.join(["a,b", *map(",".join, lines)]) + end * last
    path = tmp_path_factory.mktemp("law") / "t.csv"
    path.write_bytes(text.encode())

    def outcome(wide):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("posterior.files.text.WIDE", wide)
            patch.setattr("posterior.files.wide.BLOCK", block)
            patch.setattr("posterior.files.text.wide_cells", lambda text, _, do: wide_cells(text, block, do))
            try:
                return read(path)
            except FileError as error:
                return str(error)

    assert outcome(2) == outcome(3)
