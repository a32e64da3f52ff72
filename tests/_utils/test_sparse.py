"""Matrices that pick, sum and count rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc._kernels import loading
from skmtc._utils.sparse import (
    add_sparse,
    as_ones,
    compact,
    mean_of_groups,
    one_hot,
    stored_pairs,
    stored_values,
    sum_sparse,
    with_empty_row,
)


def test_one_hot_picks_rows():
    table = np.arange(6.0).reshape(3, 2)
    picked = one_hot([2, -1, 0, 2], 3) @ table
    np.testing.assert_array_equal(picked, [table[2], [0, 0], table[0], table[2]])


def test_as_ones_leaves_the_matrix_alone():
    matrix = csr_array([[0, 3, 0], [2, 0, 1]])
    assert as_ones(matrix).toarray().tolist() == [[0, 1, 0], [1, 0, 1]]
    assert matrix.toarray().tolist() == [[0, 3, 0], [2, 0, 1]]


def test_compact_matrices_have_the_same_values():
    matrix = csr_array([[0, 3.0, 0], [2.0, 0, 1.0]])
    small = compact(matrix)
    assert (small.data.dtype, small.indices.dtype, small.indptr.dtype) == ("f4", "i4", "i4")
    assert small.toarray().tolist() == matrix.toarray().tolist()
    assert np.shares_memory(compact(small).data, small.data)


def test_unknown_codes_pick_an_empty_row():
    matrix = csr_array([[0, 3, 0], [2, 0, 1]])
    picked = with_empty_row(matrix)[np.array([1, -1, 0])]
    assert picked.toarray().tolist() == [[2, 0, 1], [0, 0, 0], [0, 3, 0]]


def test_sums_of_sparse_matrices():
    matrix = csr_array([[0, 3.0, 0], [2.0, 0, 1.0]])
    assert sum_sparse([matrix, matrix], (2, 3)).toarray().tolist() == [[0, 6, 0], [4, 0, 2]]
    assert sum_sparse([], (2, 3)).toarray().tolist() == [[0, 0, 0], [0, 0, 0]]


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


@pytest.fixture(params=["scipy", "compiled"])
def _either_way(request, monkeypatch):
    least = 1 if request.param == "compiled" else 10**9
    monkeypatch.setattr(loading, "WORTHWHILE_ENTRIES", least)


@pytest.mark.usefixtures("_either_way")
def test_sparse_terms_are_added_in_place():
    scores = np.ones((2, 3))
    add_sparse(scores, csr_array([[0.0, 2.0, 0.0], [1.0, 0.0, -1.0]]))
    assert scores.tolist() == [[1.0, 3.0, 1.0], [2.0, 1.0, 0.0]]


@pytest.mark.usefixtures("_either_way")
def test_stored_values_are_zero_where_none_is_stored():
    matrix = csr_array([[0, 3, 0], [2, 0, 1]])
    assert stored_values(matrix, [0, 0, 1, 1], [1, 2, 2, 0]).tolist() == [3, 0, 1, 2]
    assert stored_values(matrix, [1, 0, 1], [2, 1, 1]).tolist() == [1, 3, 0]
    assert stored_values(csr_array((2, 3)), [0, 1], [1, 2]).tolist() == [0, 0]
