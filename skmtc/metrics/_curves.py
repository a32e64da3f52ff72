"""Metrics at many values of k, computed from one ranking."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skmtc.metrics._hit_rate import share_within
from skmtc.metrics._novelty import surprise_of
from skmtc.metrics._ranking import FloatArray, Ranking
from skmtc.metrics._topk import top_shares


def hit_rate_curves(ranking: Ranking, ks: Sequence[int]) -> NDArray[np.float64]:
    """Return the hit rate of each playlist at each k, of shape (n_playlists, n_ks)."""
    # The ranking computes the ranks of a playlist's songs once, and caches them.
    return np.column_stack([share_within(ranking, k) for k in ks])


def novelty_curves(
    ranking: Ranking, ks: Sequence[int], *, popularity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the novelty at each k of each playlist's recommendation; NaN without candidates."""
    lengths = np.asarray(ks)
    surprise = surprise_of(popularity, ranking.y_score.shape[1])
    novelty = np.full((ranking.n_playlists, len(lengths)), np.nan)
    for playlists, scores, columns in ranking.groups():
        if len(scores):
            places = _surprise_by_place(scores, surprise[columns], int(lengths.max()))
            reached = np.minimum(lengths, len(scores))
            novelty[playlists] = np.cumsum(places)[reached - 1] / reached
    return novelty


def _surprise_by_place(
    scores: FloatArray, surprise: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Return the expected surprise at each of the k best places.

    Songs with equal scores are as likely at each of the places that they share, so that all of
    these have their mean surprise.
    """
    best, _ = top_shares(scores, k)
    order = best[np.argsort(-scores[best], kind="stable")]
    ranked = scores[order]
    group = np.concatenate([[0], np.cumsum(ranked[1:] != ranked[:-1])])
    sums = np.bincount(group, weights=surprise[order])
    return np.asarray((sums / np.bincount(group))[group], dtype=np.float64)
