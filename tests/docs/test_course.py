"""The pages of the course run as they stand, show every idea of the checklist, and say what was measured."""

import ast
import json
import re

import pytest

from places import REPOSITORY

matplotlib = pytest.importorskip("matplotlib", reason="the pages draw")
pytest.importorskip("pandas", reason="the pages show tables")

DOCS = REPOSITORY / "docs"
PAGES = sorted((DOCS / "course").glob("*.md"))
RUN = [page for page in [*PAGES, DOCS / "claims.md"] if "code-cell" in page.read_text(encoding="utf-8")]
QUICK = {"bayes-rule.md"}  # the others take seconds
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
IDEAS = [f"M{k:02d}" for k in range(1, 45)]
LINK = re.compile(r"\]\(([\w.-]+\.md)#([\w-]+)\)")


def cells(text):
    """The code of each cell, without its options."""
    return [re.sub(r"^:.*\n", "", code, flags=re.MULTILINE) for code in CELL.findall(text)]


def sections(text):
    """Headings of the second level, each with what is under it; code is not read for headings."""
    prose = CELL.sub(lambda match: match.group(0).replace("\n#", "\n "), text)
    parts = re.split(r"^## (.+)$", prose, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def anchor(heading):
    """What Sphinx (and GitHub) make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def run(page, monkeypatch):
    """Run the cells of a page one after the other, in one namespace, and lay its figures out."""
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    monkeypatch.chdir(page.parent)
    names = {"__name__": "__main__"}
    try:
        for number, code in enumerate(cells(page.read_text(encoding="utf-8")), 1):
            exec(compile(ast.parse(code), f"{page.name}, cell {number}", "exec"), names)  # noqa: S102
            for figure in map(plt.figure, plt.get_fignums()):
                figure.draw_without_rendering()  # which warns where the layout fails
            plt.close("all")
    finally:
        plt.close("all")
    return names


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=() if p.name in QUICK else pytest.mark.long, id=p.name) for p in RUN],
)
def test_every_cell_of_a_page_runs_without_a_warning(page, monkeypatch):
    run(page, monkeypatch)


def test_the_numbers_of_the_checklist_are_asserted_on_the_pages():
    """The cells check them while the site is built; this is about the checks not getting lost."""
    checked = [
        ast.unparse(node.test)
        for page in RUN
        for code in cells(page.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Assert)
    ]
    for number in (
        "8 / 11",
        "103 / 157",
        "[[36, 34], [38, 33]]",
        "[[54, 45], [51, 45]]",
        "[[0.02563, 0.00595]]",
        "found == [d + 1, 2 * d + d * (d + 1) // 2 + 1, 2 * d + 1, 2 * (2 ** d - 1) + 1]",
    ):
        assert any(number in check for check in checked), number


def test_every_idea_has_a_section_that_runs_it():
    found = {}
    for page in RUN:
        for heading, body in sections(page.read_text(encoding="utf-8")).items():
            for idea in re.findall(r"\bM\d\d\b", heading):
                assert CELL.search(body), f"{page.name}: nothing runs under {heading!r}"
                assert idea not in found, f"{idea} is in {page.name} and in {found[idea]}"
                found[idea] = page.name
    assert sorted(found) == IDEAS


def test_no_cell_makes_markdown_whose_tables_the_site_would_show_as_bars():
    for page in RUN:
        assert "Markdown(" not in page.read_text(encoding="utf-8"), page.name


def test_the_index_leads_to_each_idea():
    index = (DOCS / "course" / "index.md").read_text(encoding="utf-8")
    lines = [line for line in index.splitlines() if re.match(r"\| M\d\d ", line)]
    assert [line[2:5] for line in lines] == IDEAS
    for line in lines:
        file, target = LINK.search(line).groups()
        headings = sections((DOCS / "course" / file).read_text(encoding="utf-8"))
        assert target in {anchor(heading) for heading in headings if line[2:5] in heading}, line
    for page in PAGES:
        assert page.stem == "index" or f"\n{page.stem}\n" in index


def test_moving_pictures_have_an_executed_figure_inside():
    for name, file in (("gaussians", "gaussians"), ("points", "comparing"), ("descent", "discriminative")):
        text = (DOCS / "course" / f"{file}.md").read_text(encoding="utf-8")
        inside = text.split(f'<div class="posterior-live" data-live="{name}">')[1].split("</div>")[0]
        assert len(CELL.findall(inside)) == 1, f"{file}: a figure for those without a script"


def test_what_the_page_of_claims_reads_is_of_the_tables_that_were_fixed():
    benchmark = (REPOSITORY / "benchmarks" / "claims.py").read_text(encoding="utf-8")
    measured = json.loads((REPOSITORY / "benchmarks" / "results" / "claims.json").read_text(encoding="utf-8"))
    (fixed,) = (
        node.value
        for node in ast.walk(ast.parse(benchmark))
        if isinstance(node, ast.AnnAssign) and node.target.id == "TABLES"
    )
    tables = [key.value for key in fixed.keys]
    for experiment in ("less_data", "robust", "overfitting"):
        assert list(measured[experiment]) == tables
    assert list(measured["faster"]) == [*tables, "generated"]
    assert measured["repeats"] == 20
