"""Write a table of random numbers that is larger than one wants in memory, as Parquet files.

    python scripts/make_big_parquet.py FOLDER                          # 20,000,000 x 20: 3.2 GB
    python scripts/make_big_parquet.py FOLDER --rows 100000 --strings

Columns x0, x1, … (float64) are Gaussian around means that differ by class, with correlated pairs; the
target `y` is a class 0 … 9 (--classes says how many), or "class 0" … with --strings. The same options give
the same numbers. One row group at a time is in memory. Nothing is compressed: random numbers hardly shrink,
and a reader's time is then its own.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files and say how large they are."""
    parser = argparse.ArgumentParser(description="Write a big table of random numbers as Parquet files.")
    parser.add_argument("folder", type=Path, help="made where it is missing; must hold no Parquet files")
    parser.add_argument("--rows", type=_positive, default=20_000_000)
    parser.add_argument("--columns", type=_positive, default=20)
    parser.add_argument("--classes", type=_positive, default=10)
    parser.add_argument("--files", type=_positive, default=8)
    parser.add_argument("--group-rows", type=_positive, default=1 << 18, help="rows of a row group")
    parser.add_argument("--strings", action="store_true", help='classes "class 0" … in place of 0 …')
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    if any(options.folder.glob("*.parquet")):
        parser.error(f"{options.folder} holds Parquet files already, which would be read with the new ones")
    bounds = np.linspace(0, options.rows, options.files + 1).astype(int)
    for number, n_rows in enumerate(np.diff(bounds).tolist()):
        write(options.folder / f"part-{number:03d}.parquet", n_rows, number, options)
    size = sum(path.stat().st_size for path in options.folder.glob("*.parquet"))
    print(f"{options.rows:,} rows x {options.columns} columns in {options.files} files: {size / 1e6:,.1f} MB")


def write(path: Path, n_rows: int, number: int, options: argparse.Namespace) -> None:
    """Write one file, a row group at a time; random numbers depend on the seed and the file's number."""
    means = np.random.default_rng(options.seed).normal(size=(options.classes, options.columns))
    rng = np.random.default_rng([options.seed, number])
    label = pa.string() if options.strings else pa.int64()
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(options.columns)] + [("y", label)])
    # A dictionary of numbers that are all different only costs time; that of the classes is small.
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["y"]) as writer:
        for start in range(0, n_rows, options.group_rows):
            labels = rng.integers(options.classes, size=min(options.group_rows, n_rows - start))
            columns = values(rng, means, labels)
            names = pa.array([f"class {k}" for k in range(options.classes)])
            target = names.take(pa.array(labels)) if options.strings else pa.array(labels)
            writer.write_table(pa.table([*columns, target], schema=schema), row_group_size=options.group_rows)


def values(rng: np.random.Generator, means: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """The columns of one row group; each odd one has correlation 1/2 with the one before it."""
    columns: list[np.ndarray] = []
    for j in range(means.shape[1]):
        noise = rng.normal(size=len(labels))
        if j % 2:
            before = columns[j - 1] - means[labels, j - 1]
            noise = 0.5 * before + np.sqrt(0.75) * noise
        columns.append(means[labels, j] + noise)
    return columns


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1; found {text}")
    return number


if __name__ == "__main__":
    main()
