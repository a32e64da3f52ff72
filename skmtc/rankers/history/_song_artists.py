"""Artists of songs, as the history term of artists needs them: ids, and a code per song."""

import numpy as np
import pandas as pd

from skmtc._table import Ids, column_label


def read_artists(song_rows, label):
    """Return the distinct artists, and the code of each song's; -1 for none.

    Parameters
    ----------
    song_rows : DataFrame
        One row per song.

    label : str or int
        Column of artists.

    Returns
    -------
    artists : ndarray of shape (n_artists,)
        Ids, sorted.

    codes : ndarray of shape (n_songs,)
        Position of each song's artist in `artists`.
    """
    name = label
    label = column_label(song_rows, name)
    if label is None:
        raise ValueError(
            "The history term 'artist' needs a column of artists; got no column "
            f"{name!r}. Set `artist` of the ranker, or leave the term out."
        )
    artists = song_rows[label]
    named = artists.notna().to_numpy()
    codes = np.full(len(artists), -1)
    if not named.any():
        return np.empty(0, dtype=object), codes
    ids, codes[named] = Ids.factorize(artists[named], "artist")
    return ids.values, codes


def artist_codes(rows, label, artists):
    """Return the codes of the artists of new songs; -1 for a new one or none."""
    codes = np.full(len(rows), -1)
    label = column_label(rows, label)
    if label is not None:
        named = rows[label].notna().to_numpy()
        if named.any():
            codes[named] = Ids(artists, "artist").codes(rows[label][named])
    return codes


def append_song_artists(artists, artist_of_song, appended, label):
    """Return artists and the artists of songs; new artists follow the known ones.

    Parameters
    ----------
    artists, artist_of_song : ndarray
        Artists, and the code of each song's, in the table of `fit`.

    appended : AppendedTable
        The table of `fit` with the rows of `partial_fit`.

    label : str or int
        Column of artists.

    Returns
    -------
    artists, artist_of_song : ndarray
        The same for the appended table.
    """
    is_new = appended.song_source < 0
    codes = np.full(len(is_new), -1)
    codes[~is_new] = artist_of_song[appended.song_source[~is_new]]
    label = column_label(appended.song_rows, label)
    if label is None or not is_new.any():
        return artists, codes
    new = appended.song_rows[label]
    found, values = pd.factorize(pd.concat([pd.Series(artists), new], ignore_index=True))
    codes[is_new] = found[len(artists) :]
    return np.asarray(values), codes
