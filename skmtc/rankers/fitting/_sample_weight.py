"""Weights of rows, and of the playlists that they make up."""

import numpy as np
import pandas as pd

from skmtc._table import column_label, is_table, to_frame


def take_weighted(X, sample_weight):
    """Return the rows of a table whose weight is not 0, and their weights.

    A row of weight 0 counts as if it were not there, as everywhere in scikit-learn.

    Parameters
    ----------
    X : table or array
        Membership table.

    sample_weight : array of shape (n_rows,) or None
        Weight of each row.

    Returns
    -------
    X : table or array
        The rows, all of them if no weight is 0.

    weights : ndarray or None
        Their weights; None if none are given.
    """
    if sample_weight is None:
        return X, None
    if is_table(X):
        X = to_frame(X)
    elif not isinstance(X, list | tuple) and not hasattr(X, "shape"):
        X = np.asarray(X)
    weights = _check_weights(sample_weight, X.shape[0] if hasattr(X, "shape") else len(X))
    kept = np.flatnonzero(weights)
    if len(kept) == len(weights):
        return X, weights
    if isinstance(X, pd.DataFrame):
        return X.iloc[kept], weights[kept]
    rows = X[kept] if hasattr(X, "shape") else [X[i] for i in kept]
    return rows, weights[kept]


def read_weight_column(frame, weight):
    """Return the label and the values of the column of weights; two None without it."""
    if weight is None:
        return None, None
    label = column_label(frame, weight)
    if label is None:
        raise ValueError(
            f"The table must have a column {weight!r} of weights; got {list(frame.columns)}. Name "
            "the one to use with `weight=`."
        )
    values = pd.to_numeric(frame[label], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(
            f"Weights must be positive numbers; got {int(wrong.sum())} others in column {label!r}, "
            f"the first at position {int(wrong.argmax())}. Drop rows that are not to count."
        )
    return label, values


def playlist_means(table, playlists, weights):
    """Return the weight of each playlist before normalisation.

    It is the sum of the weights of its rows over the number of its distinct songs, which is the
    mean where no row is repeated: a row that stands k times is a row of weight k.

    Parameters
    ----------
    table : MembershipTable or AppendedTable
        Playlists and their songs.

    playlists : ndarray of shape (n_rows,)
        Code of the playlist of each row; -1 for one that is left out.

    weights : ndarray of shape (n_rows,)
        Weight of each row.

    Returns
    -------
    means : ndarray of shape (n_playlists,)
        0 for a playlist without rows.
    """
    there = playlists >= 0
    n_playlists = len(table.playlists)
    sums = np.bincount(playlists[there], weights[there], minlength=n_playlists)
    return sums / np.maximum(1, np.diff(table.membership.indptr))


def _check_weights(sample_weight, n_rows):
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty((0, 0))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"`sample_weight` must be one number per row, of shape ({n_rows},); got "
            f"{np.shape(sample_weight)}. Pass an array that is aligned with the rows of X."
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(
            f"`sample_weight` must be finite and not negative; got "
            f"{int((~(np.isfinite(weights) & (weights >= 0))).sum())} other values. Correct them."
        )
    if not weights.any():
        raise ValueError(
            "`sample_weight` must have a weight that is not zero; got zero for every row. Pass "
            "sample_weight=None to count all rows alike."
        )
    return weights
