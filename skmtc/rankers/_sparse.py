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
