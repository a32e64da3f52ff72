"""Area under the ROC curve, playlist by playlist."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array


def auc_score(
    y_true: ArrayLike | csr_array,
    y_score: ArrayLike,
    *,
    ignore: ArrayLike | csr_array | None = None,
    average: Literal["macro"] | None = "macro",
) -> float | NDArray[np.float64]:
    """Probability that a song of a playlist scores above a song outside it.

    Equal scores count half. The score of a perfect ranking is 1, that of a random one 0.5.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs)
        Non-zero where the song is in the playlist.

    y_score : array of shape (n_playlists, n_songs)
        Scores; only their order within a row matters.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist: it counts neither as a positive nor
        as a negative.

    average : {"macro", None}, default="macro"
        "macro" gives the mean over the playlists for which the area is defined; None gives one
        value per playlist.

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
    scores = np.asarray(y_score)
    positive = _rows(y_true, scores)
    ignored = _rows(ignore, scores) if ignore is not None else csr_array(scores.shape, dtype=bool)
    auc = np.array(
        [_row_auc(row, _columns(positive, i), _columns(ignored, i)) for i, row in enumerate(scores)]
    )
    if average is None:
        return auc
    return float(np.mean(auc[~np.isnan(auc)])) if not np.isnan(auc).all() else float("nan")


def _row_auc(
    scores: NDArray[np.floating[Any]], positive: NDArray[np.intp], ignored: NDArray[np.intp]
) -> float:
    """Count, for each positive, the negatives below it; comparing beats sorting for few."""
    ignored = np.setdiff1d(ignored, positive)
    n_negative = len(scores) - len(positive) - len(ignored)
    if len(positive) == 0 or n_negative == 0:
        return float("nan")
    others = np.concatenate([scores[positive], scores[ignored]])
    won = 0.0
    for score in scores[positive]:
        won += np.count_nonzero(scores < score) - np.count_nonzero(others < score)
        won += 0.5 * (np.count_nonzero(scores == score) - np.count_nonzero(others == score))
    return won / (len(positive) * n_negative)


def _rows(matrix: ArrayLike | csr_array, scores: NDArray[np.floating[Any]]) -> csr_array:
    rows = csr_array(matrix, copy=True)
    if rows.shape != scores.shape:
        raise ValueError(
            "Labels and scores must be of one shape, playlists by songs; got "
            f"{rows.shape} and {scores.shape}. Check which songs each of them covers."
        )
    rows.eliminate_zeros()
    return rows


def _columns(rows: csr_array, i: int) -> NDArray[np.intp]:
    return np.asarray(rows.indices[rows.indptr[i] : rows.indptr[i + 1]])
