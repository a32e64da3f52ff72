"""Vectors in blocks of columns, each dense or sparse, whose inner products are summed."""

from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import safe_sparse_dot

from skmtc._table import first_rows
from skmtc._utils.sparse import full_columns

# A column with more non-zeros than this share is multiplied as a dense one: a sparse product takes
# about seven times as long per number.
FULL_COLUMN = 0.15


class ColumnBlocks:
    """Matrices side by side, each of which keeps its own form.

    A stack has dense vectors of one ranker beside sparse ones of another, and identities are
    sparse beside dense features. As one sparse matrix, the dense columns would take most of the
    time of a product; as one dense matrix, the sparse ones most of the memory.

    Parameters
    ----------
    blocks : list of array or csr_array of shape (n_rows, n_columns of the block)
        The matrices.
    """

    def __init__(self, blocks):
        self.blocks = blocks

    def __getstate__(self):
        return {"blocks": self.blocks}

    @property
    def shape(self):
        """Number of rows, and of columns of all blocks."""
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    def __getitem__(self, rows):
        return ColumnBlocks([block[rows] for block in self.blocks])

    @cached_property
    def transposed_blocks(self):
        """The transposed blocks. Products need CSR, which scipy would make for every product."""
        return [csr_array(block.T) if issparse(block) else block.T for block in self.blocks]


def as_blocks(vectors):
    """Return a sparse matrix as `ColumnBlocks`, and anything else as it is."""
    return ColumnBlocks([vectors]) if issparse(vectors) else vectors


def blocks_of(vectors):
    """Return the blocks of `ColumnBlocks`; any other matrix is its own only block."""
    return vectors.blocks if isinstance(vectors, ColumnBlocks) else [vectors]


class ColumnSplit:
    """Split the full columns of some sparse matrix, and of others that it is multiplied with.

    Parameters
    ----------
    vectors : array or csr_array of shape (n_rows, n_columns)
        The matrix. If it is dense, nothing is split.
    """

    def __init__(self, vectors):
        self._full = self._rest = None
        if issparse(vectors):
            self._full, self._rest = full_columns(vectors, FULL_COLUMN)

    def __call__(self, vectors):
        """Return the columns of a matrix in up to two blocks, the full ones as an array."""
        if self._full is None:
            return vectors
        if len(self._full) == 0:
            return ColumnBlocks([vectors])
        full = vectors[:, self._full]
        full = full.toarray() if issparse(full) else full
        return ColumnBlocks([full, vectors[:, self._rest]])


def side_by_side(parts):
    """Return matrices, some of which may be `ColumnBlocks`, as one."""
    return ColumnBlocks([block for part in parts for block in blocks_of(part)])


def inner_products(left, right):
    """Return the inner products of all rows of two matrices with the same blocks, as an array."""
    factors = right.transposed_blocks if isinstance(right, ColumnBlocks) else [right.T]
    pairs = zip(blocks_of(left), factors, strict=True)
    products = (safe_sparse_dot(block, factor, dense_output=True) for block, factor in pairs)
    total = next(products)
    for product in products:
        total = np.add(total, product, out=total if total.dtype == product.dtype else None)
    return total


def row_products(left, right):
    """Multiply two matrices row by row; each product depends on nothing but its two rows."""
    pairs = zip(blocks_of(left), blocks_of(right), strict=True)
    return sum(_products_of_rows(a, b) for a, b in pairs)


def row_norms(vectors):
    """Return the length of each row, in double precision."""
    return np.sqrt(sum(_squares_of_rows(block) for block in blocks_of(vectors)))


def distinct_rows(vectors):
    """Find the distinct rows of a matrix, bit by bit.

    Returns
    -------
    first : ndarray
        Position of the first of each distinct row.

    inverse : ndarray
        For each row, which distinct row it is.
    """
    inverse = np.zeros(vectors.shape[0], dtype=np.int64)
    for block in blocks_of(vectors):
        codes = pd.factorize(_keys_of_rows(block))[0]
        inverse = pd.factorize(inverse * (len(codes) + 1) + codes)[0]
    return first_rows(inverse, inverse.max(initial=-1) + 1), inverse


def _products_of_rows(left, right):
    if issparse(left):
        return np.asarray(left.multiply(right).sum(axis=1)).ravel()
    if issparse(right):
        return np.asarray(right.multiply(left).sum(axis=1)).ravel()
    return np.einsum("nd,nd->n", left, right)


def _squares_of_rows(vectors):
    if issparse(vectors):
        vectors = vectors.astype(np.float64)
        return np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    return np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)


def _keys_of_rows(vectors):
    """Return the bytes of each row of an array or sparse matrix."""
    keys = np.empty(vectors.shape[0], dtype=object)
    if issparse(vectors):
        vectors = csr_array(vectors).sorted_indices()
        stored = [slice(start, stop) for start, stop in pairwise(vectors.indptr)]
        keys[:] = [vectors.indices[s].tobytes() + vectors.data[s].tobytes() for s in stored]
    else:
        keys[:] = [row.tobytes() for row in vectors]
    return keys
