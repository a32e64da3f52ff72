"""Sparse rows: sums, additions and single values; import only where numba is installed.

Indices are unsigned: numba checks signed ones for wraparound, which takes half the time.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def sum_rows(
    pick_starts: NDArray[Any],
    picks: NDArray[Any],
    starts: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    n_columns: int,
    without_picks: bool,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Sum rows of a sparse matrix of positive values, as a product with a matrix of ones does.

    Three times as fast as scipy's product, which goes over everything twice and lets no other
    thread work. The sums have the same bits.

    Parameters
    ----------
    pick_starts, picks : ndarray
        `picks[pick_starts[i] : pick_starts[i + 1]]` are the rows that make up sum i.

    starts, columns, values : ndarray
        The rows, as a csr_array has them in `indptr`, `indices` and `data`.

    n_columns : int
        Number of columns.

    without_picks : bool
        Whether a sum is 0 in the columns that have the numbers of its rows.

    Returns
    -------
    starts, columns, values : ndarray
        The sums, in the same manner; the columns of a row in the order of their first addition.
    """
    n_sums = pick_starts.size - 1
    most = 0
    for i in range(n_sums):
        size = 0
        for place in range(pick_starts[i], pick_starts[i + 1]):
            size += starts[picks[place] + 1] - starts[picks[place]]
        most += min(size, n_columns)
    # `row` is one dense row, which is 0 again after each sum: a column is new where it is 0.
    ends = np.zeros(n_sums + 1, starts.dtype)
    found = np.empty(most + 1, columns.dtype)
    sums = np.empty(most, values.dtype)
    row = np.zeros(n_columns, values.dtype)
    filled = np.uint64(0)
    for i in range(n_sums):
        first = filled
        for place in range(pick_starts[i], pick_starts[i + 1]):
            for j in range(np.uint64(starts[picks[place]]), np.uint64(starts[picks[place] + 1])):
                column = np.uint64(columns[j])
                before = row[column]
                found[filled] = column  # kept if it is new; a branch would be mispredicted
                filled += np.uint64(before == 0)
                row[column] = before + values[j]
        if without_picks:
            for place in range(pick_starts[i], pick_starts[i + 1]):
                row[picks[place]] = 0
        for j in range(first, filled):
            column = np.uint64(found[j])
            sums[j] = row[column]
            row[column] = 0
        ends[i + 1] = filled
    return ends, found[:filled], sums[:filled]


@njit(cache=True, nogil=True)
def add_rows(
    total: NDArray[Any], starts: NDArray[Any], columns: NDArray[Any], values: NDArray[Any]
) -> None:
    """Add sparse rows, as a csr_array has them, to dense ones."""
    for i in range(starts.size - 1):
        row = total[i]
        for j in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            row[np.uint64(columns[j])] += values[j]


@njit(cache=True, nogil=True)
def look_up(
    starts: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    n_columns: int,
    rows: NDArray[Any],
    wanted: NDArray[Any],
) -> NDArray[Any]:
    """Return the values at rows and columns, 0 if none is stored; fast if rows are sorted."""
    found = np.zeros(rows.size, values.dtype)
    row = np.zeros(n_columns, values.dtype)
    place = 0
    while place < rows.size:
        i = rows[place]
        for j in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            row[np.uint64(columns[j])] = values[j]
        while place < rows.size and rows[place] == i:
            found[place] = row[wanted[place]]
            place += 1
        for j in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            row[np.uint64(columns[j])] = 0
    return found


@njit(cache=True, nogil=True)
def strongest_columns(
    holder_starts: NDArray[Any],
    holders: NDArray[Any],
    starts: NDArray[Any],
    columns: NDArray[Any],
    counts: NDArray[Any],
    shrinkage: float,
    most: int,
    first: int,
    last: int,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Find the columns of a sparse matrix of ones that share most rows with some of them.

    Parameters
    ----------
    holder_starts, holders : ndarray
        `holders[holder_starts[a] : holder_starts[a + 1]]` are the rows that have column a.

    starts, columns : ndarray
        The rows, as a csr_array has them in `indptr` and `indices`.

    counts : ndarray of float
        Number of rows that have each column.

    shrinkage : float
        Columns a and b that share n rows have the value
        `n / (sqrt(counts[a] * counts[b]) + shrinkage)`.

    most : int
        How many others are kept for each column; of equal ones the first.

    first, last : int
        The columns that this is asked for, without the last.

    Returns
    -------
    sizes, columns, values : ndarray
        Number of columns that are kept for each, which ones in order, and their values.
    """
    # For each column: count shared rows, make values, keep the `most` largest.
    n_columns = counts.size
    sizes = np.zeros(last - first, np.int64)
    kept = np.empty((last - first) * most, columns.dtype)
    kept_values = np.empty((last - first) * most, np.float64)
    shared = np.zeros(n_columns, np.int64)
    found = np.empty(n_columns + 1, columns.dtype)
    values = np.empty(n_columns, np.float64)
    end = 0
    for a in range(first, last):
        n_found = np.uint64(0)
        for place in range(holder_starts[a], holder_starts[a + 1]):
            holder = holders[place]
            for j in range(np.uint64(starts[holder]), np.uint64(starts[holder + 1])):
                column = np.uint64(columns[j])
                found[n_found] = column  # kept if it is new, as above
                n_found += np.uint64(shared[column] == 0)
                shared[column] += 1
        if 16 * n_found < n_columns:
            found[:n_found].sort()
        else:  # to look everywhere is faster
            n_found = np.uint64(0)
            for b in range(np.uint64(n_columns)):
                found[n_found] = b
                n_found += np.uint64(shared[b] != 0)
        for place in range(n_found):
            other = np.uint64(found[place])
            values[place] = shared[other] / (np.sqrt(counts[a] * counts[other]) + shrinkage)
            shared[other] = 0
            if other == a:
                values[place] = -1.0
        n_others = np.int64(n_found) - 1 if n_found else 0
        lowest, n_equal = 0.0, n_others
        if n_others > most:
            lowest = np.partition(values[:n_found], n_found - most)[n_found - most]
            n_equal = most - np.sum(values[:n_found] > lowest)
        for place in range(n_found):
            value = values[place]
            if value > lowest or (value == lowest and n_equal > 0):
                n_equal -= value == lowest
                kept[end] = found[place]
                kept_values[end] = value
                sizes[a - first] += 1
                end += 1
    return sizes, kept[:end].copy(), kept_values[:end].copy()


@njit(cache=True, nogil=True)
def neighborhood_ridge(
    starts: NDArray[Any],
    neighbors: NDArray[Any],
    holder_starts: NDArray[Any],
    holders: NDArray[Any],
    n_rows: int,
    l2: float,
    first: int,
    last: int,
) -> NDArray[Any]:
    """Solve the ridge regression of some columns of a matrix of ones on their neighbours.

    Parameters
    ----------
    starts, neighbors : ndarray
        `neighbors[starts[a] : starts[a + 1]]` are the columns that column a is regressed on.

    holder_starts, holders : ndarray
        `holders[holder_starts[a] : holder_starts[a + 1]]` are the rows that have column a.

    n_rows : int
        Number of rows.

    l2 : float
        Penalty on the squared weights.

    first, last : int
        The columns to regress, without the last.

    Returns
    -------
    weights : ndarray
        Weights in the order of `neighbors[starts[first] : starts[last]]`.
    """
    weights = np.zeros(starts[last] - starts[first])
    counts = np.zeros(n_rows, np.int64)  # neighbours of each row
    ends = np.zeros(n_rows, np.int64)  # where its list of neighbours ends
    touched = np.empty(n_rows, np.int64)
    for a in range(first, last):
        n = starts[a + 1] - starts[a]
        n_touched, n_held = 0, 0
        for i in range(n):
            b = neighbors[starts[a] + i]
            for place in range(holder_starts[b], holder_starts[b + 1]):
                row = holders[place]
                if counts[row] == 0:
                    touched[n_touched] = row
                    n_touched += 1
                counts[row] += 1
                n_held += 1
        # 1. For each row, the list of neighbours that it has.
        held = np.empty(n_held, np.int64)
        end = 0
        for t in range(n_touched):
            ends[touched[t]] = end
            end += counts[touched[t]]
        for i in range(n):
            b = neighbors[starts[a] + i]
            for place in range(holder_starts[b], holder_starts[b + 1]):
                held[ends[holders[place]]] = i
                ends[holders[place]] += 1
        # 2. Normal equations: how many rows two neighbours share, and a neighbour with a. Lists
        # are in ascending order, so that only the upper triangle is filled.
        gram = np.zeros((n, n))
        target = np.zeros(n)
        for t in range(n_touched):
            row = touched[t]
            for x in range(ends[row] - counts[row], ends[row]):
                for y in range(x, ends[row]):
                    gram[held[x], held[y]] += 1.0
        for place in range(holder_starts[a], holder_starts[a + 1]):
            row = holders[place]
            for x in range(ends[row] - counts[row], ends[row]):
                target[held[x]] += 1.0
        for i in range(n):
            gram[i, i] += l2
        # 3. Eliminate with pivots on the diagonal: the matrix is positive definite. Rows of the
        # upper triangle lie together, so that the inner loop is vectorised.
        for k in range(n):
            for i in range(k + 1, n):
                factor = gram[k, i] / gram[k, k]
                if factor != 0.0:
                    for j in range(i, n):
                        gram[i, j] -= factor * gram[k, j]
                    target[i] -= factor * target[k]
        for k in range(n - 1, -1, -1):
            value = target[k]
            for j in range(k + 1, n):
                value -= gram[k, j] * target[j]
            target[k] = value / gram[k, k]
        for i in range(n):
            weights[starts[a] - starts[first] + i] = target[i]
        for t in range(n_touched):
            counts[touched[t]] = 0
            ends[touched[t]] = 0
    return weights
