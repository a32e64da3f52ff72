"""Vectors in blocks of columns: every form of a matrix has the same products."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from skmtc.rankers.scoring import (
    ColumnBlocks,
    ColumnSplit,
    distinct_rows,
    inner_products,
    row_norms,
    row_products,
    side_by_side,
)


@pytest.fixture
def matrices():
    """Return two matrices, of which the even columns are full and the odd ones mostly 0."""
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 30, 12))
    right[:, 1::2] *= rng.uniform(size=(30, 6)) < 0.1
    return left, right


@pytest.mark.parametrize("convert", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_split_columns_have_the_same_products(matrices, convert):
    left, right = matrices
    split = ColumnSplit(csr_array(right))
    blocks, others = split(csr_array(right)), split(convert(left))
    assert [issparse(block) for block in blocks.blocks] == [False, True]
    assert blocks.shape == right.shape
    np.testing.assert_allclose(inner_products(others, blocks), left @ right.T, atol=1e-12)
    np.testing.assert_allclose(row_products(others, blocks), (left * right).sum(axis=1))
    np.testing.assert_allclose(row_norms(blocks), np.linalg.norm(right, axis=1))
    rows = [3, 1, 3]
    np.testing.assert_allclose(
        row_products(others[rows], blocks[rows]), np.sum(left[rows] * right[rows], axis=1)
    )


def test_dense_matrices_and_those_without_full_columns_are_not_split(matrices):
    _, right = matrices
    assert ColumnSplit(right)(right) is right
    few = csr_array(np.eye(30))
    assert ColumnSplit(few)(few).blocks == [few]


def test_norms_do_not_overflow_in_single_precision():
    large = np.full((1, 2), 1e30, dtype=np.float32)
    for vectors in (large, csr_array(large), ColumnBlocks([large, csr_array(large)])):
        assert np.isfinite(row_norms(vectors)).all()


def test_blocks_of_blocks_are_flat(matrices):
    left, right = matrices
    inner = ColumnBlocks([right[:, :3], csr_array(right[:, 3:])])
    blocks = side_by_side([inner, right])
    assert len(blocks.blocks) == 3
    others = side_by_side([ColumnBlocks([left[:, :3], left[:, 3:]]), left])
    np.testing.assert_allclose(inner_products(others, blocks), 2 * left @ right.T, atol=1e-12)


def test_rows_are_distinct_if_any_block_differs():
    first = np.array([[1.0], [1.0], [2.0], [1.0]])
    second = csr_array([[0.0, 3.0], [0.0, 4.0], [0.0, 3.0], [0.0, 3.0]])
    rows, inverse = distinct_rows(ColumnBlocks([first, second]))
    assert rows.tolist() == [0, 1, 2]
    assert inverse.tolist() == [0, 1, 2, 0]
