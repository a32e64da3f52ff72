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
    several, infinite = {}, {}
    for column in columns:
        n_several = _n_several(frame[column], songs, len(table.songs))
        n_infinite = _n_infinite(table.song_rows[column])
        several |= {column: n_several} if n_several else {}
        infinite |= {column: n_infinite} if n_infinite else {}
    if several:
        warnings.warn(
            f"A song should have one value in each column; got songs with several in "
            f"{_listed(several)}. The value in the first row of the song counts. Correct the "
            "table if that is not what you mean.",
            stacklevel=2,
        )
    if infinite:
        warnings.warn(
            f"Values of songs should be finite; got songs with infinite ones in "
            f"{_listed(infinite)}. Replace them, e.g. by NaN, which counts as missing.",
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


def _listed(counts):
    named = [f"{column!r} ({count:,} songs)" for column, count in counts.items()]
    more = f" and {len(named) - N_NAMED} more columns" if len(named) > N_NAMED else ""
    return ", ".join(named[:N_NAMED]) + more
