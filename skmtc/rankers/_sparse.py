"""Small sparse matrices that pick, sum and count rows."""

import numpy as np
from scipy.sparse import csr_array


def one_hot(codes, n_codes):
    """Give one row per code with a 1 in the column of the code; a code of -1 has an empty row."""
    codes = np.asarray(codes)
    rows = np.flatnonzero(codes >= 0)
    return csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), n_codes))


def as_ones(matrix):
    """Give a matrix with 1 in the place of every stored value."""
    return csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)


def mean_of_groups(groups, n_groups):
    """Give the matrix that takes the mean of the rows of each group; rows of none sum to 0."""
    sums = csr_array(one_hot(groups, n_groups).T)
    sizes = np.diff(sums.indptr)
    sums.data /= np.repeat(sizes, sizes)
    return sums


def stored_pairs(matrix):
    """Give the rows and columns of the stored entries, in the order of their values."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices


def stored_values(matrix, rows, columns):
    """Give the values at some places of a matrix without repeated entries; 0 if none is stored."""
    if matrix.nnz == 0:
        return np.zeros(len(rows))
    matrix = matrix.sorted_indices()
    stored_rows, stored_columns = stored_pairs(matrix)
    keys = stored_rows * matrix.shape[1] + stored_columns
    asked = np.asarray(rows) * matrix.shape[1] + columns
    places = np.searchsorted(keys, asked).clip(max=len(keys) - 1)
    return np.where(keys[places] == asked, matrix.data[places], 0)
