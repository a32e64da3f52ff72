"""Normalised discounted cumulative gain."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists, check_k, ratio_or_nan
from skmtc.metrics._ranking import Ranking


def ndcg_score(
    y_true: ArrayLike | csr_array,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the gain of a playlist's songs, discounted by rank, over that of a perfect ranking.

    A song of the playlist at place r gains 1 / log2(1 + r). Songs with equal scores share the
    gain of the places that they take up together.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs)
        Non-zero where the song is in the playlist.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    k : int or None, default=None
        How many of the best songs count; None: all.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist, so that it takes no place.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over the playlists that have songs, and warns if not all do; None
        gives one value per playlist.

    Returns
    -------
    ndcg : float or ndarray of shape (n_playlists,)
        NaN for a playlist without songs, and for the mean if there is no other playlist.

    Examples
    --------
    The only song of the playlist is at the third place, so it gains 1 / log2(4):

    >>> from skmtc.metrics import ndcg_score
    >>> round(float(ndcg_score([[0, 0, 1, 0]], [[0.7, 0.9, 0.2, 0.1]])), 12)
    0.5
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    return average_playlists(ndcg_per_playlist(ranking, k=k), average, name="NDCG")


def ndcg_per_playlist(ranking: Ranking, *, k: int | None = None) -> NDArray[np.float64]:
    """Return the NDCG of each playlist; NaN for one without songs."""
    n_songs = ranking.y_score.shape[1]
    k = n_songs if k is None else min(check_k(k), n_songs)
    gain_up_to = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(2.0 + np.arange(k)))])
    above, level = ranking.places
    first, last = np.minimum(above, k), np.minimum(above + level, k)
    gains = ranking.sum_by_playlist((gain_up_to[last] - gain_up_to[first]) / level)
    return ratio_or_nan(gains, gain_up_to[np.minimum(ranking.n_positives, k)])
