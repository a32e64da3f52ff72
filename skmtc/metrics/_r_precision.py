"""R-precision: recall at the playlist's own length."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists
from skmtc.metrics._hit_rate import share_within
from skmtc.metrics._ranking import Ranking


def r_precision_score(
    y_true: ArrayLike | csr_array,
    y_score: ArrayLike,
    *,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the share of a playlist's songs that are among the best R, where R is their number.

    Precision and recall are equal at this rank, and a perfect ranking scores 1 for any
    length of the playlist. Songs with equal scores share the places that they take up together.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs)
        Non-zero where the song is in the playlist.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist, so that it takes no place.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over the playlists that have songs, and warns if not all do; None
        gives one value per playlist.

    Returns
    -------
    r_precision : float or ndarray of shape (n_playlists,)
        NaN for a playlist without songs, and for the mean if there is no other playlist.

    Examples
    --------
    One of the playlist's two songs is among the two best:

    >>> from skmtc.metrics import r_precision_score
    >>> r_precision_score([[1, 0, 0, 1]], [[0.7, 0.9, 0.2, 0.1]])
    0.5
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    return average_playlists(r_precision_per_playlist(ranking), average, name="R-precision")


def r_precision_per_playlist(ranking: Ranking) -> NDArray[np.float64]:
    """Return the R-precision of each playlist; NaN for one without songs."""
    return share_within(ranking, ranking.n_positives)
