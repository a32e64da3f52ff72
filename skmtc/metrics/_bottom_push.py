"""Bottom push loss, which the paper's ranker is made to minimise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists, ratio_or_nan
from skmtc.metrics._ranking import Ranking


def bottom_push_loss(
    y_true: ArrayLike | csr_array,
    y_score: ArrayLike,
    *,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the share of the songs outside a playlist that reach the lowest ranked song in it.

    The loss of a perfect ranking is 0. A song outside with the same score as the lowest song
    in the playlist counts fully, as in the paper.

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
        "macro" gives the mean over the playlists for which the loss is defined, and warns if it
        is not for all; None gives one value per playlist.

    Returns
    -------
    loss : float or ndarray of shape (n_playlists,)
        NaN for a playlist without positives or without negatives, and for the mean if there is
        no other playlist.

    Examples
    --------
    The lowest song of the playlist scores 0.2, which one of two songs outside reaches:

    >>> from skmtc.metrics import bottom_push_loss
    >>> bottom_push_loss([[1, 0, 1, 0]], [[0.7, 0.9, 0.2, 0.1]])
    0.5
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    return average_playlists(bottom_push_per_playlist(ranking), average, name="The bottom push")


def bottom_push_per_playlist(ranking: Ranking) -> NDArray[np.float64]:
    """Return the loss of each playlist; NaN where it is not defined."""
    above, level = ranking.places
    # The lowest song of a playlist is reached by all of its songs, and by most candidates.
    reached = np.zeros(ranking.n_playlists)
    np.maximum.at(reached, ranking.per_positive(np.arange(ranking.n_playlists)), above + level)
    n_positives = ranking.n_positives
    n_negatives = np.where(n_positives > 0, ranking.n_candidates - n_positives, 0)
    return ratio_or_nan(reached - n_positives, n_negatives)
