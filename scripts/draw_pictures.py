"""Draw the pictures of docs/pictures.md: run its code, and save every Display under the name it has there."""

import doctest
from pathlib import Path

from posterior.plot.display import Display

DOCS = Path(__file__).resolve().parents[1] / "docs"


def draw(page: str = "pictures.md") -> None:
    """Run the examples of a page up to the one that closes the figures, and save what they drew."""
    names: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples((DOCS / page).read_text(encoding="utf-8")):
        if "plt.close" not in example.source:
            exec(example.source, names)  # noqa: S102 -- our own documentation
    for name, found in names.items():
        if isinstance(found, Display):
            found.figure_.savefig(DOCS / "images" / f"{name}.png", dpi=90)


if __name__ == "__main__":
    draw()
