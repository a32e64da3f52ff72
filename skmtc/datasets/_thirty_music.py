"""The 30Music playlists, and the idomaar format that they come in."""

from typing import Any
from urllib.parse import unquote_plus

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
    find_file,
    loads,
    repair_json,
    to_bunch,
)

DESCRIPTION = (
    "30Music: playlists that users of Last.fm made, with the age, gender and country of users "
    "(Turrin et al., RecSys 2015)."
)


def load_30music(
    folder: StrPath,
    *,
    msd: Any = None,
    genres: Any = None,
    min_songs: int = 5,
    max_bytes: int = MAX_BYTES,
) -> Bunch:
    r"""Load the 30Music playlists from a local copy.

    Lines with broken JSON are repaired where that is safe (an empty value, a semicolon for a
    comma, a stray quote in a text), and skipped otherwise. All of this is counted.

    Parameters
    ----------
    folder : path-like
        Folder with `playlist.idomaar`, and, if there, `tracks.idomaar`, `persons.idomaar` and
        `users.idomaar`, plain or gzip, or with these in a folder `entities`. They are streamed.

    msd : path-like, Bunch or None, default=None
        Songs of the Million Song Dataset to join: a path for :func:`load_msd_songs`, or what that
        gave. Tracks are matched by artist and title, but for case, accents and punctuation; rows
        without a match are dropped.

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
        `X`, the membership table with the columns user, playlist and song (numbers, or MSD ids
        with `msd`), artist (a name) and duration (in seconds) or the columns of `msd`, and age,
        gender and country of the user; `songs` and `users`, tables by id; `playlists`, titles by
        id; `dropped` and `repaired`, counts by reason; `DESCR`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skmtc.datasets import load_30music
    >>> relations = '{"subjects":[{"type":"user","id":9}],"objects":[{"type":"track","id":5}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "playlist.idomaar")
    ...     _ = path.write_text('playlist\t1\t-1\t{"Title":"gym"}\t' + relations)
    ...     path = pathlib.Path(folder, "tracks.idomaar")
    ...     _ = path.write_text('track\t5\t-1\t{"duration":,"name":"Pulp/_/Babies"}\t{}')
    ...     bunch = load_30music(folder, min_songs=1)
    >>> bunch.X[["user", "playlist", "song", "artist"]]
       user  playlist  song artist
    0     9         1     5   Pulp
    >>> bunch.repaired
    {'lines with broken JSON': 1}
    """
    join = Join(msd, genres, "name", min_songs, max_bytes)
    join.check()
    files = _find_files(check_folder(folder))
    load_report = LoadReport("30Music")
    memberships = Memberships()
    titles: dict[Any, str] = {}
    for line in _entities(files["playlist"], "playlist", max_bytes, load_report):
        _add_playlist(memberships, titles, line, load_report)
    songs = _read_songs(files, memberships.songs, max_bytes, load_report)
    users = _read_users(files["users"], memberships.users, max_bytes, load_report)
    bunch = to_bunch(memberships, songs, users, join, load_report, DESCRIPTION)
    playlists = pd.Series(titles, dtype=object).rename_axis("playlist").to_frame("title")
    bunch.playlists = playlists.loc[bunch.X["playlist"].unique()]
    return bunch


def _find_files(folder):
    files = {}
    for name in ("playlist", "tracks", "persons", "users"):
        files[name] = find_file(folder, f"{name}.idomaar", f"entities/{name}.idomaar")
    if files["playlist"] is None:
        raise FileNotFoundError(
            f"The folder must hold playlist.idomaar or playlist.idomaar.gz; got none in "
            f"{str(folder)!r}. Check the path; nothing is downloaded."
        )
    return files


def _entities(path, kind, max_bytes, load_report, wanted=None):
    """Yield (id, properties, relations) of the lines of a file; all, or those with wanted ids."""
    if path is None:
        return
    source = Source(path, max_bytes)
    for line in with_bar(source.lines(), f"Reading {kind} lines", None):
        fields = line.split("\t", 3)
        number = _whole_number(fields[1]) if len(fields) == 4 and fields[0] == kind else None
        if number is None:
            load_report.drop(f"malformed {kind} lines")
        elif wanted is None or number in wanted:
            properties, relations = _parse(fields[3], load_report)
            if properties is None:
                load_report.drop(f"malformed {kind} lines")
            else:
                yield number, properties, relations
    source.report(load_report)


def _parse(fields, load_report):
    """Parse properties and relations, if need be after repair; (None, None) where that fails."""
    # Titles may hold tabs, relations never do.
    properties, tab, relations = fields.rpartition("\t")
    texts = [properties, relations] if tab else [relations]
    parsed = [_parse_object(text) for text in texts]
    if None in parsed:
        parsed = [_parse_object(repair_json(text)) for text in texts]
        if None in parsed:
            return None, None
        load_report.repair("lines with broken JSON")
    return (*parsed, {})[:2]


def _parse_object(text):
    parsed = loads(text) if text.strip() else {}
    return parsed if isinstance(parsed, dict) else None


def _whole_number(value):
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < 2**63 and not isinstance(value, bool) else None


def _related_ids(relations, role, load_report):
    """Return the ids of the subjects or objects of a line, in order."""
    related = relations.get(role)
    related = related if isinstance(related, list) else []
    ids = [_whole_number(r.get("id")) if isinstance(r, dict) else None for r in related]
    good = [i for i in ids if i is not None]
    load_report.drop(f"malformed {role}", len(ids) - len(good))
    return good


def _add_playlist(memberships, titles, line, load_report):
    number, properties, relations = line
    users = _related_ids(relations, "subjects", load_report)
    if len(users) != 1:
        load_report.drop("playlists without one user")
        return
    if number in memberships.playlist_ids:
        load_report.drop("playlists with an id seen before")
        return
    songs = memberships.songs
    tracks = _related_ids(relations, "objects", load_report)
    codes = [songs.setdefault(track, len(songs)) for track in tracks]
    memberships.add(number, codes, users[0])
    titles[number] = clean_text(properties.get("Title"))


def _read_songs(files, codes, max_bytes, load_report):
    """Return artist, title and duration of the tracks in playlists."""
    rows, artist_of_track = {}, {}
    for track, properties, relations in _entities(
        files["tracks"], "track", max_bytes, load_report, wanted=codes
    ):
        artist, title = _names(properties.get("name"))
        rows[track] = (artist, title, _seconds(properties.get("duration")))
        artists = _related_ids(relations, "artists", load_report)
        if artist is None and artists:
            artist_of_track[track] = artists[0]
    persons = {
        person: _names(properties.get("name"))[1]
        for person, properties, _ in _entities(
            files["persons"], "person", max_bytes, load_report, wanted=set(artist_of_track.values())
        )
    }
    for track, person in artist_of_track.items():
        rows[track] = (persons.get(person), *rows[track][1:])
    index = pd.Index(list(codes), dtype="int64", name="song")
    missing = (None, None, float("nan"))
    songs = pd.DataFrame(
        [rows.get(track, missing) for track in codes],
        index=index,
        columns=["artist", "title", "duration"],
    )
    return songs.astype({"artist": object, "title": object, "duration": float})


def _read_users(path, codes, max_bytes, load_report):
    """Return age, gender and country of the users with playlists."""
    rows = {
        user: (
            _age(properties.get("age")),
            clean_text(properties.get("gender")),
            clean_text(properties.get("country")),
        )
        for user, properties, _ in _entities(path, "user", max_bytes, load_report, wanted=codes)
    }
    users = pd.DataFrame(
        [rows.get(user, (float("nan"), None, None)) for user in codes],
        index=pd.Index(list(codes), dtype="int64", name="user"),
        columns=["age", "gender", "country"],
    )
    return users.astype({"age": float, "gender": object, "country": object})


def _names(name):
    """Split `Artist/_/Title`, which may be quoted as in a URL, into artist and title."""
    if not isinstance(name, str):
        return None, None
    artist, mark, title = name.partition("/_/")
    if not mark:
        artist, title = "", name
    return clean_text(unquote_plus(artist)), clean_text(unquote_plus(title))


def _seconds(milliseconds):
    number = _whole_number(milliseconds)
    return number / 1000 if number is not None and number > 0 else float("nan")


def _age(value):
    number = _whole_number(value)
    return float(number) if number is not None and 0 < number < 120 else float("nan")
