"""TailShare@K: share of recommended songs in the long tail."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists, check_k
from skmtc.metrics._novelty import check_popularity
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._topk import top_shares

HEAD = 0.2


def tail_share_score(
    y_true: ArrayLike | csr_array | None,
    y_score: ArrayLike,
    *,
    popularity: ArrayLike,
    k: int = 10,
    head: float = HEAD,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the share of the k best songs that are in the long tail.

    The most popular songs, a share `head` of all, are the head; all others are the tail. Of equally
    popular songs at the border, each belongs to the tail in the same proportion, so a ranker that
    recommends at random scores 1 - `head`. Neither high nor low values are good as such.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs) or None
        Only tells which of the songs in `ignore` count all the same; may be None.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    popularity : array of shape (n_songs,)
        Probability of each song: the share of training playlists that hold it.

    k : int, default=10
        How many of the best songs are recommended.

    head : float, default=0.2
        Share of the songs that are the head.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over playlists; None gives one value per playlist.

    Returns
    -------
    tail_share : float or ndarray of shape (n_playlists,)
        From 0 to 1. NaN for a playlist without candidates.

    See Also
    --------
    novelty_score : How unpopular the recommended songs are.

    References
    ----------
    H. Abdollahpouri, R. Burke, B. Mobasher. Managing Popularity Bias in Recommender Systems with
    Personalized Re-ranking. FLAIRS 2019 (there: average percentage of long tail items).

    Examples
    --------
    Of five songs the first is the head, and one of the two that are recommended:

    >>> from skmtc.metrics import tail_share_score
    >>> popularity = [0.9, 0.1, 0.1, 0.2, 0.1]
    >>> tail_share_score(None, [[5, 4, 3, 2, 1]], popularity=popularity, k=2)
    0.5
    """
    if not 0 < head < 1:
        raise ValueError(f"`head` must be above 0 and below 1; got {head!r}. Pass e.g. 0.2.")
    ranking = Ranking(y_true, y_score, ignore=ignore)
    popularity = np.asarray(popularity, dtype=float)
    values = tail_share_per_playlist(ranking, k=k, popularity=popularity, head=head)
    return average_playlists(values, average, name="TailShare")


def tail_share_per_playlist(
    ranking: Ranking, *, k: int, popularity: NDArray[np.float64], head: float = HEAD
) -> NDArray[np.float64]:
    """Return the share of the tail in each playlist's recommendation; NaN without candidates."""
    k = check_k(k)
    check_popularity(popularity, ranking.y_score.shape[1])
    in_tail = tail_membership(popularity, head)
    values = np.full(ranking.n_playlists, np.nan)
    for playlists, scores, columns in ranking.groups():
        best, shares = top_shares(scores, k)
        if len(best):
            values[playlists] = np.average(in_tail[columns[best]], weights=shares)
    return values


def tail_membership(popularity: NDArray[np.float64], head: float) -> NDArray[np.float64]:
    """Return the degree, from 0 to 1, to which each song belongs to the tail."""
    n_head = head * len(popularity)
    _, codes, counts = np.unique(popularity, return_inverse=True, return_counts=True)
    more_popular = len(popularity) - np.cumsum(counts)
    in_head = np.clip((n_head - more_popular) / counts, 0.0, 1.0)
    return np.asarray(1.0 - in_head[codes], dtype=np.float64)
