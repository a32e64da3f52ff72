"""The Spotify Million Playlist Dataset."""

import re
from array import array
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from skmtc._typing import StrPath
from skmtc._utils.progress import with_bar
from skmtc.datasets.reading import (
    MAX_BYTES,
    Join,
    LoadReport,
    Memberships,
    Source,
    check_folder,
    clean_text,
    inside,
    iterate_records,
    to_bunch,
)

MAX_SLICE_BYTES = 2**29
LARGEST_ID = 2**31 - 1
NO_SONG = -1
TRACK, POSITION = itemgetter("track_uri"), itemgetter("pos")
LIST_START = re.compile(r'"playlists"\s*:\s*\[')
RECORD_START = re.compile(
    r'\{\s*"(?:name|pid|collaborative|modified_at|num_\w+|tracks|description)"'
)
SLICE_NAME = re.compile(r"mpd\.slice\.(\d+)-(\d+)\.json(\.gz)?")
DESCRIPTION = (
    "Million Playlist Dataset: playlists that users of Spotify made between 2010 and 2017 (Chen et "
    "al., RecSys 2018). Owners are unknown: pass user=None to rankers."
)


def load_mpd(
    folder: StrPath,
    *,
    msd: Any = None,
    genres: Any = None,
    min_songs: int = 5,
    max_bytes: int = MAX_SLICE_BYTES,
) -> Bunch:
    """Load the Million Playlist Dataset, or some of its slices, from a local copy.

    Slices are streamed one after the other and kept as integer codes. A broken playlist or track
    is skipped and counted, and so is a slice without playlists.

    Parameters
    ----------
    folder : path-like
        Folder with files `mpd.slice.*.json`, plain or gzip, or with these in a folder `data`.

    msd : path-like, Bunch or None, default=None
        Songs of the Million Song Dataset to join: a path for :func:`load_msd_songs`, or what that
        gave. Tracks are matched by artist and title, but for case, accents and punctuation; rows
        without a match are dropped.

    genres : path-like, Bunch or None, default=None
        Genres to join: a path for :func:`load_genres`, or what that gave. Needs `msd`. A song with
        two genres has both in its `genre`, as in "Jazz|Blues".

    min_songs : int, default=5
        Drop playlists with fewer distinct songs.

    max_bytes : int, default=512 MiB
        Refuse a slice that is larger than this once decompressed.

    Returns
    -------
    bunch : Bunch
        `X`, the membership table with the columns playlist (a number), song, artist, duration (in
        seconds) or, with `msd`, the columns of that; text is categorical. `songs`, a table by id;
        `users`, None; `playlists`, names by id; `dropped` and `repaired`, counts by reason;
        `DESCR`.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from skmtc.datasets import load_mpd
    >>> track = {"pos": 0, "track_uri": "t1", "artist_uri": "a1", "artist_name": "Pulp",
    ...          "track_name": "Babies", "album_uri": "b1", "duration_ms": 244000}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mpd.slice.0-999.json")
    ...     playlists = [{"pid": 3, "name": "disco", "tracks": [track]}]
    ...     _ = path.write_text(json.dumps({"playlists": playlists}))
    ...     bunch = load_mpd(folder, min_songs=1)
    >>> bunch.X
       playlist song artist  duration
    0         3   t1     a1     244.0
    """
    join = Join(msd, genres, "name", min_songs, MAX_BYTES)
    join.check()
    load_report = LoadReport("the MPD")
    reader = _Reader(load_report)
    slices = _slices(check_folder(folder))
    for path in with_bar(slices, "Reading slices", len(slices)):
        source = Source(path, max_bytes)
        for record in iterate_records(source.text(), LIST_START, RECORD_START, load_report):
            reader.read(record)
        source.report(load_report)
    bunch = to_bunch(reader.memberships, reader.songs(), None, join, load_report, DESCRIPTION)
    ids = pd.Index(list(reader.memberships.playlist_ids), name="playlist")
    names = pd.Series(reader.names, index=ids, dtype=object).to_frame("name")
    bunch.playlists = names.loc[bunch.X["playlist"].unique()]
    return bunch


def _slices(folder):
    """Return the slices of a folder, in the order of their numbers."""
    found = {}
    for place in (folder, folder / "data"):
        for path in place.glob("mpd.slice.*"):
            name = SLICE_NAME.fullmatch(path.name)
            if name:
                found[int(name[1]), int(name[2]), path.name] = inside(folder, path)
    if not found:
        raise FileNotFoundError(
            f"The folder must hold files mpd.slice.*.json or mpd.slice.*.json.gz; got none in "
            f"{str(folder)!r}. Check the path; nothing is downloaded."
        )
    return [found[key] for key in sorted(found)]


class _Reader:
    """Convert playlists to codes, and collect attributes of songs at their first occurrence."""

    def __init__(self, load_report):
        self.load_report = load_report
        self.memberships = Memberships()
        self.names, self.titles, self.artist_names = [], [], []
        self.artists, self.albums = {}, {}
        self.artist_of_song, self.album_of_song = array("i"), array("i")
        self.durations = array("f")

    def read(self, record):
        playlist_id = _playlist_id(record)
        if playlist_id is None or not isinstance(record.get("tracks"), list):
            self.load_report.drop("playlists without an id or tracks")
        elif playlist_id in self.memberships.playlist_ids:
            self.load_report.drop("playlists with an id seen before")
        else:
            self.memberships.add(playlist_id, self._codes(record["tracks"]))
            self.names.append(clean_text(record.get("name")))

    def songs(self):
        """Return the table of all songs seen."""
        artist_of_song = np.frombuffer(self.artist_of_song, dtype=np.intc)
        names = np.array([*self.artist_names, None], dtype=object)
        return pd.DataFrame(
            {
                "artist": pd.Categorical.from_codes(artist_of_song, categories=list(self.artists)),
                "artist_name": names[artist_of_song],
                "title": np.array([*self.titles, None], dtype=object)[:-1],
                "album": pd.Categorical.from_codes(
                    np.frombuffer(self.album_of_song, dtype=np.intc), categories=list(self.albums)
                ),
                "duration": np.frombuffer(self.durations, dtype=np.float32),
            },
            index=pd.Index(list(self.memberships.songs), dtype=object, name="song"),
        )

    def _codes(self, tracks):
        """Return the codes of tracks in order; this runs for every row, so it must be fast."""
        known = self.memberships.songs
        try:
            codes = list(map(known.get, map(TRACK, tracks)))
            positions = list(map(POSITION, tracks))
            in_order = positions == list(range(len(codes))) or positions == sorted(positions)
        except (TypeError, KeyError):  # the slow path, only for broken tracks
            tracks = self._well_formed(tracks)
            codes = list(map(known.get, map(TRACK, tracks)))
            in_order = True
        if None in codes:
            codes = [
                self._new_song(track) if code is None else code
                for track, code in zip(tracks, codes, strict=True)
            ]
        if not in_order:
            self.load_report.repair("playlists put in the order of `pos`")
            codes = [codes[i] for i in sorted(range(len(codes)), key=positions.__getitem__)]
        return codes if NO_SONG not in codes else [code for code in codes if code >= 0]

    def _well_formed(self, tracks):
        good = [t for t in tracks if isinstance(t, dict) and clean_text(t.get("track_uri"))]
        self.load_report.drop("malformed tracks", len(tracks) - len(good))
        return good

    def _new_song(self, track):
        """Add a song with its code and attributes; return NO_SONG if it has no id."""
        known = self.memberships.songs
        song = clean_text(track["track_uri"])
        if song is None:
            self.load_report.drop("malformed tracks")
            return NO_SONG
        if song not in known:
            known[song] = len(known)
            artist = clean_text(track.get("artist_uri"))
            if artist is not None and artist not in self.artists:
                self.artist_names.append(clean_text(track.get("artist_name")))
            self.artist_of_song.append(_code(self.artists, artist))
            self.album_of_song.append(_code(self.albums, clean_text(track.get("album_uri"))))
            self.titles.append(clean_text(track.get("track_name")))
            self.durations.append(_seconds(track.get("duration_ms")))
        return known[song]


def _playlist_id(record):
    """Return the id of a playlist as a number; None where there is none."""
    pid = record.get("pid") if isinstance(record, dict) else None
    if isinstance(pid, str) and pid.isascii() and pid.isdigit() and len(pid) < 11:
        pid = int(pid)
    is_id = isinstance(pid, int) and not isinstance(pid, bool) and 0 <= pid <= LARGEST_ID
    return pid if is_id else None


def _code(codes, value):
    return -1 if value is None else codes.setdefault(value, len(codes))


def _seconds(milliseconds):
    is_number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return milliseconds / 1000 if is_number and 0 <= milliseconds < 1e12 else float("nan")
