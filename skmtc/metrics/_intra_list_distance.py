"""Intra-list distance@K: how much the songs of a recommendation differ."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from skmtc.metrics._average import Average, average_playlists, check_k
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._topk import top_shares


def intra_list_distance_score(
    y_true: ArrayLike | csr_array | None,
    y_score: ArrayLike,
    *,
    vectors: ArrayLike | csr_array,
    k: int = 10,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the mean cosine distance (1 - cosine) of two of the k best songs.

    Distances depend on the vectors: compare rankers with the same vectors, such as features of
    songs, or the training playlists that hold them. Songs with a vector of zeros, of which nothing
    is known, are left out. Songs with equal scores share the places that they take up together: the
    value is the expected sum of distances over the expected number of pairs. Neither high nor low
    values are good as such.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs) or None
        Only tells which of the songs in `ignore` count all the same; may be None.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    vectors : array or sparse matrix of shape (n_songs, n_dimensions)
        One vector per song.

    k : int, default=10
        How many of the best songs are recommended.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over playlists; None gives one value per playlist.

    Returns
    -------
    distance : float or ndarray of shape (n_playlists,)
        From 0 (all alike) to 2; NaN for a playlist with fewer than two such songs.

    References
    ----------
    C.-N. Ziegler, S. M. McNee, J. A. Konstan, G. Lausen. Improving Recommendation Lists Through
    Topic Diversification. WWW 2005.

    Examples
    --------
    Of the three pairs of songs, one is alike and two are at right angles:

    >>> from skmtc.metrics import intra_list_distance_score
    >>> vectors = [[1, 0], [2, 0], [0, 1]]
    >>> distance = intra_list_distance_score(None, [[3, 2, 1]], vectors=vectors, k=3)
    >>> round(distance, 3)
    0.667

    A list of `recommend` is measured by equal scores of its songs alone:

    >>> import numpy as np
    >>> intra_list_distance_score(None, np.ones((1, 2)), vectors=[[1, 0], [0, 1]], k=2)
    1.0
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    values = _distances(ranking, check_k(k), vectors)
    return average_playlists(values, average, name="ListDistance")


def intra_list_distance_per_playlist(
    ranking: Ranking, *, k: int, song_playlists: csr_array
) -> NDArray[np.float64]:
    """Return the distance of each playlist's recommendation, by the playlists that hold songs."""
    return _distances(ranking, check_k(k), song_playlists)


def _distances(ranking: Ranking, k: int, vectors: ArrayLike | csr_array) -> NDArray[np.float64]:
    rows = csr_array(vectors, dtype=np.float64) if issparse(vectors) else np.asarray(vectors, float)
    n_songs = ranking.y_score.shape[1]
    if rows.ndim != 2 or rows.shape[0] != n_songs:
        raise ValueError(
            f"`vectors` must have one row per song, {n_songs}; got shape {rows.shape}. Give the "
            "vector of each column of the scores."
        )
    lengths = np.sqrt((rows * rows).sum(axis=1))
    values = np.full(ranking.n_playlists, np.nan)
    for playlists, scores, columns in ranking.groups():
        best, shares = top_shares(scores, k)
        both = _both(shares)
        known = lengths[columns[best]] > 0
        best, shares = columns[best[known]], shares[known]
        values[playlists] = _mean_distance(rows[best], lengths[best], shares, both)
    return values


def _both(shares: NDArray[np.float64]) -> float:
    """Return the probability that two given songs that share places are both recommended."""
    share = shares[shares < 1.0]
    n_tied = len(share)
    if n_tied < 2:
        return 0.0
    n_places = round(float(share.sum()))
    return n_places * (n_places - 1) / (n_tied * (n_tied - 1))


def _mean_distance(rows: Any, lengths: Any, shares: Any, both: float) -> float:
    """Return the expected distance of a pair, of songs whose shares below 1 are of the same places.

    The sum of cosines over ordered pairs of unit vectors u_i is |sum u|^2 - n, so no matrix of
    pairs is needed.
    """
    sure, tied = shares == 1.0, shares < 1.0
    n_sure, n_tied = int(sure.sum()), int(tied.sum())
    a, b = (_sum_of_units(rows[part], lengths[part]) for part in (sure, tied))
    share = float(shares[tied][0]) if n_tied else 0.0
    pairs = n_sure * (n_sure - 1) + 2 * n_sure * share * n_tied + both * n_tied * (n_tied - 1)
    if pairs <= 0:
        return float("nan")
    cosines = (a @ a - n_sure) + 2 * share * (a @ b) + both * (b @ b - n_tied)
    return float(np.clip(1.0 - cosines / pairs, 0.0, 2.0))


def _sum_of_units(rows: Any, lengths: Any) -> NDArray[np.float64]:
    return np.asarray(rows.T @ (1.0 / lengths), dtype=np.float64)
