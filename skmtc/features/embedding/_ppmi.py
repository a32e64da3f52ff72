"""Positive pointwise mutual information of tokens that share playlists."""

import numpy as np
from scipy.sparse import csr_array

from skmtc._utils.chunking import rows_that_fit
from skmtc._utils.sparse import compact

# Bytes of a pair while its block is made: its count, its column, and temporary copies of both.
BYTES_PER_PAIR = 64
# Fewest pairs of a block, which make up for the calls of numpy and scipy per block.
PAIRS_PER_BLOCK = 2**17


class ShiftedPpmi:
    """The shifted positive pointwise mutual information of all pairs of tokens.

    The entry of tokens i and j is log(n_ij n / (n_i n_j)) - log(shift) where that is positive, and
    0 elsewhere: n_ij playlists hold both, n_i is the sum of n_ij over all j but i, and n the sum of
    all. Nothing pairs with itself. Most pairs share no playlist, so that the matrix is sparse.

    Pairs take much more memory than memberships, so the matrix is made in blocks of rows, which
    follow scikit-learn's `working_memory`. The first blocks, as many as fit `kept_bytes`, are kept
    for the next products; the others are made again for each of them.

    Parameters
    ----------
    incidence : csr_array of shape (n_playlists, n_tokens)
        1 where the playlist holds the token.

    shift : float, default=1.0
        Pairs with a value are more than this many times as frequent as by chance.

    kept_bytes : int, default=0
        Memory for blocks that are kept between products.

    Attributes
    ----------
    shape : tuple of int
        Tokens x tokens.
    """

    def __init__(self, incidence, shift=1.0, kept_bytes=0):
        self.shape = (incidence.shape[1], incidence.shape[1])
        # Counts of playlists are exact in single precision up to 2 ** 24.
        self._incidence = compact(incidence)
        self._by_token = csr_array(self._incidence.T)
        sizes = np.diff(incidence.indptr)
        # A playlist of n pairs its tokens with n - 1.
        self._n_pairs_of_token = self._by_token @ (sizes - 1.0)
        self._total = self._n_pairs_of_token.sum()
        self._shift = shift
        self._slices = list(_slices(self._by_token, sizes))
        self._kept, self._room = [], kept_bytes

    def __matmul__(self, columns):
        columns = np.ascontiguousarray(columns)  # scipy would copy all of them for each block
        # In the order of LAPACK, which then works in place.
        shape, dtype = (self.shape[0], columns.shape[1]), np.result_type(columns, np.float32)
        product = np.empty(shape, dtype, order="F")
        for rows, block in self.blocks():
            product[rows] = block @ columns
        return product

    def blocks(self):
        """Yield slices of tokens and their rows of the matrix, in single precision."""
        to_make = self._slices[len(self._kept) :]
        yield from zip(self._slices, self._kept, strict=False)
        for rows in to_make:
            block = self._make(rows)
            self._keep(block)
            yield rows, block

    def _keep(self, block):
        """Keep the first blocks, as many as fit."""
        n_bytes = block.data.nbytes + block.indices.nbytes + block.indptr.nbytes
        if n_bytes <= self._room:
            self._kept.append(block)
            self._room -= n_bytes
        else:
            self._room = 0

    def _make(self, rows):
        n_rows = rows.stop - rows.start
        pairs = self._by_token[rows] @ self._incidence
        row = np.repeat(np.arange(rows.start, rows.stop), np.diff(pairs.indptr))
        times_total = pairs.data.astype(np.float64) * self._total
        expected = self._n_pairs_of_token[row] * self._n_pairs_of_token[pairs.indices] * self._shift
        other = (row != pairs.indices) & (times_total > expected)
        values = np.log(times_total[other] / expected[other]).astype(np.float32)
        lengths = np.bincount(row[other] - rows.start, minlength=n_rows)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(pairs.indices.dtype)
        block = csr_array((values, pairs.indices[other], starts), shape=(n_rows, self.shape[1]))
        # Sorts the columns of each row, in half of the time of `sort_indices`.
        return block.tocsc().tocsr()


def _slices(by_token, sizes):
    """Yield slices of tokens whose pairs fit the working memory."""
    n_partners = np.cumsum(by_token @ sizes.astype(float))  # an upper bound
    # Sorting a block takes a pass over all tokens, so a block has as many pairs.
    most = min(rows_that_fit(BYTES_PER_PAIR), max(PAIRS_PER_BLOCK, by_token.shape[0]))
    start, before = 0, 0.0
    while start < len(n_partners):
        stop = int(np.searchsorted(n_partners, before + most, side="right"))
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start, before = stop, n_partners[stop - 1]
