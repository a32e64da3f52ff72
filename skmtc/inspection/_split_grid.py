"""A split of a table as a grid of songs by playlists."""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd

from skmtc._table import Ids, find_id_columns, read_ids, to_frame

# Values of `SplitGrid.states`.
ABSENT, ABSENT_COLD, TRAIN, TEST, LEFT_OUT = range(5)


@dataclass
class SplitGrid:
    """A part of a table that is small enough to be drawn, as a splitter cuts it.

    Attributes
    ----------
    title : str
        What is cold.

    states : ndarray of shape (n_songs, n_playlists)
        What each cell is: 0 for a song that is not in a playlist, 1 for the same where training
        knows nothing of the song or nothing of the playlist, 2 for a training row, 3 for a test
        row and 4 for a row that is left out.

    songs, playlists, users : ndarray
        Ids of the rows of the grid, of its columns, and of the owners of the columns.

    n_songs, n_playlists : int
        Numbers of songs and playlists of the whole table.
    """

    title: str
    states: np.ndarray
    songs: np.ndarray
    playlists: np.ndarray
    users: np.ndarray
    n_songs: int
    n_playlists: int


def cut_grid(splitter, X, *, split, most_songs, most_playlists, title):
    """Split a table, and choose the part of it to draw.

    Playlists are grouped by user. What is cold comes last: new users, new playlists of known
    users, and new songs. Of users with and without test rows, and of songs that are new and known,
    as large shares are chosen as the table has.
    """
    ids, codes = _read(splitter, X)
    train, test = _rows_of_split(splitter, X, split)
    row_states = np.full(len(codes["song"]), LEFT_OUT)
    row_states[train], row_states[test] = TRAIN, TEST
    is_new = {role: _lacking(codes[role], train, len(ids[role])) for role in ids}

    playlists = _choose_playlists(codes, test, is_new, most_playlists)
    songs = _choose_songs(codes, playlists, is_new["song"], most_songs)
    states = np.where(
        is_new["song"][songs][:, None] | is_new["playlist"][playlists], ABSENT_COLD, ABSENT
    )
    row, column = _places(songs, codes["song"]), _places(playlists, codes["playlist"])
    drawn = (row >= 0) & (column >= 0)
    states[row[drawn], column[drawn]] = row_states[drawn]
    owner = _owners(codes)
    return SplitGrid(
        title=title,
        states=states,
        songs=ids["song"].values[songs],
        playlists=ids["playlist"].values[playlists],
        users=ids["user"].values[owner[playlists]],
        n_songs=len(ids["song"]),
        n_playlists=len(ids["playlist"]),
    )


def _read(splitter, X):
    """Return the ids of a table by role, and the codes of its rows."""
    frame = to_frame(X)
    names = {role: getattr(splitter, role, role) for role in ("user", "playlist", "song")}
    columns = find_id_columns(frame, **names)
    labels = {"song": columns.song, "playlist": columns.playlist}
    labels["user"] = columns.playlist if columns.user is None else columns.user
    ids, codes = {}, {}
    for role, label in labels.items():
        ids[role], codes[role] = Ids.factorize(read_ids(frame, label, role), role)
    return ids, codes


def _rows_of_split(splitter, X, split):
    rows = next(islice(splitter.split(X), split, None), None)
    if rows is None:
        raise ValueError(
            f"`split` must be below the number of splits, {splitter.get_n_splits(X)}; got {split}. "
            "Count from 0."
        )
    return rows


def _lacking(codes, rows, n_codes):
    """Return which codes are in none of some rows."""
    lacking = np.ones(n_codes, dtype=bool)
    lacking[codes[rows]] = False
    return lacking


def _owners(codes):
    owner = np.empty(codes["playlist"].max() + 1, dtype=np.intp)
    owner[codes["playlist"]] = codes["user"]
    return owner


def _choose_playlists(codes, test, is_new, most):
    """Choose users until their playlists are enough; order these by what is cold.

    No user takes up more than an eighth as long as there are others.
    """
    owner = _owners(codes)
    tested = ~_lacking(codes["user"], test, len(is_new["user"]))
    turn = np.empty(len(tested))
    turn[_in_proportion(np.arange(len(tested)), tested)] = np.arange(len(tested))
    place = _place_within(owner, is_new["playlist"])
    chosen = np.lexsort([place, turn[owner], place >= max(1, most // 8)])[:most]
    order = np.lexsort(
        [chosen, is_new["playlist"][chosen], owner[chosen], is_new["user"][owner[chosen]]]
    )
    return chosen[order]


def _place_within(owner, is_new):
    """Return playlists numbers within their users, new and known ones mixed in proportion."""
    share = np.empty(len(owner))
    for kind in (True, False):
        members = pd.Series(owner[is_new == kind])
        groups = members.groupby(members)
        share[is_new == kind] = (groups.cumcount() + 0.5) / groups.transform("size")
    order = np.argsort(share, kind="stable")
    place = np.empty(len(owner), dtype=np.intp)
    place[order] = pd.Series(owner[order]).groupby(owner[order]).cumcount()
    return place


def _choose_songs(codes, playlists, is_new, most):
    """Choose the songs that are in most of the playlists to be drawn; new songs come last."""
    inside = np.isin(codes["playlist"], playlists)
    counts = np.bincount(codes["song"][inside], minlength=len(is_new))
    by_count = np.argsort(-counts, kind="stable")
    chosen = _in_proportion(by_count, is_new[by_count])[:most]
    return chosen[np.lexsort([chosen, -counts[chosen], is_new[chosen]])]


def _in_proportion(items, kind):
    """Mix two kinds of items so that any first few have both in nearly the same proportion."""
    share = np.empty(len(items))
    for one in (True, False):
        members = np.flatnonzero(kind == one)
        share[members] = (np.arange(len(members)) + 0.5) / max(1, len(members))
    return items[np.argsort(share, kind="stable")]


def _places(chosen, codes):
    """Return the place of each row's code among the chosen ones; -1 where it is not chosen."""
    place = np.full(codes.max() + 1, -1)
    place[chosen] = np.arange(len(chosen))
    return place[codes]
