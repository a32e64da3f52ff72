"""Spread: entropy of recommendations over songs."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.metrics._average import Average, average_playlists, check_k
from skmtc.metrics._ranking import FloatArray, Ranking
from skmtc.metrics._topk import top_shares

# exp of less than this is 0 in double precision.
LOWEST_EXPONENT = -745.0


def spread_score(
    y_true: ArrayLike | csr_array | None,
    y_score: ArrayLike,
    *,
    method: Literal["softmax", "frequency"] = "softmax",
    k: int = 10,
    ignore: ArrayLike | csr_array | None = None,
    average: Average = "macro",
) -> float | NDArray[np.float64]:
    """Compute the entropy, in nats, of the songs that may be recommended.

    Neither high nor low values are good as such. The entropy is at most the logarithm of the
    number of songs.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs) or None
        Only tells which of the songs in `ignore` count all the same; may be None.

    y_score : array of shape (n_playlists, n_songs)
        Scores.

    method : {"softmax", "frequency"}, default="softmax"
        "softmax": the entropy of the softmax of each playlist's scores, as in the paper. It
        depends on the scale of the scores. "frequency": the entropy of how often each song is
        among the k best, taken over all playlists together. It depends on the order only.

    k : int, default=10
        How many of the best songs are recommended; used by "frequency".

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over playlists; None gives one value per playlist, which exists for
        "softmax" only.

    Returns
    -------
    spread : float or ndarray of shape (n_playlists,)
        NaN for a playlist without candidates.

    Examples
    --------
    Equal scores spread attention over all four songs. Two playlists that get one song each, not
    the same, spread it over two:

    >>> import numpy as np
    >>> from skmtc.metrics import spread_score
    >>> bool(np.isclose(spread_score(None, [[1.0, 1.0, 1.0, 1.0]]), np.log(4)))
    True
    >>> spread = spread_score(None, [[3, 2, 1], [1, 2, 3]], method="frequency", k=1)
    >>> bool(np.isclose(spread, np.log(2)))
    True
    """
    ranking = Ranking(y_true, y_score, ignore=ignore)
    if method == "softmax":
        return average_playlists(spread_per_playlist(ranking), average, name="Spread")
    if method != "frequency":
        raise ValueError(
            f"`method` must be 'softmax' or 'frequency'; got {method!r}. Change `method`."
        )
    if average is None:
        raise ValueError(
            "`average` must be 'macro' for method='frequency', which is about all playlists "
            "together; got None. Pass method='softmax' for one value per playlist."
        )
    return entropy(recommendation_counts(ranking, k=k))


def spread_per_playlist(ranking: Ranking) -> NDArray[np.float64]:
    """Return the entropy of the softmax of each playlist's scores; NaN without candidates."""
    spread = np.empty(ranking.n_playlists)
    for playlists, scores, _ in ranking.groups():
        spread[playlists] = _softmax_entropy(scores)
    return spread


def recommendation_counts(ranking: Ranking, *, k: int) -> NDArray[np.float64]:
    """Count how often each song is among the k best of a playlist."""
    k = check_k(k)
    counts = np.zeros(ranking.y_score.shape[1])
    for playlists, scores, columns in ranking.groups():
        best, shares = top_shares(scores, k)
        counts[columns[best]] += len(playlists) * shares
    return counts


def entropy(counts: NDArray[np.float64]) -> float:
    """Return the entropy of frequencies; NaN if there are none."""
    total = counts.sum()
    if total == 0:
        return float("nan")
    frequencies = counts[counts > 0] / total
    return float(-(frequencies * np.log(frequencies)).sum())


def _softmax_entropy(scores: FloatArray) -> float:
    if len(scores) == 0:
        return float("nan")
    highest = float(scores.max())
    if not np.isfinite(highest):
        raise ValueError(
            f"The best score must be finite for the softmax; got {highest}. Mark songs that are "
            "no candidates with `ignore`, or pass method='frequency'."
        )
    # Shifted scores do not overflow; those so low that they have no weight add nothing.
    shifted = scores.astype(np.float64) - highest
    shifted = shifted[shifted > LOWEST_EXPONENT]
    weights = np.exp(shifted)
    total = weights.sum()
    return float(np.log(total) - (weights @ shifted) / total)
