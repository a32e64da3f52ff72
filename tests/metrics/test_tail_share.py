"""The share of the long tail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skmtc.metrics import tail_share_score
from skmtc.metrics._tail_share import tail_membership

POPULARITY = arrays(float, 10, elements=st.sampled_from([0.1, 0.2, 0.3]))


@given(POPULARITY, st.floats(0.05, 0.95))
def test_random_lists_have_the_share_of_the_tail(popularity, head):
    share = tail_share_score(None, np.ones((1, 10)), popularity=popularity, k=3, head=head)
    assert share == pytest.approx(1 - head)
    in_tail = tail_membership(popularity, head)
    assert (np.diff(in_tail[np.argsort(popularity)]) <= 1e-12).all()


def test_by_hand():
    popularity = np.array([0.5, 0.4, 0.3, 0.2, 0.1])  # the head is the first
    values = tail_share_score(
        None, [[5, 4, 3, 2, 1], [1, 5, 4, 3, 2]], popularity=popularity, k=2, average=None
    )
    assert values.tolist() == [0.5, 1.0]
    # Of two hits that are equally popular, each is half in the head.
    popularity = np.array([0.5, 0.5, 0.3, 0.2, 0.1])
    assert tail_share_score(None, [[5, 4, 3, 2, 1]], popularity=popularity, k=2) == 0.5


def test_bad_input_is_reported():
    with pytest.raises(ValueError, match="`head` must be above 0 and below 1; got 1"):
        tail_share_score(None, [[1.0]], popularity=[0.5], head=1)
    with pytest.raises(ValueError, match="`popularity` must have one entry per song, 2"):
        tail_share_score(None, [[1.0, 2.0]], popularity=[0.5])
    values = tail_share_score(None, [[1.0]], popularity=[0.5], ignore=[[1]], average=None)
    assert np.isnan(values).all()
