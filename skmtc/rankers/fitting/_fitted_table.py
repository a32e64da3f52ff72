"""Tables that a ranker reads, and what it stores of the table of `fit`."""

import warnings

import numpy as np
import pandas as pd
from sklearn.utils.validation import validate_data

from skmtc._table import check_even_rows, check_names, is_table, to_frame


def read_rows(ranker, X, *, reset):
    """Read a table as a DataFrame, with the columns of `fit` or with those that are needed.

    Parameters
    ----------
    ranker : BaseRanker
        The ranker, fitted unless `reset`.

    X : DataFrame or array
        Membership table or queries.

    reset : bool
        Whether to store the number and the names of columns.

    Returns
    -------
    frame : DataFrame
        Its rows. Columns that `fit` did not see are left out.
    """
    if not is_table(X):
        check_even_rows(X)
        X = validate_data(ranker, X, reset=reset, dtype=None, ensure_all_finite=False)
        return to_frame(X)
    frame = to_frame(X)
    if reset or not ranker.reader.finds_columns_by_name:
        validate_data(ranker, frame, reset=reset, skip_check_array=True)
        return frame
    # Columns may be missing here: code that needs one raises its own error.
    check_names(frame.columns, ranker.feature_names_in_)
    return frame[[c for c in ranker.feature_names_in_ if c in frame.columns]]


def warn_left_out(left_out):
    """Warn if rows or playlists do not count; called by the first function below `fit`."""
    named = [f"{count} {what}" for what, count in left_out.items() if count]
    if named:
        warnings.warn(
            f"Left out of fit: {'; '.join(named)}. A song that stands twice in a playlist "
            "counts once, and a playlist with every song of the catalogue has no negatives. "
            "The counts are in `left_out_`.",
            stacklevel=4,
        )


def table_attributes(table):
    """Return the fitted attributes that describe a table, by name.

    Parameters
    ----------
    table : MembershipTable or AppendedTable
        The table of `fit`, or this table with the rows of `partial_fit`.

    Returns
    -------
    attributes : dict
        Ids, memberships and owners.
    """
    membership = table.membership
    return {
        "songs_": table.songs.values,
        "playlists_": table.playlists.values,
        "users_": table.users.values,
        "membership_": membership,
        "user_of_playlist_": table.user_of_playlist,
        "left_out_": table.left_out,
        "_song_counts": np.bincount(membership.indices, minlength=membership.shape[1]),
    }


def plain_values(column):
    """Return the values of a column without types of pandas, which no safe file may hold."""
    values = column.to_numpy()
    return np.where(pd.isna(values), None, values) if values.dtype == object else values
