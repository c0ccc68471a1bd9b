"""The built site: links, numbers of the ideas, and every page in a browser; and the checker itself."""

import pytest

from chromium import installed
from places import REPOSITORY, module_from

SITE = REPOSITORY / "docs" / "_build" / "html"
check = module_from(REPOSITORY / "scripts" / "check_site.py")


@pytest.fixture
def small_site(tmp_path):
    """Two pages: one refers to the other, and shows M07."""

    def write(first, second="<section id='here'><p>M08</p></section>"):
        for name, body in (("a.html", first), ("b.html", second)):
            (tmp_path / name).write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
        return tmp_path

    return write


def test_links_that_lead_somewhere_are_not_told_of(small_site):
    assert not list(
        check.wrong(small_site("<a href='b.html#here'>b</a><a href='https://x.org'>x</a>"), ["links"])
    )


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<a href='c.html'>c</a>", "c.html does not exist"),
        ("<a href='b.html#there'>b</a>", "there is no there in b.html"),
        ("<img src='picture.png'>", "picture.png does not exist"),
        ("<script src='https://cdn.example.org/x.js'></script>", "loads https://cdn.example.org/x.js"),
    ],
)
def test_links_that_lead_nowhere_and_networks_are_told_of(small_site, body, told):
    (found,) = check.wrong(small_site(body), ["links"])
    assert told in found


def test_an_id_is_shown_where_its_section_has_a_figure_or_an_output(small_site):
    shown = "<section><h2>M07</h2><div class='cell_output'>1</div></section><section>M09</section>"
    found = set(check.wrong(small_site(shown), ["ideas"]))
    assert not any(line.startswith("M07") for line in found)
    assert {line[:3] for line in found} == set(check.IDEAS) - {"M07"}


def test_a_figure_in_another_section_does_not_show_an_id(small_site):
    apart = "<section><section><h2>M07</h2></section><section><svg></svg></section></section>"
    assert any(line.startswith("M07") for line in check.wrong(small_site(apart), ["ideas"]))


@pytest.mark.long
@pytest.mark.skipif(
    installed() is None, reason="needs Chromium, as in Debian's package `chromium`, on the path"
)
def test_pages_that_are_too_wide_or_shout_are_told_of(small_site):
    wide = "<article><div style='width: 3000px'>wide</div></article>"
    site = small_site(wide, "<script>console.error('no')</script>")
    found = list(check.wrong(site, ["browser"]))
    assert any(line.startswith("a.html at 390") for line in found)
    assert any(line.startswith("b.html: console") for line in found)


@pytest.mark.long
@pytest.mark.parametrize("part", ["links", "ideas", "browser"])
def test_the_built_site_is_whole(part):
    if not (SITE / "index.html").exists():
        pytest.skip("the site has not been built; `make docs` builds it, and checks it too")
    if part == "browser" and installed() is None:
        pytest.skip("needs Chromium, as in Debian's package `chromium`, on the path")
    assert not list(check.wrong(SITE, [part]))
