"""The best songs of a row of scores, where equal scores share places."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skmtc.metrics._ranking import FloatArray


def top_shares(scores: FloatArray, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find the songs that may be among the k best, and how often each is.

    Parameters
    ----------
    scores : ndarray of shape (n_songs,)
        Scores of one playlist.

    k : int
        How many songs are recommended; all where there are fewer.

    Returns
    -------
    columns : ndarray
        Songs whose scores reach the k-th best.

    shares : ndarray
        1 for songs above the k-th best score; songs with this score share the other places.
    """
    k = min(k, len(scores))
    if k == 0:
        return np.empty(0, dtype=np.intp), np.empty(0)
    last: Any = np.partition(scores, len(scores) - k)[len(scores) - k]
    columns = np.flatnonzero(scores >= last)
    is_last = scores[columns] == last
    n_last = np.count_nonzero(is_last)
    places_left = k - (len(columns) - n_last)
    return columns, np.where(is_last, places_left / n_last, 1.0)
