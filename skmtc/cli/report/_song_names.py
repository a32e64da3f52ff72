"""Display names of songs and playlists."""

import re

import pandas as pd

from skmtc.cli._safe_text import cell_of_terminal

TITLES = ("title", "name", "song", "track", "songname", "trackname", "songtitle", "tracktitle")
PLAYLIST_TITLES = ("title", "name", "playlist", "playlistname", "playlisttitle", "listname")
ARTISTS = ("artistname", "artistnames", "artist", "artists", "performer", "band")
# A column of titles may spell a few songs in two ways.
SHARE_OF_ONE_VALUE = 0.9


class SongNames:
    """Titles and artists of songs, and titles of playlists, where the table has them.

    Parameters
    ----------
    table : Table
        The table.

    artist : str or None
        Column that was guessed to have artists; one with their names comes first.
    """

    def __init__(self, table, artist=None):
        self._table = table
        self.title = _column(table, TITLES, table.song)
        self.artist = _column(table, ARTISTS, table.song, but=(self.title,)) or artist
        self.playlist_title = _column(table, PLAYLIST_TITLES, table.playlist)
        columns = [c for c in (self.title, self.artist) if c is not None]
        self._songs = _first_rows(table.X, table.song, columns)
        titles = [self.playlist_title] if self.playlist_title is not None else []
        self._playlists = _first_rows(table.X, table.playlist, titles)

    def song(self, song):
        """Return the title (the id if there is none) and the artist (or "") of a song."""
        title = self._value(self._songs, song, self.title)
        return title or shown(song), self._value(self._songs, song, self.artist)

    def playlist(self, playlist):
        """Return the title of a playlist, or its id."""
        return self._value(self._playlists, playlist, self.playlist_title) or shown(playlist)

    @staticmethod
    def _value(rows, key, column):
        if column is None or key not in rows.index:
            return ""
        value = rows.at[key, column]
        return "" if pd.isna(value) else shown(value)


def shown(value):
    """Return an id or a name on one line, cut if it is long."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # ids beside missing ones
    return cell_of_terminal(" ".join(str(value).split()) or str(value))


def _first_rows(X, key, columns):
    return X[[key, *columns]].drop_duplicates(key).set_index(key)


def _column(table, names, key, but=()):
    """Return the first column of some name that has one value per song, or per playlist."""
    ids = {table.user, table.playlist, table.song, *but}
    plain = {re.sub(r"[^a-z]", "", str(c).lower()): c for c in reversed(table.X.columns)}
    for name in names:
        column = plain.get(name)
        if column is None or column in ids:
            continue
        pairs = table.X[[key, column]].dropna().drop_duplicates()
        if len(pairs) and pairs[key].nunique() >= SHARE_OF_ONE_VALUE * len(pairs):
            return column
    return None
