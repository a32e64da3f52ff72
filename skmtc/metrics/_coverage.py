"""Coverage@K: share of the catalogue that is recommended at all."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import check_k
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._topk import top_shares


def coverage_score(
    y_true: ArrayLike | csr_array | None,
    y_score: ArrayLike,
    *,
    k: int = 10,
    ignore: ArrayLike | csr_array | None = None,
) -> float:
    """Compute the share of all songs that are among the k best of at least one playlist.

    It is about the recommendations of all playlists together, so it has no value for a single
    playlist, and it grows with the number of playlists: compare rankers on the same ones. Songs
    with equal scores share the places that they take up together: the value is the mean over all
    orders of equal scores.

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
    coverage : float
        From 0 to 1; NaN without songs.

    See Also
    --------
    gini_score : How unevenly recommendations are spread over songs.

    References
    ----------
    M. Ge, C. Delgado-Battenfeld, D. Jannach. Beyond Accuracy: Evaluating Recommender Systems by
    Coverage and Serendipity. RecSys 2010.

    Examples
    --------
    Both playlists get the first song, and one of them the second: two of four songs.

    >>> from skmtc.metrics import coverage_score
    >>> coverage_score(None, [[4, 3, 2, 1], [4, 1, 2, 1]], k=1)
    0.25
    >>> coverage_score(None, [[4, 3, 2, 1], [1, 4, 2, 1]], k=1)
    0.5
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    return expected_coverage(coverage(ranking, k=k))


def coverage(ranking: Ranking, *, k: int) -> NDArray[np.float64]:
    """Return minus the log-probability of each song to be in no list; sums over blocks add up."""
    k = check_k(k)
    sums = np.zeros(ranking.y_score.shape[1])
    for playlists, scores, columns in ranking.groups():
        best, shares = top_shares(scores, k)
        # A song that shares places is in a list with the probability of its share.
        with np.errstate(divide="ignore"):
            sums[columns[best]] -= len(playlists) * np.log1p(-shares)
    return sums


def expected_coverage(sums: NDArray[np.float64]) -> float:
    """Return the expected share of songs in some list, given the sums of `coverage`."""
    return float(-np.expm1(-sums).mean()) if len(sums) else float("nan")
