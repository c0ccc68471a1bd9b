"""How much code there is: lines without docstrings, comments and blanks, files, classes, functions.

python scripts/code_size.py [FOLDER …]        (src/posterior by default)
"""

import ast
import io
import sys
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent / "src" / "posterior"
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


class Size(NamedTuple):
    """Numbers of files, code lines, classes and functions; sizes add up."""

    files: int = 0
    lines: int = 0
    classes: int = 0
    functions: int = 0

    def plus(self, other: "Size") -> "Size":
        """Both together."""
        return Size(*(a + b for a, b in zip(self, other, strict=True)))


def size_of(source: str) -> Size:
    r"""The size of one file.

    >>> size_of('"About."\n\n# why\nx = [\n    1,\n]\n')
    Size(files=1, lines=3, classes=0, functions=0)
    """
    tree = ast.parse(source)
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    nodes = list(ast.walk(tree))
    for node in nodes:
        alone = node.value if isinstance(node, ast.Expr) else None
        if isinstance(alone, ast.Constant) and isinstance(alone.value, str):  # a docstring
            code.difference_update(range(alone.lineno, (alone.end_lineno or alone.lineno) + 1))
    classes = sum(isinstance(node, ast.ClassDef) for node in nodes)
    functions = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes)
    return Size(1, len(code), classes, functions)


def main() -> None:
    """Print a line for each package, and one for all."""
    for folder in [Path(each) for each in sys.argv[1:]] or [ROOT]:
        by_package: dict[str, Size] = {}
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).parts
            package = parts[0] if len(parts) > 1 else "."
            size = size_of(path.read_text(encoding="utf-8"))
            by_package[package] = by_package.get(package, Size()).plus(size)
        total = Size()
        print(f"{folder.name:<16} {'files':>6} {'lines':>7} {'classes':>8} {'functions':>10}")
        for package, size in by_package.items():
            print(f"  {package:<14} {size.files:>6} {size.lines:>7} {size.classes:>8} {size.functions:>10}")
            total = total.plus(size)
        print(f"  {'all':<14} {total.files:>6} {total.lines:>7} {total.classes:>8} {total.functions:>10}")


if __name__ == "__main__":
    main()
