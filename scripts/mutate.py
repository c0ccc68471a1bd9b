"""Change the package in small random ways, and see whether the tests of the changed room notice.

    python scripts/mutate.py                                   # ten changes anywhere
    python scripts/mutate.py --rooms decision linear --number 40 --seed 7

A change is one comparison, sign, number, `and`, `not` or `if … else` of one file, made in a temporary copy.
The tests are those of `tests/ROOM` without the long ones, and the examples of the changed file. A change that
they pass is a survivor: it has no effect that matters, or a test is missing. Exits with 1 if there are any.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src") / "posterior"
COPIED = ("src", "tests", "scripts", "benchmarks", "examples", "docs", "README.md", "pyproject.toml")
# Rooms whose laws are those of the rooms above them.
TESTED_BY = {"stats": ("families", "generative"), "engines": ("engines", "generative")}
SWAPPED = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)),
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or)),
)
OTHER = {one: other for pair in SWAPPED for one, other in (pair, pair[::-1])}
PATIENCE = 600  # seconds: a change may make a loop endless


@dataclass(frozen=True)
class Change:
    """An expression of a file, by its place in the file's bytes, and what it becomes."""

    path: Path
    start: int
    end: int
    after: str

    def __str__(self) -> str:
        source = (ROOT / self.path).read_bytes()
        before = " ".join(source[self.start : self.end].decode().split())
        line = source.count(b"\n", 0, self.start) + 1
        return f"{self.path}:{line}: {before}  →  {self.after}"

    def made(self) -> bytes:
        """The file with the change."""
        source = (ROOT / self.path).read_bytes()
        return source[: self.start] + f"({self.after})".encode() + source[self.end :]


def main(arguments: list[str]) -> int:
    """Make the changes asked for one after the other, and print the survivors."""
    asked = _parsed(arguments)
    rng = random.Random(asked.seed)  # noqa: S311 -- any change will do
    rooms = asked.rooms or _rooms()
    survivors, green = [], set()
    with tempfile.TemporaryDirectory() as folder:
        repository = _copy(Path(folder))
        for number in range(1, asked.number + 1):
            room = rng.choice(rooms)
            change = _random_change(room, rng)
            if room not in green and not _passes(repository, room):
                sys.exit(f"the tests of {room} fail without any change: mend them first")
            green.add(room)
            noticed = _noticed(repository, room, change)
            print(f"{number}. {'noticed' if noticed else 'SURVIVED'}: {change}", flush=True)
            survivors += [] if noticed else [change]
    print(f"{asked.number - len(survivors)} of {asked.number} changes were noticed (seed {asked.seed})")
    return int(bool(survivors))


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rooms", nargs="+", choices=_rooms(), help="where to change (default: anywhere)")
    parser.add_argument("--number", type=int, default=10, help="how many changes")
    parser.add_argument("--seed", type=int, default=0, help="of the random choice")
    return parser.parse_args(arguments)


def _rooms() -> list[str]:
    """Rooms and modules of the package that have tests of their own or of the rooms above them."""
    tests = ROOT / "tests"
    rooms = {path.name for path in tests.iterdir() if (ROOT / PACKAGE / path.name / "__init__.py").exists()}
    modules = {path.stem.removeprefix("test_") for path in tests.glob("test_*.py")}
    return sorted(rooms | TESTED_BY.keys() | {m for m in modules if (ROOT / PACKAGE / f"{m}.py").exists()})


def _copy(folder: Path) -> Path:
    """The repository anew, with the real tables beside it if there are any."""
    repository = folder / "repository"
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, repository / name)
        else:
            shutil.copy2(source, repository / name)
    shared = ROOT.parent / "shared"
    if shared.exists():
        (folder / "shared").symlink_to(shared)
    return repository


def _random_change(room: str, rng: random.Random) -> Change:
    place = ROOT / PACKAGE / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    return rng.choice([change for file in files for change in _changes(file)])


def _changes(file: Path) -> Iterator[Change]:
    """Every change that can be made to the functions of a file."""
    source = file.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    for node in {n: None for function in functions for part in function.body for n in _expressions(part)}:
        place = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        for after in _mutants(node):
            yield Change(file.relative_to(ROOT), *place, after)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """What is computed in a statement; not annotations, nor what is shown in a message."""
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.expr):
        yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "ops", "op"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _expressions(child)


def _mutants(node: ast.expr) -> Iterator[str]:
    """What an expression can become."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield ast.unparse(ast.Compare(left, [OTHER[type(op)]()], [right]))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OTHER:
            yield ast.unparse(ast.BinOp(left, OTHER[type(op)](), right))
        case ast.BoolOp(op=op, values=values):
            yield ast.unparse(ast.BoolOp(OTHER[type(op)](), values))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield ast.unparse(operand)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.unparse(ast.IfExp(test, orelse, body))
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() | float() as value):
            yield repr(value + 1 if abs(value) < 2 else value * 2)


def _noticed(repository: Path, room: str, change: Change) -> bool:
    """Whether a test of the room, or an example of the file, fails with the change."""
    changed = repository / change.path
    whole = changed.read_bytes()
    changed.write_bytes(change.made())
    try:
        return not _passes(repository, room, str(change.path))
    except subprocess.TimeoutExpired:
        return True
    finally:
        changed.write_bytes(whole)


def _passes(repository: Path, room: str, *more: str) -> bool:
    folders = [f"tests/{each}" for each in TESTED_BY.get(room, (room,))]
    places = [each if (repository / each).is_dir() else f"tests/test_{room}.py" for each in folders]
    options = ("-x", "-q", "-m", "not long", "-p", "no:cacheprovider", "-p", "no:xdist")
    done = subprocess.run(  # noqa: S603 -- our own tests
        [sys.executable, "-m", "pytest", *options, *more, *places],
        cwd=repository,
        env=os.environ | {"PYTHONPATH": str(repository / "src"), "CI": "1"},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
