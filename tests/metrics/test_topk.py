"""The best songs, where equal scores share places."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tie_orders import mean_over_orders

from skmtc.metrics._topk import top_shares


@given(arrays(float, 5, elements=st.integers(0, 3).map(float)), st.integers(1, 7))
def test_shares_are_frequencies_over_orders_of_equal_scores(scores, k):
    columns, shares = top_shares(scores, k)
    for song in range(5):
        expected = mean_over_orders(scores, lambda best, song=song: song in best[:k])
        share = shares[columns == song]
        np.testing.assert_allclose(share if len(share) else [0.0], [expected])


def test_nothing_to_recommend():
    columns, shares = top_shares(np.empty(0), 3)
    assert len(columns) == len(shares) == 0
