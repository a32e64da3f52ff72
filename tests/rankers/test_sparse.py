"""Matrices that pick, sum and count rows."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.rankers._sparse import as_ones, mean_of_groups, one_hot, stored_pairs, stored_values


def test_one_hot_picks_rows():
    table = np.arange(6.0).reshape(3, 2)
    picked = one_hot([2, -1, 0, 2], 3) @ table
    np.testing.assert_array_equal(picked, [table[2], [0, 0], table[0], table[2]])


def test_as_ones_leaves_the_matrix_alone():
    matrix = csr_array([[0, 3, 0], [2, 0, 1]])
    assert as_ones(matrix).toarray().tolist() == [[0, 1, 0], [1, 0, 1]]
    assert matrix.toarray().tolist() == [[0, 3, 0], [2, 0, 1]]


def test_mean_of_groups():
    means = mean_of_groups([0, 2, 0], 3) @ np.array([[1.0], [5.0], [2.0]])
    assert means.ravel().tolist() == [1.5, 0.0, 5.0]


def test_stored_pairs_are_in_the_order_of_values():
    matrix = csr_array([[0, 3, 0], [2, 0, 1]])
    rows, columns = stored_pairs(matrix)
    assert list(zip(rows.tolist(), columns.tolist(), matrix.data.tolist(), strict=True)) == [
        (0, 1, 3),
        (1, 0, 2),
        (1, 2, 1),
    ]


def test_stored_values_are_zero_where_none_is_stored():
    matrix = csr_array([[0, 3, 0], [2, 0, 1]])
    assert stored_values(matrix, [0, 0, 1, 1], [1, 2, 2, 0]).tolist() == [3, 0, 1, 2]
    assert stored_values(csr_array((2, 3)), [0, 1], [1, 2]).tolist() == [0, 0]
