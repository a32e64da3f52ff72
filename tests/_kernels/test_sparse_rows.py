"""Loops over sparse rows, against what scipy makes of them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc._kernels.sparse_rows import add_rows, look_up, sum_rows


def _parts(matrix):
    return matrix.indptr, matrix.indices, matrix.data


def _random(seed, shape, density=0.3, dtype=np.float32, index=np.int32):
    rng = np.random.default_rng(seed)
    matrix = csr_array(np.where(rng.random(shape) < density, rng.uniform(0.1, 1.0, shape), 0))
    data = matrix.data.astype(dtype)
    places = (part.astype(index) for part in (matrix.indices, matrix.indptr))
    return csr_array((data, *places), shape=shape)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("density", [0.0, 0.2, 1.0])
def test_sums_of_rows_have_the_bits_of_a_product_with_ones(index, density):
    rows = _random(0, (20, 30), density=density, index=index)
    picks = _random(1, (12, 20), index=index)
    picks.data[:] = 1
    starts, columns, values = sum_rows(picks.indptr, picks.indices, *_parts(rows), 30, False)
    sums = csr_array((values, columns, starts), shape=(12, 30))
    np.testing.assert_array_equal(sums.toarray(), (picks @ rows).toarray())
    assert sums.nnz == (picks @ rows).nnz


def test_sums_may_leave_out_the_picks():
    rows = _random(5, (20, 20))
    picks = _random(6, (12, 20))
    picks.data[:] = 1
    starts, columns, values = sum_rows(picks.indptr, picks.indices, *_parts(rows), 20, True)
    sums = csr_array((values, columns, starts), shape=(12, 20)).toarray()
    expected = np.where(picks.toarray() > 0, 0, (picks @ rows).toarray())
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_added_in_place(dtype):
    rows = _random(2, (7, 9))
    total = np.full((7, 9), 3, dtype=dtype)
    add_rows(total, *_parts(rows))
    np.testing.assert_array_equal(total, 3 + rows.toarray().astype(dtype))


@pytest.mark.parametrize("is_sorted", [True, False])
def test_single_values_are_found_in_any_order(is_sorted):
    matrix = _random(3, (8, 11))
    rng = np.random.default_rng(4)
    rows, columns = rng.integers(0, 8, 50), rng.integers(0, 11, 50)
    if is_sorted:
        rows.sort()
    found = look_up(*_parts(matrix), 11, rows, columns)
    np.testing.assert_array_equal(found, matrix.toarray()[rows, columns])
