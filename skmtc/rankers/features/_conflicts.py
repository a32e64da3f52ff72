"""Warn about songs with several values in a column, or with infinite ones."""

import warnings

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer

from skmtc.rankers.features._columns import Columns

# How many columns a message names.
N_NAMED = 5


def warn_odd_values(frame, table, transformer):
    """Warn if songs have several values in a column that is used, or infinite ones.

    Of several values the first row of the song counts. Columns of users and playlists, which a
    ColumnTransformer does not choose, may differ between the rows of a song.

    Parameters
    ----------
    frame : DataFrame
        The whole table.

    table : MembershipTable
        The same as arrays, with the first row of each song.

    transformer : transformer
        Fitted or unfitted transformer of songs. If it is neither a ColumnTransformer nor a list of
        columns, which columns it uses is not known, and nothing is compared.
    """
    columns = _chosen(transformer, frame)
    songs = table.songs.codes(frame[table.columns.song])
    several = {c: _n_several(frame[c], songs, len(table.songs)) for c in columns}
    if any(several.values()):
        warnings.warn(
            f"A song should have one value in each column; got songs with several in "
            f"{_listed(several, 'songs')}. The value in the first row of the song counts. Correct "
            "the table if that is not what you mean.",
            stacklevel=2,
        )
    warn_infinite(table.song_rows, transformer, "songs")


def warn_infinite(rows, transformer, what):
    """Warn if columns that are used have infinite values.

    Parameters
    ----------
    rows : DataFrame
        One row per song, user or playlist.

    transformer : transformer
        Fitted or unfitted transformer of these.

    what : {"songs", "users", "playlists"}
        What the rows are.
    """
    infinite = {column: _n_infinite(rows[column]) for column in _chosen(transformer, rows)}
    if any(infinite.values()):
        warnings.warn(
            f"Values of {what} should be finite; got infinite ones in "
            f"{_listed(infinite, what)}. They count as missing in features that are made of roles "
            "('auto', make_song_features, make_user_features); for other transformers, replace "
            "them by NaN.",
            stacklevel=2,
        )


def _chosen(transformer, frame):
    if isinstance(transformer, Columns):
        return [c for c in transformer.columns if c in frame.columns]
    if not isinstance(transformer, ColumnTransformer):
        return []
    parts = [part if isinstance(part, list) else [part] for _, _, part in transformer.transformers]
    named = [c for part in parts for c in part if isinstance(c, str) and c in frame.columns]
    return list(dict.fromkeys(named))


def _n_several(column, songs, n_songs):
    """Count songs with more than one value; a missing value is none."""
    try:
        values = pd.factorize(column)[0]
    except TypeError:  # lists of genres and the like
        return 0
    there = np.flatnonzero(values >= 0)
    songs, values = songs[there], values[there]
    first = np.empty(n_songs, dtype=values.dtype)
    first[songs[::-1]] = values[::-1]  # the last write, so the first row, wins
    differs = np.zeros(n_songs, dtype=bool)
    differs[songs[values != first[songs]]] = True
    return int(np.count_nonzero(differs))


def _n_infinite(column):
    if not pd.api.types.is_float_dtype(column.dtype):
        return 0
    return int(np.isinf(column.to_numpy(dtype=float, na_value=np.nan)).sum())


def _listed(counts, what):
    named = [f"{column!r} ({count:,} {what})" for column, count in counts.items() if count]
    more = f" and {len(named) - N_NAMED} more columns" if len(named) > N_NAMED else ""
    return ", ".join(named[:N_NAMED]) + more
