"""Novelty@K."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tie_orders import mean_over_orders

from skmtc.metrics import novelty_score

POPULARITY = np.array([0.5, 0.25, 0.125, 1.0, 0.0625])
SCORES = arrays(float, (3, 5), elements=st.integers(0, 3).map(float))


@given(SCORES, arrays(bool, (3, 5)), st.integers(1, 7))
def test_is_the_mean_surprise_of_the_best_songs(scores, ignore, k):
    values = novelty_score(None, scores, popularity=POPULARITY, k=k, ignore=ignore, average=None)
    for row, out, value in zip(scores, ignore, values, strict=True):
        if out.all():
            assert np.isnan(value)
            continue
        surprise = -np.log2(POPULARITY[~out])
        expected = mean_over_orders(
            row[~out], lambda best, surprise=surprise: surprise[best[:k]].mean()
        )
        assert value == pytest.approx(expected)


def test_the_mean_is_over_the_playlists_of_a_user_then_over_users():
    scores = [[1, 0], [0, 1], [1, 0]]
    options = {"popularity": [0.5, 0.125], "k": 1}
    assert novelty_score(None, scores, **options, average=None).tolist() == [1.0, 3.0, 1.0]
    # ana: (1 + 3) / 2, bob: 1.
    assert novelty_score(None, scores, **options, users=["ana", "ana", "bob"]) == 1.5


def test_a_song_without_history_counts_as_the_least_popular():
    value = novelty_score(None, [[3, 2, 1]], popularity=[0.0, 0.5, 0.25], k=1)
    assert value == 2.0


@pytest.mark.parametrize("popularity", [[0.0, 0.0], [3, 1], [-0.1, 0.5], [np.nan, 0.5]])
def test_popularity_must_be_probabilities(popularity):
    with pytest.raises(ValueError, match="must be probabilities, not all of them 0"):
        novelty_score(None, [[1, 2]], popularity=popularity)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="`popularity` must have one entry per song, 2"):
        novelty_score(None, [[1, 2]], popularity=[0.5])
    with pytest.raises(ValueError, match="`users` must have one entry per playlist, 1"):
        novelty_score(None, [[1, 2]], popularity=[0.5, 0.5], users=[1, 2])
