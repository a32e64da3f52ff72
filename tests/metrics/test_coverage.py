"""Coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skmtc.metrics import coverage_score

SCORES = arrays(float, (3, 6), elements=st.integers(0, 4).map(float))


@given(arrays(float, (4, 7), elements=st.floats(-9, 9), unique=True), st.integers(1, 9))
def test_counts_the_songs_of_all_lists(scores, k):
    lists = np.argsort(-scores, axis=1)[:, :k]
    assert coverage_score(None, scores, k=k) == pytest.approx(len(np.unique(lists)) / 7)


@given(SCORES, st.integers(1, 4))
def test_ties_are_the_mean_over_random_orders(scores, k):
    rng = np.random.default_rng(0)
    noisy = [scores + rng.uniform(0, 0.5, scores.shape) for _ in range(400)]
    mean = np.mean([coverage_score(None, one, k=k) for one in noisy])
    assert coverage_score(None, scores, k=k) == pytest.approx(mean, abs=0.05)


def test_songs_that_are_ignored_are_not_recommended():
    assert coverage_score(None, [[3, 2, 1]], k=1, ignore=[[1, 0, 0]]) == pytest.approx(1 / 3)
    assert coverage_score(None, [[3, 2]], k=1, ignore=[[1, 1]]) == 0.0
    assert np.isnan(coverage_score(None, np.empty((1, 0))))
    with pytest.raises(ValueError, match="`k` must be a positive integer; got 0"):
        coverage_score(None, [[1.0]], k=0)
