"""Sparse matrices that select, sum, count and merge rows."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from skmtc._kernels import loading
from skmtc._utils.chunking import rows_that_fit

# Bytes per entry of a sparse product, while it is made and sorted.
PRODUCT_BYTES = 32


def one_hot(codes, n_codes):
    """Return one row per code with a 1 in the column of the code; a code of -1 has an empty row."""
    codes = np.asarray(codes)
    rows = np.flatnonzero(codes >= 0)
    return csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), n_codes))


def as_ones(matrix):
    """Return a matrix with 1 in the place of every stored value."""
    return csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)


def compact(matrix):
    """Return a matrix in single precision, with indices of 32 bits where they suffice."""
    fits = max(matrix.nnz, *matrix.shape) <= np.iinfo(np.int32).max
    index = np.int32 if fits else np.int64
    data = matrix.data.astype(np.float32, copy=False)
    places = (part.astype(index, copy=False) for part in (matrix.indices, matrix.indptr))
    return csr_array((data, *places), shape=matrix.shape)


def full_columns(matrix: csr_array, share: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the columns of a sparse matrix with more non-zeros than a share of rows, and the rest.

    BLAS multiplies full columns as an array about seven times as fast as a sparse product does.
    """
    counts = np.bincount(matrix.indices, minlength=matrix.shape[1])
    is_full = counts > share * matrix.shape[0]
    return np.flatnonzero(is_full), np.flatnonzero(~is_full)


def with_empty_row(matrix):
    """Append an empty row, which is selected by the code -1 of unknown ids."""
    parts = matrix.data, matrix.indices, np.append(matrix.indptr, matrix.indptr[-1:])
    return csr_array(parts, shape=(matrix.shape[0] + 1, matrix.shape[1]))


def mean_of_groups(groups, n_groups):
    """Return the matrix that takes the mean of the rows of each group; rows of none sum to 0."""
    sums = csr_array(one_hot(groups, n_groups).T)
    sizes = np.diff(sums.indptr)
    sums.data /= np.repeat(sizes, sizes)
    return sums


def sum_of_users(rows, user_of_playlist, n_users):
    """Sum sparse rows of playlists over the playlists of each user."""
    return csr_array(csr_array(one_hot(user_of_playlist, n_users).T) @ rows)


def merge_rows(is_new, known, new):
    """Stack rows of known and of new songs (or users, or playlists), in the order of `is_new`."""
    order = np.empty(len(is_new), dtype=np.intp)
    order[~is_new] = np.arange(known.shape[0])
    order[is_new] = known.shape[0] + np.arange(new.shape[0])
    stack = vstack if issparse(known) or issparse(new) else np.vstack
    stacked = stack([known, new])
    return (csr_array(stacked) if issparse(stacked) else stacked)[order]


def song_rows_of_playlists(membership, weighting):
    """Return one row of unit length per song, over the playlists that hold it.

    With weighting="tfidf" a playlist of n of all N songs counts log(N / n), with "cosine" 1.
    """
    held = as_ones(membership)
    n_playlists, n_songs = held.shape
    weights = np.ones(n_playlists)
    if weighting == "tfidf":
        weights = np.log(n_songs / np.maximum(1, np.diff(held.indptr)))
    rows = csr_array(held.T)
    rows.data = weights[rows.indices]
    sizes = np.diff(rows.indptr)
    lengths = np.sqrt(np.bincount(np.repeat(np.arange(n_songs), sizes), rows.data**2, n_songs))
    # A song whose playlists all have weight 0 has a row of zeros.
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), sizes)
    return rows


def cost_batches(costs, most):
    """Yield slices of consecutive rows whose costs, without the first, sum to `most` at most."""
    group = np.cumsum(costs) // max(1, most)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(costs)], strict=True):
        yield slice(start, stop)


def product_batches(left, right):
    """Yield slices of rows of `left` whose sparse products with `right` fit the working memory."""
    # A product has at most as many entries as it has multiplications.
    costs = left.astype(bool).astype(np.int64) @ np.diff(right.indptr)
    return cost_batches(costs, rows_that_fit(PRODUCT_BYTES))


def sum_sparse(parts, shape):
    """Sum sparse matrices of a shape; there may be none."""
    return csr_array(sum(parts, start=csr_array(shape)))


def stored_pairs(matrix):
    """Return the rows and columns of the stored entries, in the order of their values."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices


def stored_values(matrix, rows, columns):
    """Return the values at some places of a matrix without duplicates; 0 if none is stored."""
    if matrix.nnz == 0:
        return np.zeros(len(rows))
    compiled = compiled_if_worthwhile(matrix.nnz)
    if compiled is not None:
        arrays = matrix.indptr, matrix.indices, matrix.data
        places = np.asarray(rows), np.asarray(columns)
        return compiled.look_up(*arrays, matrix.shape[1], *places)
    matrix = matrix.sorted_indices()
    stored_rows, stored_columns = stored_pairs(matrix)
    keys = stored_rows * matrix.shape[1] + stored_columns
    asked = np.asarray(rows) * matrix.shape[1] + columns
    places = np.searchsorted(keys, asked).clip(max=len(keys) - 1)
    return np.where(keys[places] == asked, matrix.data[places], 0)


def add_sparse(total, matrix):
    """Add a sparse matrix, of which no place is stored twice, to a dense one in place."""
    compiled = compiled_if_worthwhile(matrix.nnz)
    if compiled is None:
        total[stored_pairs(matrix)] += matrix.data
    else:
        compiled.add_rows(total, matrix.indptr, matrix.indices, matrix.data)


def compiled_if_worthwhile(n_entries):
    """Return compiled loops over so many entries of sparse rows; None to use scipy."""
    if n_entries < loading.WORTHWHILE_ENTRIES:
        return None
    return loading.compiled_rows()
