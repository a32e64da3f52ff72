"""Sparse terms that are added to scores."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.rankers._added import add_sparse


def test_sparse_terms_are_added_in_place():
    scores = np.ones((2, 3))
    added = csr_array([[0.0, 2.0, 0.0], [1.0, 0.0, -1.0]])
    assert add_sparse(scores, added) is scores
    assert scores.tolist() == [[1.0, 3.0, 1.0], [2.0, 1.0, 0.0]]
    assert add_sparse(scores, None) is scores
