"""Build ``src/posterior/datasets/penguins.csv`` from the PyPI package ``palmerpenguins``.

The data are CC0 (Horst, Hill & Gorman 2020; Gorman, Williams & Fraser 2014), the package's code is MIT. The
bundled file was made with version 0.1.6. The source writes a gap as NA; here it is an empty cell.

Run ``python scripts/build_penguins.py [penguins.csv] [--output FILE]``.
"""

import argparse
import csv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "posterior" / "datasets" / "penguins.csv"
HEADER = (
    "species", "island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex", "year",
)  # fmt: skip


def default_source() -> Path:
    """Return the table inside the installed palmerpenguins, found without importing that package."""
    spec = find_spec("palmerpenguins")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            "palmerpenguins is not installed; run `pip install palmerpenguins` "
            "or pass the path of its penguins.csv"
        )
    return Path(spec.submodule_search_locations[0], "data", "penguins.csv")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Build the penguin table.")
    parser.add_argument("source", nargs="?", type=Path, help="penguins.csv (default: that of palmerpenguins)")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    with (options.source or default_source()).open(encoding="utf-8", newline="") as file:
        penguins = list(csv.DictReader(file))
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(["" if bird[name] == "NA" else bird[name] for name in HEADER] for bird in penguins)


if __name__ == "__main__":
    main()
