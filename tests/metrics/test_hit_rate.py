"""HitRate@K is recall@K."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import UndefinedMetricWarning
from tie_orders import mean_over_orders

from skmtc.metrics import hit_rate_score

LABELS = arrays(bool, (3, 5))
SCORES = arrays(float, (3, 5), elements=st.integers(0, 3).map(float))


@given(LABELS, SCORES, LABELS, st.integers(1, 7))
def test_is_recall_averaged_over_orders_of_equal_scores(labels, scores, ignore, k):
    rates = hit_rate_score(labels, scores, k=k, ignore=ignore, average=None)
    for own, row, out, rate in zip(labels, scores, ignore, rates, strict=True):
        kept = own | ~out
        if own.any():
            own, row = own[kept], row[kept]
            expected = mean_over_orders(row, lambda best, own=own: own[best[:k]].sum() / own.sum())
            assert rate == pytest.approx(expected)
        else:
            assert np.isnan(rate)


@given(LABELS, SCORES, st.integers(1, 7))
def test_only_the_order_matters(labels, scores, k):
    before = hit_rate_score(labels, scores, k=k, average=None)
    after = hit_rate_score(labels, np.exp(scores) - 7, k=k, average=None)
    np.testing.assert_array_equal(after, before)


@given(LABELS, SCORES)
def test_grows_with_k_to_1(labels, scores):
    rates = np.array([hit_rate_score(labels, scores, k=k, average=None) for k in range(1, 6)])[
        :, labels.any(axis=1)
    ]
    assert (np.diff(rates, axis=0) >= 0).all()
    np.testing.assert_allclose(rates[-1], 1)


def test_perfect_and_inverted_rankings():
    assert hit_rate_score([[1, 1, 0, 0]], [[4, 3, 2, 1]], k=2) == 1.0
    assert hit_rate_score([[1, 1, 0, 0]], [[1, 2, 3, 4]], k=2) == 0.0


def test_by_hand():
    # Songs at places 1 and 4 of three songs in all: one of three within 2, two within 4.
    labels, scores = [[1, 0, 0, 1, 0, 1]], [[9, 8, 7, 6, 5, 4]]
    assert hit_rate_score(labels, scores, k=2) == pytest.approx(1 / 3)
    assert hit_rate_score(labels, scores, k=4) == pytest.approx(2 / 3)
    # Without the second song, the fourth is third.
    assert hit_rate_score(labels, scores, k=3, ignore=[[0, 1, 0, 0, 0, 0]]) == pytest.approx(2 / 3)


def test_playlists_without_songs_are_counted():
    with pytest.warns(UndefinedMetricWarning, match="HitRate is not defined for 1 of 2"):
        assert hit_rate_score([[0, 0], [1, 0]], [[1, 2], [2, 1]], k=1) == 1.0


def test_one_candidate():
    assert hit_rate_score([[1]], [[0.3]], k=10) == 1.0
