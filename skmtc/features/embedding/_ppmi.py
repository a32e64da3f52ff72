"""Positive pointwise mutual information of tokens that share playlists."""

import numpy as np
from scipy.sparse import csr_array, vstack

from skmtc._utils.chunking import rows_that_fit

# Bytes of a stored pair: its count, its column, and temporary copies of both.
BYTES_PER_PAIR = 32


def shifted_ppmi(incidence, shift=1.0):
    """Return the shifted positive pointwise mutual information of all pairs of tokens.

    The entry of tokens i and j is log(n_ij n / (n_i n_j)) - log(shift) where that is positive, and
    0 elsewhere: n_ij playlists hold both, n_i is the sum of n_ij over all j but i, and n the sum of
    all. Nothing pairs with itself. Most pairs share no playlist, so that the matrix is sparse, and
    it is made in blocks of rows that follow scikit-learn's `working_memory`.

    Parameters
    ----------
    incidence : csr_array of shape (n_playlists, n_tokens)
        1 where the playlist holds the token.

    shift : float, default=1.0
        The pairs that are kept are this many times as frequent as by chance.

    Returns
    -------
    ppmi : csr_array of shape (n_tokens, n_tokens)
        Symmetric, in single precision.
    """
    n_tokens = incidence.shape[1]
    by_token = csr_array(incidence.T)
    sizes = np.diff(incidence.indptr)
    n_pairs_of_token = by_token @ (sizes - 1.0)  # a playlist of n pairs its tokens with n - 1
    total = n_pairs_of_token.sum()
    blocks = []
    for rows in _blocks(by_token, sizes):
        pairs = csr_array(by_token[rows] @ incidence).tocoo()
        row = pairs.row + rows.start
        expected = n_pairs_of_token[row] * n_pairs_of_token[pairs.col] * shift
        other = (row != pairs.col) & (pairs.data * total > expected)
        values = np.log(pairs.data[other] * total / expected[other]).astype(np.float32)
        shape = (rows.stop - rows.start, n_tokens)
        blocks.append(csr_array((values, (pairs.row[other], pairs.col[other])), shape=shape))
    return csr_array(vstack(blocks))


def _blocks(by_token, sizes):
    """Return slices of tokens whose pairs fit the working memory."""
    n_partners = np.cumsum(by_token @ sizes.astype(float))  # an upper bound
    most = rows_that_fit(BYTES_PER_PAIR)
    start, before = 0, 0.0
    while start < len(n_partners):
        stop = int(np.searchsorted(n_partners, before + most, side="right"))
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start, before = stop, n_partners[stop - 1]
