"""Curves are the metrics at each length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skmtc.metrics import hit_rate_score, novelty_score
from skmtc.metrics._curves import hit_rate_curves, novelty_curves
from skmtc.metrics._ranking import Ranking

LENGTHS = [1, 2, 3, 5, 8, 20]


def _problem(seed, n_levels):
    rng = np.random.default_rng(seed)
    y_true = rng.random((6, 12)) < 0.3
    y_score = rng.integers(n_levels, size=(6, 12)).astype(float)
    ignore = rng.random((6, 12)) < 0.2
    ignore[1], y_true[1] = False, False
    popularity = rng.random(12)
    popularity[3] = 0.0
    return y_true, y_score, ignore, popularity


@given(st.integers(0, 999), st.sampled_from([1, 2, 4, 1000]))
def test_curves_are_the_metrics_at_each_length_with_and_without_ties(seed, n_levels):
    y_true, y_score, ignore, popularity = _problem(seed, n_levels)
    ranking = Ranking(y_true, y_score, ignore=ignore)
    hit_rates = hit_rate_curves(ranking, LENGTHS)
    novelties = novelty_curves(ranking, LENGTHS, popularity=popularity)
    options = {"ignore": ignore, "average": None}
    for j, k in enumerate(LENGTHS):
        expected = hit_rate_score(y_true, y_score, k=k, **options)
        np.testing.assert_allclose(hit_rates[:, j], expected)
        expected = novelty_score(y_true, y_score, k=k, popularity=popularity, **options)
        np.testing.assert_allclose(novelties[:, j], expected)


def test_by_hand():
    # Places: song 1, then songs 0 and 2, which share two places, then song 3.
    ranking = Ranking([[1, 0, 0, 1]], [[0.5, 0.9, 0.5, 0.1]])
    assert hit_rate_curves(ranking, [1, 2, 3, 4]).tolist() == [[0.0, 0.25, 0.5, 1.0]]
    novelty = novelty_curves(ranking, [1, 2, 3], popularity=np.array([0.5, 1.0, 0.125, 0.25]))
    assert novelty[0].tolist() == pytest.approx([0.0, 2 / 2, 4 / 3])  # 0, and then 2 bits each


def test_playlists_that_share_scores_have_one_curve():
    ranking = Ranking(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]],
        row_of_playlist=np.array([0, 0, 1]),
    )
    novelty = novelty_curves(ranking, [1, 2], popularity=np.array([1.0, 0.5, 0.25]))
    assert novelty.tolist() == [[0.0, 0.5], [0.0, 0.5], [2.0, 1.5]]


def test_without_candidates_novelty_is_not_defined():
    ranking = Ranking(None, [[1.0, 2.0]], ignore=[[1, 1]])
    assert np.isnan(novelty_curves(ranking, [1, 2], popularity=np.array([0.5, 0.5]))).all()
