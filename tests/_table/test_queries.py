"""Distinct tuples of codes."""

import numpy as np

from skmtc._table.queries import distinct


def test_distinct_finds_first_rows_and_inverse():
    a, b = np.array([1, 0, 1, 1, 0]), np.array([2, 2, 2, 0, 2])
    first, inverse = distinct(a, b)
    pairs = list(zip(a, b, strict=True))
    assert [pairs[first[i]] for i in inverse] == pairs
    assert sorted(first.tolist()) == [0, 1, 3]
