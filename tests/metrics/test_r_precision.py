"""R-precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skmtc.metrics import hit_rate_score, r_precision_score

LABELS = arrays(bool, (3, 6))
SCORES = arrays(float, (3, 6), elements=st.integers(0, 3).map(float))


@given(LABELS, SCORES, LABELS)
def test_is_the_hit_rate_at_the_length_of_the_playlist(labels, scores, ignore):
    values = r_precision_score(labels, scores, ignore=ignore, average=None)
    for i, n_songs in enumerate(labels.sum(axis=1)):
        row = slice(i, i + 1)
        if n_songs:
            options = {"k": n_songs, "ignore": ignore[row]}
            assert values[i] == hit_rate_score(labels[row], scores[row], **options)
        else:
            assert np.isnan(values[i])


def test_perfect_inverted_and_by_hand():
    assert r_precision_score([[1, 1, 0, 0]], [[4, 3, 2, 1]]) == 1.0
    assert r_precision_score([[1, 1, 0, 0]], [[1, 2, 3, 4]]) == 0.0
    # Places 1, 3 and 5 of a playlist of three: two are within three.
    assert r_precision_score([[1, 0, 1, 0, 1]], [[5, 4, 3, 2, 1]]) == pytest.approx(2 / 3)
