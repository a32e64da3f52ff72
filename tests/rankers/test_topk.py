"""The best songs of each row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skmtc.rankers._topk import top_k


@given(arrays(np.float64, (4, 9), elements=st.integers(-2, 2).map(float)), st.integers(1, 9))
def test_equals_a_stable_sort(scores, k):
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(top_k(scores, k), expected)


def test_equal_scores_go_to_the_earlier_column():
    scores = np.array([[1.0, 3.0, 3.0, 3.0, 0.0]])
    assert top_k(scores, 2).tolist() == [[1, 2]]
