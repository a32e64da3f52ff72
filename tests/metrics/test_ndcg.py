"""Normalised discounted cumulative gain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

from skmtc.metrics import ndcg_score

LABELS = arrays(bool, (3, 6))
SCORES = arrays(float, (3, 6), elements=st.integers(0, 3).map(float))


@given(LABELS, SCORES, st.none() | st.integers(1, 8))
def test_equals_sklearn_row_by_row(labels, scores, k):
    values = ndcg_score(labels, scores, k=k, average=None)
    for i in range(3):
        if labels[i].any():
            expected = metrics.ndcg_score(labels[[i]].astype(int), scores[[i]], k=k)
            assert values[i] == pytest.approx(expected)
        else:
            assert np.isnan(values[i])


@given(LABELS, SCORES, LABELS)
def test_ignored_songs_take_no_place(labels, scores, ignore):
    values = ndcg_score(labels, scores, k=4, ignore=ignore, average=None)
    for i in np.flatnonzero(labels.any(axis=1)):
        kept = labels[i] | ~ignore[i]
        assert values[i] == pytest.approx(
            ndcg_score(labels[[i]][:, kept], scores[[i]][:, kept], k=4)
        )


def test_by_hand():
    # Places 1 and 3 gain 1 and 1 / 2; at best they would gain 1 and 1 / log2(3).
    value = ndcg_score([[1, 0, 1]], [[3, 2, 1]])
    assert value == pytest.approx(1.5 / (1 + 1 / np.log2(3)))
    assert ndcg_score([[1, 0, 1]], [[3, 2, 1]], k=1) == 1.0
