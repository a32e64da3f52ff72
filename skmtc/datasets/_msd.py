"""Songs of the Million Song Dataset, from any of the files that list them."""

import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from skmtc._typing import StrPath
from skmtc.datasets.reading import (
    MAX_BYTES,
    LoadReport,
    Source,
    clean_text,
    find_file,
    plain_file,
    read_hdf5,
)

TEXT_COLUMNS = {
    "track_id": "track",
    "song_id": "song",
    "title": "title",
    "artist_id": "artist",
    "artist_name": "artist_name",
}
NUMBER_COLUMNS = [
    "duration",
    "year",
    "artist_familiarity",
    "artist_hotttnesss",
    "loudness",
    "tempo",
    "mode",
    "key",
    "time_signature",
]
SEPARATOR = "<SEP>"
SQLITE_MAGIC = b"SQLite format 3\0"
DESCRIPTION = "Songs of the Million Song Dataset (Bertin-Mahieux et al., ISMIR 2011)."


def load_msd_songs(path: StrPath, *, max_bytes: int = MAX_BYTES) -> Bunch:
    r"""Load songs of the Million Song Dataset from a local copy.

    A song with several tracks is described by the first.

    Parameters
    ----------
    path : path-like
        `track_metadata.db`, `msd_summary_file.h5` (needs h5py) or `unique_tracks.txt`, plain or
        gzip; or a folder with some of these, which are joined by track.

    max_bytes : int, default=8 GiB
        Refuse files that are larger than this once decompressed.

    Returns
    -------
    bunch : Bunch
        `songs`, a table by MSD song id with the columns track, title, artist, artist_name and, as
        far as the files have them, duration, year, artist_familiarity, artist_hotttnesss, loudness,
        tempo, mode, key and time_signature (an unknown year is missing); `tracks`, the song id of
        every track; `dropped` and `repaired`, counts by reason; `DESCR`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skmtc.datasets import load_msd_songs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "unique_tracks.txt")
    ...     _ = path.write_text("TR1<SEP>SO1<SEP>Pulp<SEP>Babies\nTR2<SEP>SO1<SEP>Pulp<SEP>Babies")
    ...     bunch = load_msd_songs(path)
    >>> bunch.songs
         track       title artist_name
    song
    SO1    TR1      Babies        Pulp
    >>> bunch.tracks.to_dict()
    {'TR1': 'SO1', 'TR2': 'SO1'}
    """
    load_report = LoadReport("the MSD songs")
    tables = [_read(p, max_bytes, load_report) for p in _find_files(path)]
    table = tables[0]
    for more in tables[1:]:
        table = table.join(more[more.columns.difference(table.columns)])
    if table.empty:
        raise ValueError(
            f"The MSD files must list at least one song; got none from {str(path)!r} "
            f"({load_report.listing()}). Check the path."
        )
    tracks = table["song"]
    songs = table.reset_index().drop_duplicates("song").set_index("song")
    load_report.warn(stacklevel=3)
    descr = f"{DESCRIPTION}\n\nAs loaded: {load_report.listing()}."
    return Bunch(songs=songs, tracks=tracks, DESCR=descr, **load_report.counts())


def _find_files(path):
    path = Path(path)
    if not path.is_dir():
        return [path]
    names = ("track_metadata.db", "msd_summary_file.h5", "unique_tracks.txt")
    found = [found for name in names if (found := find_file(path, name))]
    if not found:
        raise FileNotFoundError(
            f"The folder must hold one of {', '.join(names)}; got none in {str(path)!r}. Check "
            "the path; nothing is downloaded."
        )
    return found


def _read(path, max_bytes, load_report):
    """Read one file, whose format is detected by its first bytes; return a table by track."""
    first = next(Source(path, max_bytes).chunks(), b"")
    if first.startswith(SQLITE_MAGIC):
        with plain_file(path, max_bytes) as plain:
            columns = _read_sqlite(plain, max_bytes)
    elif first.startswith(b"\x89HDF\r\n\x1a\n"):
        with plain_file(path, max_bytes) as plain:
            columns = read_hdf5(plain, [*TEXT_COLUMNS, *NUMBER_COLUMNS], max_bytes)
    else:
        columns = _read_unique_tracks(path, max_bytes, load_report)
    return _to_table(columns, load_report)


def _read_sqlite(path, max_bytes):
    """Read the columns of table `songs` that are known here."""
    try:
        # Read only, without locks or journals, and without functions defined in the file.
        connection = sqlite3.connect(
            f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1", uri=True
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.text_factory = _text
            is_table = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'songs'"
            created = connection.execute(is_table).fetchone()
            if created is None or "VIRTUAL" in str(created[0]).upper().split()[:2]:
                raise sqlite3.DatabaseError("no table `songs`")
            present = {row[1] for row in connection.execute("PRAGMA table_info(songs)")}
            names = [c for c in (*TEXT_COLUMNS, *NUMBER_COLUMNS) if c in present]
            if not {"track_id", "song_id"} <= set(names):
                raise sqlite3.DatabaseError("no columns `track_id` and `song_id`")
            _check_values(connection, names, max_bytes)
            rows = connection.execute(f"SELECT {', '.join(names)} FROM songs").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise ValueError(
            f"The file must be the SQLite database track_metadata.db; got {error} from "
            f"{str(path)!r}. Check the path, or fetch the file again."
        ) from error
    columns = zip(*rows, strict=True) if rows else [[] for _ in names]
    return dict(zip(names, map(list, columns), strict=True))


def _check_values(connection, names, max_bytes):
    """Count the bytes of all values before any is read.

    A long default of a column is stored once, and read for each row.
    """
    lengths = " + ".join(f"8 + coalesce(length(CAST({name} AS BLOB)), 0)" for name in names)
    n_bytes = connection.execute(f"SELECT coalesce(sum({lengths}), 0) FROM songs").fetchone()[0]
    if n_bytes > max_bytes:
        raise sqlite3.DatabaseError(f"{n_bytes} bytes in `songs`, beyond max_bytes={max_bytes}")


def _read_unique_tracks(path, max_bytes, load_report):
    """Read lines of track, song, artist and title."""
    source = Source(path, max_bytes)
    rows = []
    for line in source.lines():
        fields = line.split(SEPARATOR, 3)
        if len(fields) == 4:
            rows.append(fields)
        else:
            load_report.drop("malformed lines")
    source.report(load_report)
    columns = zip(*rows, strict=True) if rows else [[]] * 4
    names = ("track_id", "song_id", "artist_name", "title")
    return dict(zip(names, map(list, columns), strict=True))


def _to_table(columns, load_report):
    """Check and name columns; return one row per track."""
    table = {TEXT_COLUMNS[c]: _texts(columns[c]) for c in TEXT_COLUMNS if c in columns}
    table |= {c: _numbers(columns[c], load_report) for c in NUMBER_COLUMNS if c in columns}
    frame = pd.DataFrame(table)
    named = frame["track"].notna() & frame["song"].notna()
    load_report.drop("rows without a track or song id", (~named).sum())
    frame = frame[named]
    again = frame["track"].duplicated()
    load_report.drop("tracks seen before", again.sum())
    if "year" in frame:  # 0 stands for unknown
        frame = frame.assign(year=frame["year"].where(frame["year"] > 0))
    return frame[~again].set_index("track")


def _text(value):
    """Decode text of which some bytes may be in another encoding."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _texts(values):
    decoded = (_text(v) if isinstance(v, bytes) else v for v in values)
    return pd.Series([clean_text(v) for v in decoded], dtype=object)


def _numbers(values, load_report):
    """Return finite numbers; other values become missing, and are counted if not empty."""
    given = pd.Series(values, dtype=None if isinstance(values, np.ndarray) else object)
    numbers = pd.to_numeric(given, errors="coerce").astype(float)
    load_report.drop("values that are not numbers", (numbers.isna() & given.notna()).sum())
    return numbers.where(np.isfinite(numbers))
