"""Files in the original formats, and ways to damage them, shared by tests of loaders."""

import gzip
import json
import sqlite3
import tempfile
import warnings
from pathlib import Path

from hypothesis import strategies as st


def aotm_record(mix_id, songs, user="ana", **changes):
    """Return one AotM-2011 playlist; songs are ids or None."""
    return {
        "mix_id": mix_id,
        "category": "Theme",
        "timestamp": "2009-01-01T00:00:00",
        "user": {"name": user, "mixes_posted": 3, "member_since": "2008-01-01T00:00:00"},
        "playlist": [[[f"artist of {s}", f"title of {s}"], s] for s in songs],
        "filtered_lists": [[s for s in songs if s]],
    } | changes


def mpd_track(position, number, **changes):
    """Return one track of the Million Playlist Dataset."""
    return {
        "pos": position,
        "artist_name": f"Artist {number % 3}",
        "track_uri": f"spotify:track:{number}",
        "artist_uri": f"spotify:artist:{number % 3}",
        "track_name": f"Title {number}",
        "album_uri": f"spotify:album:{number}",
        "duration_ms": 1000 * number,
        "album_name": f"Album {number}",
    } | changes


def mpd_slice(playlists):
    """Return a slice as text: a dict of lists of tracks by playlist id."""
    records = [{"name": f"p{pid}", "pid": pid, "tracks": t} for pid, t in playlists.items()]
    return json.dumps({"info": {}, "playlists": records}, indent=4)


def idomaar_playlist(number, user, tracks, properties='{"ID":1,"Title":"mix"}'):
    """Return one line of playlist.idomaar."""
    subjects = json.dumps([{"type": "user", "id": user}])
    objects = json.dumps([{"type": "track", "id": t} for t in tracks])
    relations = f'{{"subjects":{subjects},"objects":{objects}}}'
    return f"playlist\t{number}\t1200000000\t{properties}\t{relations}"


def idomaar_track(number, name, artist=1):
    """Return one line of tracks.idomaar."""
    properties = json.dumps({"duration": 200000, "playcount": 4, "MBID": None, "name": name})
    relations = json.dumps(
        {"artists": [{"type": "person", "id": artist}], "albums": [], "tags": []}
    )
    return f"track\t{number}\t-1\t{properties}\t{relations}"


def write_metadata(path, rows, columns=None):
    """Write a track_metadata.db; rows are dicts."""
    columns = columns or list(rows[0])
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE songs ({', '.join(columns)})")
        marks = ", ".join("?" for _ in columns)
        connection.executemany(
            f"INSERT INTO songs VALUES ({marks})", [[row.get(c) for c in columns] for row in rows]
        )
    connection.close()
    return path


def msd_row(number, **changes):
    """Return one row of the table of track_metadata.db."""
    return {
        "track_id": f"TR{number}",
        "title": f"title of SO{number}",
        "song_id": f"SO{number}",
        "artist_id": f"AR{number % 3}",
        "artist_name": f"artist of SO{number}",
        "duration": 200.5,
        "artist_familiarity": 0.5,
        "artist_hotttnesss": 0.25,
        "year": 1990 + number,
    } | changes


def damaged(whole):
    """Draw bytes of a good file of which some are cut, changed or inserted; or any bytes."""

    # Without arguments: Hypothesis would write them out, and warns of files that are too long.
    @st.composite
    def bytes_of_file(draw):
        return _damage(draw, whole)

    return bytes_of_file()


def _damage(draw, whole):
    if draw(st.booleans()):
        return draw(st.binary(max_size=400))
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(content) - 1)))
        change = draw(st.sampled_from(["cut", "change", "insert", "end"]))
        if change == "cut":
            del content[place : place + draw(st.integers(1, 40))]
        elif change == "change":
            content[place : place + 1] = draw(st.binary(min_size=1, max_size=1))
        elif change == "insert":
            piece = st.sampled_from(
                [b'"', b"{", b"}", b"[", b"]", b",", b":,", b";", b"\t", b"\xff"]
            )
            content[place:place] = draw(piece)
        else:
            del content[place:]
    return gzip.compress(bytes(content)) if draw(st.booleans()) else bytes(content)


def load_damaged(loader, contents, **parameters):
    """Load files from a folder; give what is loaded, or None after an error that says what to do.

    Parameters
    ----------
    loader : callable
        Takes the folder.

    contents : dict of str to bytes
        The files of the folder.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in contents.items():
            (folder / file).write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Not all of")
                return loader(folder, **parameters)
        except ValueError as error:
            if "must" not in str(error) or "got" not in str(error):
                raise
            return None
