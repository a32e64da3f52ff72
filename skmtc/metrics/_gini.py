"""Gini@K: how unevenly recommendations are spread over songs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._ranking import Ranking
from skmtc.metrics._spread import recommendation_counts


def gini_score(
    y_true: ArrayLike | csr_array | None,
    y_score: ArrayLike,
    *,
    k: int = 10,
    ignore: ArrayLike | csr_array | None = None,
) -> float:
    """Compute the Gini index of how often each song is among the k best of a playlist.

    With counts c_1 <= ... <= c_M of the M songs,

        gini = sum_i (2 i - M - 1) c_i / (M sum_i c_i),

    which is 0 if all songs are recommended equally often, and 1 - 1 / M if only one ever is. It is
    about the recommendations of all playlists together, so it has no value for a single playlist.
    Songs with equal scores share the places that they take up together.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs) or None
        Only tells which of the songs in `ignore` count all the same; may be None.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    k : int, default=10
        How many of the best songs are recommended.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist.

    Returns
    -------
    gini : float
        From 0 to 1; NaN if nothing is recommended.

    See Also
    --------
    coverage_score : Share of the songs that are recommended at all.

    References
    ----------
    G. Shani, A. Gunawardana. Evaluating Recommendation Systems. In Recommender Systems Handbook,
    2011.

    Examples
    --------
    One song for everybody, and each song for somebody:

    >>> from skmtc.metrics import gini_score
    >>> gini_score(None, [[2, 1], [2, 1]], k=1)
    0.5
    >>> gini_score(None, [[2, 1], [1, 2]], k=1)
    0.0
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    return gini(recommendation_counts(ranking, k=k))


def gini(counts: NDArray[np.float64]) -> float:
    """Return the Gini index of counts; NaN if all are 0."""
    total = counts.sum()
    if total == 0:
        return float("nan")
    n_songs = len(counts)
    places = 2 * np.arange(1, n_songs + 1) - n_songs - 1
    return float(places @ np.sort(counts) / (n_songs * total))
