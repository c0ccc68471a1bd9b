"""Rows in panels of eight columns, line after line, and the products of every two columns of them.

A panel stays in the first cache of a core while those to its right are multiplied with it, and the sums of a
block stay in registers (Goto & van de Geijn, 2008, "Anatomy of high-performance matrix multiplication").
Each sum is taken row after row, so that its bits do not depend on how many registers there are.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import TABLE, kernel, step
from posterior.kernels.compiled.line_products import add_all, products
from posterior.kernels.compiled.vectors import (
    ALIGNED,
    DOUBLE,
    FUSED,
    HAS_WIDE_REGISTERS,
    WIDTH,
    _loaded,
    _spread,
)

# Columns of a panel, and bytes of a line of it.
COLUMNS = 8
LINE_BYTES = COLUMNS * WIDTH
# Columns and panels of a block of products: as many as there are registers for.
LINES, ACROSS = (8, 2) if HAS_WIDE_REGISTERS else (4, 1)
# Rows that are written together.
TOGETHER = 4


@step
def row_bases(values: Floats, pivot: Floats, first: Floats, panels: Floats) -> Any:
    """Where rows, pivots, sums of deviations and panels begin, and bytes of a row and of a line of pivots."""
    size, line = values.itemsize * values.shape[1], WIDTH * pivot.shape[1]
    return values.ctypes.data, pivot.ctypes.data, first.ctypes.data, panels.ctypes.data, size, line


@step
def next_row(bases: Any, i: int, y: Ints, weight: Floats, place: Ints) -> Any:
    """Where row i is, the pivot and the sums of its class, and the next line of its group; weight and root.

    There is one place for each class, or one for all.
    """
    x, p, s, z, size, line = bases
    k = y[i]
    g = k if len(place) > 1 else 0
    w = weight[i] if len(weight) else 1.0
    at = place[g]
    place[g] += 1
    return x + size * i, p + line * k, s + line * k, z + LINE_BYTES * at, w, np.sqrt(w)


def _put(width: int, rows: Any, table: Any) -> Any:
    """The type and the code of a step that takes `width` cells of each row."""
    vector = ir.VectorType(DOUBLE, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        taken, x_at, at, out_at, largest, _ = arguments
        kind = ir.FunctionType(vector, [vector])
        absolute = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{width}f64")

        def there(address: Any, offset: Any) -> Any:
            return builder.inttoptr(builder.add(address, offset), vector.as_pointer())

        most = builder.load(there(largest, at), align=ALIGNED)
        for row in cgutils.unpack_tuple(builder, taken):
            x, pivot, first, out, w, root = cgutils.unpack_tuple(builder, row)
            value = _loaded(builder, builder.add(x, x_at), width, table.dtype)
            v = builder.fsub(value, builder.load(there(pivot, at), align=ALIGNED))
            builder.store(builder.fmul(v, _spread(builder, root, width)), there(out, out_at), align=ALIGNED)
            product = builder.fmul(v, _spread(builder, w, width), flags=FUSED)
            sums = builder.load(there(first, at), align=ALIGNED)
            builder.store(builder.fadd(sums, product, flags=FUSED), there(first, at), align=ALIGNED)
            size = builder.call(absolute, [value])
            most = builder.select(builder.fcmp_ordered(">", size, most), size, most)
        builder.store(most, there(largest, at), align=ALIGNED)
        return context.get_dummy_value()

    return types.void(rows, *[types.int64] * 4, table), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def put_8(t: Any, rows: Any, x_at: Any, at: Any, out_at: Any, largest: Any, table: Any) -> Any:
    """Write 8 deviations of each row times its root, add them times its weight, and keep the largest |x|."""
    return _put(8, rows, table)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def put_4(t: Any, rows: Any, x_at: Any, at: Any, out_at: Any, largest: Any, table: Any) -> Any:
    """The same of 4."""
    return _put(4, rows, table)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def put_1(t: Any, rows: Any, x_at: Any, at: Any, out_at: Any, largest: Any, table: Any) -> Any:
    """The same of one."""
    return _put(1, rows, table)


@step
def put_rows(values: Floats, rows: Any, largest: Floats, panels: Floats) -> None:
    """Write rows, as `next_row` tells where they are, less their pivots, times the roots of their weights.

    Adds weighted deviations to the sums, and keeps the largest size of a value in each column.
    """
    d, size, panel, most = values.shape[1], values.itemsize, LINE_BYTES * len(panels), largest.ctypes.data
    j, out = 0, 0
    while j + COLUMNS <= d:
        put_8(rows, size * j, WIDTH * j, out, most, values)
        j += COLUMNS
        out += panel
    if j + 4 <= d:
        put_4(rows, size * j, WIDTH * j, out, most, values)
        j += 4
        out += WIDTH * 4
    while j < d:
        put_1(rows, size * j, WIDTH * j, out, most, values)
        j += 1
        out += WIDTH


@step
def set_cell(panels: Floats, r: int, j: int, value: float) -> None:
    """Write column j of line r."""
    cell = (len(panels) * (j // COLUMNS) + r) * COLUMNS + j % COLUMNS
    panels[cell // panels.shape[1], cell % panels.shape[1]] = value


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_block(
    t: Any,
    left: Any,
    across: Any,
    down: Any,
    right: Any,
    line: Any,
    n: Any,
    out: Any,
    out_line: Any,
    panel: Any,
) -> Any:
    """Add Σ over n lines of `LINES` columns times `ACROSS` panels, which lie `panel` bytes apart."""
    return products(LINES, ACROSS, side_by_side=False)


@kernel(f"void({TABLE}, int64, int64, int64, {TABLE})", inner=True)
def add_products(panels: Floats, first: int, n: int, d: int, out: Floats) -> None:
    """Add Σ x x' over n lines of panels, from the first one on, to `out`, from its diagonal on.

    `panels` has as many lines as each of them has room for; `out` has whole panels of columns, and as many
    lines.
    """
    count, line, panel = -(-d // COLUMNS), WIDTH * out.shape[1], LINE_BYTES * len(panels)
    rows, sums = panels.ctypes.data + LINE_BYTES * first, out.ctypes.data
    for i in range(count):
        for a in range(0, COLUMNS, LINES):
            left = rows + panel * i + WIDTH * a
            to = sums + line * (COLUMNS * i + a) + LINE_BYTES * i
            if (count - i) % ACROSS:
                add_all(left, WIDTH, LINE_BYTES, rows + panel * i, LINE_BYTES, n, LINES, COLUMNS, to, line)
            for j in range(i + (count - i) % ACROSS, count, ACROSS):
                right, at = rows + panel * j, to + LINE_BYTES * (j - i)
                add_block(left, WIDTH, LINE_BYTES, right, LINE_BYTES, n, at, line, panel)
