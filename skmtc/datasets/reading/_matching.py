"""Matching songs of playlists to songs of the Million Song Dataset, and joining genres."""

import re
import unicodedata

import numpy as np
import pandas as pd

from skmtc.datasets._genres import load_genres
from skmtc.datasets._msd import load_msd_songs

_NOT_A_LETTER = re.compile(r"[\W_]+")


def read_msd(msd, max_bytes):
    """Return the songs of the MSD, from a path or as they were loaded before."""
    if msd is None or hasattr(msd, "songs"):
        return msd
    return load_msd_songs(msd, max_bytes=max_bytes)


def read_genres(genres, max_bytes):
    """Return genres by track, from a path or as they were loaded before."""
    if genres is None:
        return None
    loaded = genres if hasattr(genres, "genres") else load_genres(genres, max_bytes=max_bytes)
    return loaded.genres


def match_songs(songs, msd, by):
    """Find the row of the MSD for each song of playlists; -1 where there is none.

    Parameters
    ----------
    songs : DataFrame
        Songs by id; to match them by name, with `title` and `artist_name` or `artist`.

    msd : Bunch
        Result of `load_msd_songs`.

    by : {"id", "name"}
        Whether ids are those of the MSD; otherwise artist and title must agree, but for case,
        accents and punctuation.
    """
    if by == "id":
        return msd.songs.index.get_indexer(songs.index)
    rows = {}
    for row, key in enumerate(_keys(msd.songs["artist_name"], msd.songs["title"])):
        if key is not None:
            rows.setdefault(key, row)
    names = songs["artist_name"] if "artist_name" in songs else songs["artist"]
    keys = _keys(names, songs["title"])
    return np.array([rows.get(key, -1) for key in keys], dtype=np.intp)


def add_genres(songs, genres, tracks):
    """Join genres, which are known by track, to songs, as one text such as "Jazz|Blues".

    A song with several tracks takes the genre of the first that has one.
    """
    both = genres["genre"].where(
        genres["second_genre"].isna(), genres["genre"] + "|" + genres["second_genre"].fillna("")
    )
    by_song = pd.DataFrame({"song": tracks.reindex(genres.index), "genre": both})
    by_song = by_song.dropna(subset="song").drop_duplicates("song").set_index("song")
    return songs.join(by_song)


def name_key(artist, title):
    """Return a key that is equal for different spellings of a song; None if a name is missing.

    Examples
    --------
    >>> name_key("Sigur Rós", "Ára bátur!") == name_key("SIGUR ROS", "Ara Batur")
    True
    """
    if not isinstance(artist, str) or not isinstance(title, str):
        return None
    parts = [_plain(artist), _plain(title)]
    return "\t".join(parts) if all(parts) else None


def _keys(artists, titles):
    artists, titles = artists.astype(object), titles.astype(object)
    return [name_key(*names) for names in zip(artists, titles, strict=True)]


def _plain(name):
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKD", name)
        name = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _NOT_A_LETTER.sub("", name.casefold())


def check_joinable(msd, genres):
    """Check that genres, which are known by MSD track, can be joined."""
    if genres is not None and msd is None:
        raise ValueError(
            "`genres` are known by MSD track, so `msd` must be given too; got msd=None. Pass the "
            "path of track_metadata.db, msd_summary_file.h5 or unique_tracks.txt as `msd`."
        )
