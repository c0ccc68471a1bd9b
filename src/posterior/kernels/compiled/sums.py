"""Sums by class: weights, dense and sparse rows (CSR); marks of columns; linear scores of sparse rows."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import CODES, NUMBERS, kernel
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.team import share_out

LANES = 4
# Labels that a thread counts at a time.
PART = 1 << 16


@kernel(f"void({CODES}, {NUMBERS}, float64[::1])")
def add_weights(y: Ints, weight: Floats, out: Floats) -> None:
    """Add the weights of the rows by class, or their number where no weights are given."""
    n = len(y)
    if len(weight) > 0:
        for i in range(n):
            out[y[i]] += weight[i]
        return
    counts = np.zeros((LANES, len(out)), np.int64)  # rows of one class that follow each other do not wait
    whole = n // LANES * LANES
    for i in range(0, whole, LANES):
        counts[0, y[i]] += 1
        counts[1, y[i + 1]] += 1
        counts[2, y[i + 2]] += 1
        counts[3, y[i + 3]] += 1
    for i in range(whole, n):
        counts[0, y[i]] += 1
    for k in range(len(out)):
        for lane in range(LANES):
            out[k] += counts[lane, k]


COUNTED = "boolean(Array({}, 1, 'C', True), int64[::1])"


@kernel(COUNTED.format("int64"), COUNTED.format("int32"))
def count_small(labels: AnyArray, count: Ints) -> bool:
    """Count whole numbers from 0 on; false, and nothing is counted, where one is not below `len(count)`."""
    n, most = len(labels), np.uint64(len(count))  # a negative number is a large one without a sign
    counts = np.zeros((LANES, len(count)), np.int64)
    whole = n // LANES * LANES
    for i in range(0, whole, LANES):
        a, b = np.uint64(labels[i]), np.uint64(labels[i + 1])
        c, e = np.uint64(labels[i + 2]), np.uint64(labels[i + 3])
        if max(a, b, c, e) >= most:
            return False
        counts[0, a] += 1
        counts[1, b] += 1
        counts[2, c] += 1
        counts[3, e] += 1
    for i in range(whole, n):
        a = np.uint64(labels[i])
        if a >= most:
            return False
        counts[0, a] += 1
    for lane in range(LANES):
        for k in range(len(count)):
            count[k] += counts[lane, k]
    return True


PARTS = f"boolean(Array({{}}, 1, 'C', True), {COUNTER}, int64, int64, int64[:, ::1])"


@kernel(PARTS.format("int64"), PARTS.format("int32"))
def count_parts(labels: AnyArray, counter: Ints, most: int, part: int, counts: Ints) -> bool:
    """Count the next parts of some labels, as `count_small` does, and end all threads where one is false."""
    for _ in range(most):
        p = take_next(counter)
        if p >= len(counts):
            break
        if not count_small(labels[p * part : (p + 1) * part], counts[p]):
            counter[0] = len(counts)
            return False
    return True


def counts_of(labels: AnyArray, most: int, workers: int) -> Ints | None:
    """How often each of 0 … most − 1 is there, by so many threads; None where there are other numbers."""
    part = max(PART, LANES * LANES * most)
    counts, counter = np.zeros((max(1, -(-len(labels) // part)), most), np.int64), np.zeros(1, np.int64)
    arguments = labels, counter, MOST, part, counts
    there = share_out(count_parts, counter, len(counts), lambda: arguments, workers)
    return np.asarray(counts.sum(axis=0)) if there else None


ROWS = "float64[::1], {0}[::1], {0}[::1]"
SUMS = f"void({ROWS}, int64[::1], float64[::1], float64[:, ::1])"


@kernel(SUMS.format("int32"), SUMS.format("int64"))
def add_sums(
    data: Floats, indices: AnyArray, indptr: AnyArray, y: Ints, weight: Floats, sums: Floats
) -> None:
    """Add the weighted cells of each row to the sums (K, d) of its class."""
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        line = sums[y[i]]
        for c in range(indptr[i], indptr[i + 1]):
            line[np.uint64(indices[np.uint64(c)])] += w * data[np.uint64(c)]


DENSE = "void({}[:, ::1], int64[::1], float64[::1], float64[:, ::1])"


@kernel(DENSE.format("float64"), DENSE.format("float32"))
def add_dense_sums(values: AnyArray, y: Ints, weight: Floats, sums: Floats) -> None:
    """Add the weighted cells of each row to the sums (K, d) of its class."""
    n, d = values.shape
    weighted = len(weight) > 0
    for i in range(n):
        w = weight[i] if weighted else 1.0
        row, line = values[i], sums[y[i]]
        for j in range(d):
            line[j] += w * row[j]


SCORES = f"void({ROWS}, float64[:, ::1], float64[:, ::1])"


@kernel(SCORES.format("int32"), SCORES.format("int64"))
def add_scores(data: Floats, indices: AnyArray, indptr: AnyArray, table: Floats, out: Floats) -> None:
    """Add to each row of `out` its cells times the lines of their columns in `table` (d, K)."""
    n, n_classes = out.shape
    if n_classes == 2:
        for i in range(n):
            # Of two cells side by side: an addition waits for the one before it.
            first, second, third, fourth, start, stop = 0.0, 0.0, 0.0, 0.0, indptr[i], indptr[i + 1]
            for c in range(start, stop - 1, 2):
                x, j = data[np.uint64(c)], np.uint64(indices[np.uint64(c)])
                z, m = data[np.uint64(c + 1)], np.uint64(indices[np.uint64(c + 1)])
                first += x * table[j, 0]
                second += x * table[j, 1]
                third += z * table[m, 0]
                fourth += z * table[m, 1]
            if (stop - start) % 2:
                x, j = data[np.uint64(stop - 1)], np.uint64(indices[np.uint64(stop - 1)])
                first += x * table[j, 0]
                second += x * table[j, 1]
            out[i, 0] += first + third
            out[i, 1] += second + fourth
        return
    sums = np.zeros(n_classes)
    for i in range(n):
        for k in range(n_classes):
            sums[k] = 0.0
        for c in range(indptr[i], indptr[i + 1]):
            x, line = data[np.uint64(c)], table[np.uint64(indices[np.uint64(c)])]
            for k in range(n_classes):
                sums[k] += x * line[k]
        for k in range(n_classes):
            out[i, k] += sums[k]


APART = f"void({ROWS}, float64[::1], float64[:, ::1])"


@kernel(APART.format("int32"), APART.format("int64"))
def add_apart(data: Floats, indices: AnyArray, indptr: AnyArray, apart: Floats, out: Floats) -> None:
    """Add to the second score of each row its cells times `apart` (d,): by how much classes differ."""
    for i in range(len(out)):
        # Of four cells side by side: an addition waits for the one before it.
        first, second, third, fourth, start, stop = 0.0, 0.0, 0.0, 0.0, indptr[i], indptr[i + 1]
        whole = start + (stop - start) // LANES * LANES
        for c in range(start, whole, LANES):
            first += data[np.uint64(c)] * apart[np.uint64(indices[np.uint64(c)])]
            second += data[np.uint64(c + 1)] * apart[np.uint64(indices[np.uint64(c + 1)])]
            third += data[np.uint64(c + 2)] * apart[np.uint64(indices[np.uint64(c + 2)])]
            fourth += data[np.uint64(c + 3)] * apart[np.uint64(indices[np.uint64(c + 3)])]
        for c in range(whole, stop):
            first += data[np.uint64(c)] * apart[np.uint64(indices[np.uint64(c)])]
        out[i, 1] += (first + second) + (third + fourth)


MARKS = "void({0}[:, ::1], float64[::1], float64[::1], float64[::1])"


@kernel(MARKS.format("int32"), MARKS.format("float64"), fastmath=frozenset({"reassoc"}))
def add_marks(cells: AnyArray, weight: Floats, mix: Floats, mark: Floats) -> None:
    """Add w·u·(x + 2) to the mark of each column, u being a mixture of the row; a gap is −1.

    Nothing is contracted: columns with the same cells must get the same bits wherever they stand.
    """
    n, d = cells.shape
    weighted = len(weight) > 0
    for i in range(n):
        line = cells[i]
        row = 0.0
        for j in range(d):
            x = line[j]
            row += (x if x == x else -1.0) * mix[j]
        u = abs(row) + 0.5
        u = u - np.floor(u)
        if weighted:
            u *= weight[i]
        for j in range(d):
            x = line[j]
            mark[j] += u * ((x if x == x else -1.0) + 2.0)
