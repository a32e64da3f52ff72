"""The AotM-2011 playlists."""

import re
from typing import Any

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
    clean_text,
    iterate_records,
    to_bunch,
)

LIST_START = re.compile(r"\[")
RECORD_START = re.compile(r'\{\s*"(?:mix_id|category|timestamp|user|playlist|filtered_lists)"')
DESCRIPTION = (
    "AotM-2011: playlists that users of Art of the Mix shared between 1998 and 2011, with songs "
    "matched to the Million Song Dataset (McFee and Lanckriet, ISMIR 2012)."
)


def load_aotm2011(
    path: StrPath,
    *,
    msd: Any = None,
    genres: Any = None,
    min_songs: int = 5,
    max_bytes: int = MAX_BYTES,
) -> Bunch:
    """Load the AotM-2011 playlists from a local copy.

    Songs without an MSD id are dropped, as are playlists with fewer than `min_songs` songs after
    that; order is kept. Broken records are skipped. All of this is counted.

    Parameters
    ----------
    path : path-like
        `aotm2011_playlists.json`, plain or gzip. It is streamed.

    msd : path-like, Bunch or None, default=None
        Songs of the Million Song Dataset to join: a path for :func:`load_msd_songs`, or what that
        gave. Rows whose songs are not in it are dropped.

    genres : path-like, Bunch or None, default=None
        Genres to join: a path for :func:`load_genres`, or what that gave. Needs `msd`. A song with
        two genres has both in its `genre`, as in "Jazz|Blues".

    min_songs : int, default=5
        Drop playlists with fewer distinct songs.

    max_bytes : int, default=8 GiB
        Refuse files that are larger than this once decompressed.

    Returns
    -------
    bunch : Bunch
        `X`, the membership table with the columns user, playlist, song, artist, those of `msd` and
        `genres`, and mixes_posted and member_since of the user; `songs` and `users`, tables by id;
        `playlists`, category and timestamp by id; `dropped` and `repaired`, counts by reason;
        `DESCR`.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from skmtc.datasets import load_aotm2011
    >>> record = {
    ...     "mix_id": 7,
    ...     "category": "Theme",
    ...     "timestamp": "2009-01-01T00:00:00",
    ...     "user": {"name": "ana", "mixes_posted": 1, "member_since": "2008-01-01T00:00:00"},
    ...     "playlist": [[["Pulp", "Babies"], "SO1"], [["Blur", "Tender"], None]],
    ...     "filtered_lists": [["SO1"]],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "aotm2011_playlists.json")
    ...     _ = path.write_text(json.dumps([record]))
    ...     bunch = load_aotm2011(path, min_songs=1)
    >>> bunch.X[["user", "playlist", "song", "artist"]]
      user playlist song artist
    0  ana        7  SO1   Pulp
    >>> bunch.dropped
    {'songs without an MSD id': 1}
    """
    join = Join(msd, genres, "id", min_songs, max_bytes)
    join.check()
    load_report = LoadReport("AotM-2011")
    source = Source(path, max_bytes)
    reader = _Reader(load_report)
    records = iterate_records(source.text(), LIST_START, RECORD_START, load_report)
    for record in with_bar(records, "Reading playlists", None):
        reader.read(record)
    source.report(load_report)
    songs = pd.DataFrame(
        {"artist": reader.artists, "title": reader.titles},
        index=pd.Index(list(reader.memberships.songs), dtype=object, name="song"),
    )
    users = pd.DataFrame(
        {
            "mixes_posted": pd.to_numeric(pd.Series(reader.mixes_posted, dtype=float)).to_numpy(),
            "member_since": reader.members_since,
        },
        index=pd.Index(list(reader.memberships.users), dtype=object, name="user"),
    )
    bunch = to_bunch(reader.memberships, songs, users, join, load_report, DESCRIPTION)
    playlists = pd.DataFrame(
        reader.playlists, columns=["playlist", "category", "timestamp"]
    ).set_index("playlist")
    bunch.playlists = playlists.loc[bunch.X["playlist"].cat.categories]
    return bunch


class _Reader:
    """Convert records to codes, and collect attributes of songs, users and playlists."""

    def __init__(self, load_report):
        self.load_report = load_report
        self.memberships = Memberships()
        self.artists, self.titles = [], []
        self.mixes_posted, self.members_since = [], []
        self.playlists = []

    def read(self, record):
        playlist_id = _id_text(record.get("mix_id"))
        user = record.get("user")
        name = _id_text(user.get("name")) if isinstance(user, dict) else None
        if playlist_id is None or name is None:
            self.load_report.drop("playlists without an id or a user")
            return
        if playlist_id in self.memberships.playlist_ids:
            self.load_report.drop("playlists with an id seen before")
            return
        codes = self._song_codes(record)
        if name not in self.memberships.users:
            self.mixes_posted.append(_number(user.get("mixes_posted")))
            self.members_since.append(clean_text(user.get("member_since")))
        self.memberships.add(playlist_id, codes, name)
        self.playlists.append(
            (playlist_id, clean_text(record.get("category")), clean_text(record.get("timestamp")))
        )

    def _song_codes(self, record):
        entries = record.get("playlist")
        if not isinstance(entries, list):
            entries = _from_filtered(record.get("filtered_lists"))
            self.load_report.repair("playlists read from their filtered lists")
        codes = []
        for entry in entries:
            if not isinstance(entry, list) or len(entry) != 2:
                self.load_report.drop("malformed songs")
                continue
            song = clean_text(entry[1])
            if song is None:
                self.load_report.drop("songs without an MSD id", asked_for=True)
                continue
            codes.append(self._song_code(song, entry[0]))
        return codes

    def _song_code(self, song, names):
        songs = self.memberships.songs
        if song not in songs:
            songs[song] = len(songs)
            artist, title = names if isinstance(names, list) and len(names) == 2 else (None, None)
            self.artists.append(clean_text(artist))
            self.titles.append(clean_text(title))
        return songs[song]


def _from_filtered(lists):
    """Return entries for the runs of matched songs that a record also holds."""
    lists = lists if isinstance(lists, list) else []
    return [[None, song] for run in lists if isinstance(run, list) for song in run]


def _id_text(value):
    """Return an id as text; integers are ids too, if they fit 64 bits as all parsers take."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return str(value)
    return clean_text(value)


def _number(value):
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None
