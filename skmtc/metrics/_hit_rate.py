"""HitRate@K, which is recall@K, and its relative R-precision."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists, check_k, ratio_or_nan
from skmtc.metrics._ranking import Ranking


def hit_rate_score(
    y_true: ArrayLike | csr_array,
    y_score: ArrayLike,
    *,
    k: int = 10,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the share of a playlist's songs that are among the k best.

    This is recall@k, as in the paper. Elsewhere "hit rate" may mean whether there is any hit.
    A playlist of more than k songs cannot reach 1. Songs with equal scores share the places that
    they take up together: the value is the mean over all orders of equal scores.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs)
        Non-zero where the song is in the playlist.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    k : int, default=10
        How many of the best songs are recommended.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist, so that it takes no place.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over the playlists that have songs, and warns if not all do; None
        gives one value per playlist.

    Returns
    -------
    hit_rate : float or ndarray of shape (n_playlists,)
        NaN for a playlist without songs, and for the mean if there is no other playlist.

    Examples
    --------
    One of the playlist's two songs is among the two best; if all are equal, so is any other half:

    >>> from skmtc.metrics import hit_rate_score
    >>> hit_rate_score([[1, 0, 0, 1]], [[0.7, 0.9, 0.2, 0.1]], k=2)
    0.5
    >>> hit_rate_score([[1, 0, 0, 1]], [[1.0, 1.0, 1.0, 1.0]], k=2)
    0.5
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    return average_playlists(hit_rate_per_playlist(ranking, k=k), average, name="HitRate")


def hit_rate_per_playlist(ranking: Ranking, *, k: int) -> NDArray[np.float64]:
    """Return the hit rate of each playlist; NaN for one without songs."""
    return share_within(ranking, check_k(k))


def share_within(ranking: Ranking, places: int | NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of each playlist's songs within a number of places, the same or one each."""
    above, level = ranking.places
    if isinstance(places, np.ndarray):
        places = ranking.per_positive(places)
    hits = ranking.sum_by_playlist(np.clip((places - above) / level, 0.0, 1.0))
    return ratio_or_nan(hits, ranking.n_positives)
