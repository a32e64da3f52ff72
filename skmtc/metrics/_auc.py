"""Area under the ROC curve, playlist by playlist."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists, ratio_or_nan
from skmtc.metrics._ranking import Ranking


def auc_score(
    y_true: ArrayLike | csr_array,
    y_score: ArrayLike,
    *,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the probability that a song of a playlist scores above a song outside it.

    Equal scores count half. The score of a perfect ranking is 1, that of a random one 0.5.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs)
        Non-zero where the song is in the playlist.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist: it counts neither as a positive nor
        as a negative. Songs of the playlist always count.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over the playlists for which the area is defined, and warns if it
        is not for all; None gives one value per playlist.

    Returns
    -------
    auc : float or ndarray of shape (n_playlists,)
        NaN for a playlist without positives or without negatives, and for the mean if there is
        no other playlist.

    Examples
    --------
    The first playlist's song is above two of three others; the second playlist is perfect:

    >>> from skmtc.metrics import auc_score
    >>> scores = [[0.7, 0.9, 0.2, 0.1], [0.7, 0.9, 0.2, 0.1]]
    >>> auc_score([[1, 0, 0, 0], [0, 1, 0, 0]], scores, average=None)
    array([0.66666667, 1.        ])
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    return average_playlists(auc_per_playlist(ranking), average, name="AUC")


def auc_per_playlist(ranking: Ranking) -> NDArray[np.float64]:
    """Return the area of each playlist; NaN where it is not defined."""
    above, level = ranking.places
    n_positives = ranking.n_positives.astype(np.float64)
    n_negatives = ranking.n_candidates - n_positives
    n_pairs = n_positives * n_negatives
    lost = ranking.sum_by_playlist(above + 0.5 * level)
    # Among themselves, the songs of a playlist lose half of all pairs, whatever their order.
    lost -= 0.5 * n_positives**2
    return ratio_or_nan(n_pairs - lost, n_pairs)
