"""Novelty@K: how little known the recommended songs are."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists, check_k
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._topk import top_shares


def novelty_score(
    y_true: ArrayLike | csr_array | None,
    y_score: ArrayLike,
    *,
    popularity: ArrayLike,
    k: int = 10,
    users: ArrayLike | None = None,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the mean of -log2(popularity) over the k best songs.

    The mean is over the songs of a recommendation, then over the playlists of a user, then over
    users. Neither high nor low values are good as such. Songs with equal scores share the places
    that they take up together. Where there are fewer than k candidates, all are recommended.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs) or None
        Only tells which of the songs in `ignore` count all the same; may be None.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    popularity : array of shape (n_songs,)
        Probability of each song: the share of training playlists that hold it. A song of
        popularity 0 counts as the least popular of the others.

    k : int, default=10
        How many of the best songs are recommended.

    users : array of shape (n_playlists,), default=None
        Owner of each playlist. None: each playlist has its own.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over users; None gives one value per playlist.

    Returns
    -------
    novelty : float or ndarray of shape (n_playlists,)
        In bits. NaN for a playlist without candidates.

    Examples
    --------
    The two best songs are in a half and in an eighth of all playlists, that is 1 and 3 bits:

    >>> from skmtc.metrics import novelty_score
    >>> novelty_score(None, [[0.7, 0.9, 0.2]], popularity=[0.5, 0.125, 0.25], k=2)
    2.0
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    values = novelty_per_playlist(ranking, k=k, popularity=np.asarray(popularity, dtype=float))
    if users is not None:
        users = np.asarray(users)
        if users.shape != (ranking.n_playlists,):
            raise ValueError(
                f"`users` must have one entry per playlist, {ranking.n_playlists}; got shape "
                f"{users.shape}. Pass the owner of each row of the scores."
            )
    return average_playlists(values, average, name="Novelty", users=users)


def novelty_per_playlist(
    ranking: Ranking, *, k: int, popularity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the novelty of each playlist's recommendation; NaN without candidates."""
    k = check_k(k)
    surprise = surprise_of(popularity, ranking.y_score.shape[1])
    novelty = np.full(ranking.n_playlists, np.nan)
    for playlists, scores, columns in ranking.groups():
        best, shares = top_shares(scores, k)
        if len(best):
            novelty[playlists] = np.average(surprise[columns[best]], weights=shares)
    return novelty


def surprise_of(popularity: NDArray[np.float64], n_songs: int) -> NDArray[np.float64]:
    """Return -log2 of popularity, of the least popular song where it is 0."""
    check_popularity(popularity, n_songs)
    least = popularity[popularity > 0].min(initial=1.0)
    return -np.log2(np.where(popularity > 0, popularity, least))


def check_popularity(popularity: NDArray[np.float64], n_songs: int) -> None:
    """Raise ValueError if popularity is not a probability per song."""
    if popularity.shape != (n_songs,):
        raise ValueError(
            f"`popularity` must have one entry per song, {n_songs}; got shape {popularity.shape}. "
            "Pass the popularity of each column of the scores."
        )
    if not ((popularity >= 0) & (popularity <= 1)).all() or (n_songs and not popularity.any()):
        raise ValueError(
            "`popularity` must be probabilities, not all of them 0; got values from "
            f"{popularity.min()} to {popularity.max()}. Divide the counts of songs by the number "
            "of playlists."
        )
