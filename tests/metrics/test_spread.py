"""Spread."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax
from scipy.stats import entropy

from skmtc.metrics import spread_score

SCORES = arrays(float, (3, 6), elements=st.floats(-800, 800))


@given(SCORES, arrays(bool, (3, 6)))
def test_is_the_entropy_of_the_softmax(scores, ignore):
    values = spread_score(None, scores, ignore=ignore, average=None)
    for row, out, value in zip(scores, ignore, values, strict=True):
        if out.all():
            assert np.isnan(value)
        else:
            assert value == pytest.approx(entropy(softmax(row[~out])), abs=1e-12)


@given(SCORES)
def test_is_within_its_bounds_and_free_of_the_level_of_scores(scores):
    value = spread_score(None, scores)
    assert -1e-12 <= value <= np.log(6) + 1e-12
    assert spread_score(None, scores + 64) == pytest.approx(value, abs=1e-9)


def test_songs_without_weight_add_nothing():
    assert spread_score(None, [[0.0, 0.0, -np.inf]]) == pytest.approx(np.log(2))
    with pytest.raises(ValueError, match="best score must be finite for the softmax; got inf"):
        spread_score(None, [[0.0, np.inf]])


def test_frequency_by_hand():
    # Recommended: songs 0 and 1, 0 and 2, so the frequencies are 2 / 4, 1 / 4 and 1 / 4.
    value = spread_score(None, [[3, 2, 1], [3, 1, 2]], method="frequency", k=2)
    assert value == pytest.approx(1.5 * np.log(2))
    # All the same, or all songs alike.
    assert spread_score(None, [[2, 1], [2, 1]], method="frequency", k=1) == 0.0
    assert spread_score(None, [[1, 1], [1, 1]], method="frequency", k=1) == pytest.approx(np.log(2))


def test_frequency_without_candidates():
    assert np.isnan(spread_score(None, [[1, 2]], method="frequency", ignore=[[1, 1]]))


def test_bad_choices_are_reported():
    with pytest.raises(ValueError, match="`method` must be 'softmax' or 'frequency'; got 'gini'"):
        spread_score(None, [[1, 2]], method="gini")
    with pytest.raises(ValueError, match="about all playlists together"):
        spread_score(None, [[1, 2]], method="frequency", average=None)
