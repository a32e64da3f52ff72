"""Blocks of rows that fit scikit-learn's `working_memory` setting."""

from collections.abc import Iterator

from sklearn import get_config


def rows_that_fit(row_bytes: int) -> int:
    """Return how many rows of a size fit the working memory; at least one."""
    return max(1, int(get_config()["working_memory"] * 2**20 // max(1, row_bytes)))


def row_batches(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Return slices of rows that fit the working memory."""
    return batches(n_rows, rows_that_fit(row_bytes))


def batches(n_rows: int, size: int) -> Iterator[slice]:
    """Return slices of at most so many rows."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
