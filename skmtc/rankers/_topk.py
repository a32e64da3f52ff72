"""The best songs of each row of scores."""

import numpy as np


def top_k(scores, k):
    """Give the columns of the k largest scores of each row, best first.

    Of equal scores the earlier column comes first, so the result depends on nothing but the
    scores. Scores of -inf are never wanted by a caller that has k others.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        Scores, without NaN.

    k : int
        How many columns to give, at most `n_columns`.

    Returns
    -------
    columns : ndarray of shape (n_rows, k)
        Columns in the order of falling scores.
    """
    n_rows, n_columns = scores.shape
    if k < n_columns:
        columns = np.argpartition(scores, n_columns - k, axis=1)[:, n_columns - k :]
        _settle_ties(scores, columns)
        columns.sort(axis=1)
    else:
        columns = np.broadcast_to(np.arange(n_columns), (n_rows, n_columns))
    best = np.take_along_axis(scores, columns, axis=1)
    order = np.argsort(-best, axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def _settle_ties(scores, columns):
    """Where equal scores compete for the last places, take the earliest columns."""
    best = np.take_along_axis(scores, columns, axis=1)
    last = best.min(axis=1, keepdims=True)
    chosen = np.count_nonzero(best == last, axis=1)
    tied = np.count_nonzero(scores == last, axis=1)
    for row in np.flatnonzero(tied > chosen):
        above = np.flatnonzero(scores[row] > last[row])
        equal = np.flatnonzero(scores[row] == last[row])
        columns[row] = np.concatenate([above, equal[: columns.shape[1] - len(above)]])
