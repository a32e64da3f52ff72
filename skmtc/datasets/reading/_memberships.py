"""Collect playlists that are read from files, and make their table."""

from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from skmtc.datasets.reading._matching import (
    add_genres,
    check_joinable,
    match_songs,
    read_genres,
    read_msd,
)

# Display names of songs; all other columns of a song table are features.
NAME_COLUMNS = ("title", "artist_name", "track", "album")
BLOCK_ROWS = 2**22


@dataclass
class Memberships:
    """Playlists in the order read, as codes: places in lists of distinct ids.

    Attributes
    ----------
    songs, users : dict
        Code of each id, in the order first seen.

    playlist_ids, owners, lengths : list or array
        One entry per playlist; `owners` are codes of users, and stay empty where owners are
        unknown.

    codes : array of int
        Codes of songs, playlist after playlist.
    """

    songs: dict[Any, int] = field(default_factory=dict)
    users: dict[Any, int] = field(default_factory=dict)
    playlist_ids: dict[Any, int] = field(default_factory=dict)
    owners: "array[int]" = field(default_factory=lambda: array("i"))
    lengths: "array[int]" = field(default_factory=lambda: array("i"))
    codes: "array[int]" = field(default_factory=lambda: array("i"))

    def add(self, playlist_id, song_codes, user=None):
        """Add a playlist with the codes of its songs, in order."""
        self.playlist_ids[playlist_id] = len(self.playlist_ids)
        self.lengths.append(len(song_codes))
        self.codes.extend(song_codes)
        if user is not None:
            self.owners.append(self.users.setdefault(user, len(self.users)))


@dataclass(frozen=True)
class Join:
    """What to join to playlists, and the filter that follows.

    Attributes
    ----------
    msd, genres : path, Bunch or None
        Songs of the MSD and genres by track.

    by : {"id", "name"}
        How songs are matched to the MSD.

    min_songs : int
        Playlists with fewer songs are dropped.

    max_bytes : int
        Limit of each file.
    """

    msd: object
    genres: object
    by: str
    min_songs: int
    max_bytes: int

    def check(self):
        """Check what can be checked before anything is read."""
        check_joinable(self.msd, self.genres)
        if isinstance(self.min_songs, bool) or not isinstance(self.min_songs, int | np.integer):
            raise ValueError(
                f"`min_songs` must be an integer; got {self.min_songs!r}. Pass 1 to keep all "
                "playlists."
            )


def to_bunch(memberships, songs, users, join, load_report, description):
    """Match, filter and join; return the Bunch of a loader.

    Parameters
    ----------
    memberships : Memberships

    songs, users : DataFrame or None
        One row per code, by id; no users where owners are unknown.

    join : Join

    load_report : LoadReport
        Everything that is dropped is counted here.

    description : str
        What the data set is.
    """
    lengths = np.frombuffer(memberships.lengths, dtype=np.intc).astype(np.int64)
    codes = np.frombuffer(memberships.codes, dtype=np.intc)
    playlist = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    _check_any(codes, load_report, "songs in playlists", "Check that the file is of this data set.")
    playlist, codes, songs = _joined(playlist, codes, songs, join, load_report)
    kept = _first_of_pairs(playlist, codes, len(songs))
    load_report.drop("songs that stand twice in a playlist", (~kept).sum(), asked_for=True)
    playlist, codes = playlist[kept], codes[kept]
    kept = _in_long_playlists(playlist, len(lengths), join.min_songs, load_report)
    playlist, codes = playlist[kept], codes[kept]
    _check_any(codes, load_report, "playlists left", "Lower `min_songs`, or check `msd`.")

    songs, codes = _used(songs, codes)
    owners = np.frombuffer(memberships.owners, dtype=np.intc)
    columns = {}
    if users is not None:
        users, of_rows = _used(users, owners[playlist])
        columns["user"] = _take(users.index, of_rows)
    ids = pd.Index(list(memberships.playlist_ids), name="playlist")
    columns["playlist"] = _take(*_used_index(ids, playlist))
    columns["song"] = _take(songs.index, codes)
    columns |= {c: _take(songs[c], codes) for c in songs if c not in NAME_COLUMNS}
    if users is not None:
        columns |= {c: _take(users[c], of_rows) for c in users}
    load_report.warn(stacklevel=4)
    return Bunch(
        X=pd.DataFrame(columns),
        songs=songs,
        users=users,
        DESCR=f"{description}\n\nAs loaded: {load_report.listing()}.",
        **load_report.counts(),
    )


def _joined(playlist, codes, songs, join, load_report):
    """Replace songs by those of the MSD that they match; drop rows of the others."""
    msd = read_msd(join.msd, join.max_bytes)
    if msd is None:
        return playlist, codes, songs
    row_of_song = match_songs(songs, msd, join.by)
    matched = row_of_song[codes] >= 0
    load_report.drop("rows with songs that are not in the MSD", (~matched).sum(), asked_for=True)
    found = msd.songs
    genres = read_genres(join.genres, join.max_bytes)
    if genres is not None:
        found = add_genres(found, genres, msd.tracks)
    return playlist[matched], row_of_song[codes[matched]], found


def _first_of_pairs(playlist, codes, n_songs):
    """Mark the first row of each song in each playlist, in blocks of whole playlists."""
    kept = np.ones(len(codes), dtype=bool)
    start = 0
    while start < len(codes):
        stop = min(start + BLOCK_ROWS, len(codes))
        stop = int(np.searchsorted(playlist, playlist[stop - 1], side="right"))
        pairs = playlist[start:stop].astype(np.int64) * n_songs + codes[start:stop]
        kept[start:stop] = ~pd.Series(pairs).duplicated().to_numpy()
        start = stop
    return kept


def _in_long_playlists(playlist, n_playlists, min_songs, load_report):
    """Mark rows of playlists with enough songs; those that have lost all count as short too."""
    min_songs = max(1, min_songs)
    short = np.bincount(playlist, minlength=n_playlists) < min_songs
    kept = ~short[playlist]
    load_report.drop(f"playlists with fewer than {min_songs} songs", short.sum(), asked_for=True)
    load_report.drop("rows of these playlists", (~kept).sum(), asked_for=True)
    return kept


def _used(frame, codes):
    """Keep the rows of a table that codes point to, and renumber the codes."""
    used = np.bincount(codes, minlength=len(frame)) > 0
    return frame[used], (np.cumsum(used, dtype=np.int32) - 1)[codes]


def _used_index(index, codes):
    used = np.bincount(codes, minlength=len(index)) > 0
    return index[used], (np.cumsum(used, dtype=np.int32) - 1)[codes]


def _take(values, codes):
    """Spread values to rows: numbers as they are, all else as categoricals."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy()[codes]
    if isinstance(values.dtype, pd.CategoricalDtype):
        own = values.cat.remove_unused_categories().cat
        return pd.Categorical.from_codes(own.codes.to_numpy()[codes], categories=own.categories)
    distinct_codes, distinct = pd.factorize(values)
    return pd.Categorical.from_codes(distinct_codes[codes], categories=pd.Index(distinct))


def _check_any(codes, load_report, what, advice):
    if not len(codes):
        raise ValueError(
            f"{load_report.name} must hold at least one; got no {what} "
            f"({load_report.listing()}). {advice}"
        )
