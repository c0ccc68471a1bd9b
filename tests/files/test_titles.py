"""Lines above the header: found where that is plain, said, and otherwise named with `skip`."""

import re

import pytest
import xlsxwriter

from posterior.cli.app import run
from posterior.files import FileError, batches, read
from posterior.notices import DataWarning

TABLE = "day,shop,sum\n1,a,7\n2,b,9\n3,c,8\n"
WITH_TITLES = {
    "one line": ("Sales report\n" + TABLE, 1),
    "padded": ("Sales report,,\n,,\n" + TABLE, 2),
    "blank lines": ("\nSales report\n\n" + TABLE, 3),
    "quoted, over two lines": ('"Sales,\nreport"\n' + TABLE, 2),
    "a key beside its value": ("Exported:,2024-12-31,,\n" + "day,shop,sum,n\n1,a,7,1\n2,b,9,2\n", 1),
    "semicolons": ("Sales, by day\n" + TABLE.replace(",", ";"), 1),
    "tabs": ("Sales report\n" + TABLE.replace(",", "\t"), 1),
    "old line ends": ("Sales report\r\r" + TABLE.replace("\n", "\r"), 2),
    "windows": ("Sales report\r\n" + TABLE.replace("\n", "\r\n"), 1),
}


@pytest.mark.parametrize("case", WITH_TITLES)
def test_a_header_that_is_plainly_lower_is_found_and_said(tmp_path, case):
    text, lines = WITH_TITLES[case]
    (tmp_path / "t.csv").write_text(text, newline="")
    spoken = "a line" if lines == 1 else f"{lines} lines"
    with pytest.warns(DataWarning, match=rf"t\.csv: {spoken} above the header left out.*\(--skip 0\)"):
        table = read(tmp_path / "t.csv")
    assert table.column_names[:3] == ["day", "shop", "sum"]
    assert table["sum"].to_pylist()[:2] == [7, 9]
    assert read(tmp_path / "t.csv", skip=lines).equals(table)
    with pytest.warns(DataWarning, match="above the header"):
        assert next(batches(tmp_path / "t.csv", types={"sum": "number"}))["sum"].to_pylist()[:2] == [7, 9]


WITHOUT = {
    "a table": TABLE,
    "an index without a name": ",a,b\n0,x,y\n1,x,z\n2,x,z\n",
    "an index of texts without a name": ",a,b\nr,x,y\ns,v,z\nt,w,q\n",
    "one column and an index": ",a\nx,y\nz,q\np,r\n",
    "one column": "text\none; two\nthree; four\nfive; six\n",
    "texts only": "name,town\nAnn,Rome\nBob,Oslo\nEve,Bonn\n",
    "gaps": "a,b,c\n1,,\n,,3\n4,5,6\n",
}


@pytest.mark.parametrize("case", WITHOUT)
def test_a_table_from_the_first_line_on_is_left_as_it_is(tmp_path, case):
    text = WITHOUT[case]
    (tmp_path / "t.csv").write_text(text)
    table = read(tmp_path / "t.csv")
    names = text.splitlines()[0].split(",")
    assert table.column_names == [name or f"column_{i}" for i, name in enumerate(names, 1)]
    assert len(table) == 3


def test_names_of_rows_as_r_writes_them_are_no_title(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nr,x,y\ns,v,z\nt,w,q\n")
    with pytest.raises(FileError, match=r"has 3 fields in line 2, where the header has 2.*--skip 1"):
        read(tmp_path / "t.csv")


def test_what_is_not_plain_is_refused_with_the_flag(tmp_path):
    (tmp_path / "t.csv").write_text("Sales 2024\nday,,sum\n1,a,7\n")
    refused = (
        'has 3 fields in line 2, where the header has 1: "day,,sum"; if the header is in this line, pass'
    )
    with pytest.raises(FileError, match=re.escape(refused)):
        read(tmp_path / "t.csv")
    assert read(tmp_path / "t.csv", skip=1).column_names == ["day", "column_2", "sum"]


def test_lines_are_counted_from_the_start_of_the_file(tmp_path):
    (tmp_path / "t.csv").write_text("Sales\nall\na,b\n1,2\n3,4,5\n")
    with pytest.raises(FileError, match=r"has 3 fields in line 5, where the header has 2"):
        read(tmp_path / "t.csv", skip=2)
    (tmp_path / "t.csv").write_text('Sales\nall\na,b\n1,2\n3,"x\n4,y\n')
    with pytest.raises(FileError, match=r"has a quote in line 5"):
        read(tmp_path / "t.csv", skip=2)


def test_nothing_is_left_below_what_is_skipped(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises(FileError, match=re.escape("is empty after 9 lines (--skip)")):
        read(tmp_path / "t.csv", skip=9)
    with pytest.raises(ValueError, match="skip must be 0 or more, not -1"):
        read(tmp_path / "t.csv", skip=-1)


def test_rows_above_the_header_of_a_sheet(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write(0, 2, "Sales report")
        for i, line in enumerate(TABLE.splitlines(), 3):
            sheet.write_row(i, 0, [int(cell) if cell.isdecimal() else cell for cell in line.split(",")])
    with pytest.warns(DataWarning, match=r'a row above the header left out, the first being "Sales report"'):
        table = read(tmp_path / "t.xlsx")
    assert table.to_pylist()[0] == {"day": 1, "shop": "a", "sum": 7}
    assert read(tmp_path / "t.xlsx", skip=1).equals(table)
    with pytest.warns(DataWarning, match="numbers as well as texts in 'column_1', 'Sales report'"):
        whole = read(tmp_path / "t.xlsx", skip=0)
    assert whole.column_names == ["column_1", "column_2", "Sales report"]


def test_a_command_says_what_it_left_out(tmp_path, capsys):
    rows = "".join(f"{i % 7},{'ab'[i % 7 > 3]}\n" for i in range(80))
    (tmp_path / "t.csv").write_text("Sales report,\nsum,shop\n" + rows)
    model = str(tmp_path / "m.posterior")
    assert run(["fit", str(tmp_path / "t.csv"), "-t", "shop", "--model", "lda", "-o", model]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert 'a line above the header left out, the first being "Sales report"' in said
    assert (
        run(["fit", str(tmp_path / "t.csv"), "--skip", "1", "-t", "shop", "--model", "lda", "-o", model]) == 0
    )
    assert "above the header" not in capsys.readouterr().err
    (tmp_path / "new.csv").write_text("title\nsum,shop\n3,a\n")
    assert run(["predict", model, str(tmp_path / "new.csv")]) == 0


@pytest.mark.parametrize("header", ["a;b;c;cls", ";b;c;cls"])
def test_decimal_commas_are_no_table_of_their_own(tmp_path, header):
    rows = "".join(f"{20 + i};{i % 4},25;1,{10 + i};{'xy'[i % 2]}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"{header}\n{rows}")
    table = read(tmp_path / "t.csv", decimal=",")
    assert table.num_rows == 60
    assert table.column_names[1:] == ["b", "c", "cls"]
    assert table["c"][0].as_py() == 1.1
    (tmp_path / "titled.csv").write_text(f"Verkäufe 2024\na;b;c;cls\n{rows}")
    with pytest.warns(DataWarning, match="a line above the header left out"):
        assert read(tmp_path / "titled.csv", decimal=",").column_names == ["a", "b", "c", "cls"]
