"""Append the rows of a table to those of a fitted ranker; ids stay sorted."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skmtc._table import ROLES, Ids, check_owners, read_ids
from skmtc.rankers.fitting._fitted_table import plain_values


@dataclass
class AppendedTable:
    """The tables of a fitted ranker together with new rows, as `fit` would lay them out.

    Attributes
    ----------
    songs, playlists, users : Ids
        All distinct ids, known and new.

    song_source, playlist_source, user_source : ndarray
        For each of these ids, its code in the fitted ranker; -1 for a new one.

    membership : csr_array of shape (n_playlists, n_songs)
        1-based positions; new songs of a known playlist follow those that it had.

    user_of_playlist : ndarray of shape (n_playlists,)
        Owner of each playlist.

    named_users : ndarray
        Codes of the users whose playlists the new rows change.

    song_rows, user_rows, playlist_rows : DataFrame
        The first row of each new song, user and playlist, in the order of their codes.

    left_out : dict of str to int
        Number of new rows and playlists that do not count, by reason.
    """

    songs: Ids
    playlists: Ids
    users: Ids
    song_source: np.ndarray
    playlist_source: np.ndarray
    user_source: np.ndarray
    membership: csr_array
    user_of_playlist: np.ndarray
    named_users: np.ndarray
    song_rows: pd.DataFrame
    user_rows: pd.DataFrame
    playlist_rows: pd.DataFrame
    left_out: dict[str, int]

    @property
    def ids(self):
        """The distinct ids by role."""
        return {"user": self.users, "playlist": self.playlists, "song": self.songs}


def append_table(ranker, frame):
    """Read a table with the columns of `fit`, and join it with what a ranker has."""
    # 1. Find the id columns; known playlists must keep their owners.
    ranker.reader.queries(frame, ROLES)
    columns = ranker.reader.find_columns(frame, ROLES)
    labels = dict(zip(ROLES, columns.labels, strict=True))
    if columns.user is None:
        labels["user"] = columns.playlist
    # 2. Insert the new ids among the known ones.
    known = ranker.reader.ids
    user, playlist, song = (_append_ids(known[role], frame, labels[role]) for role in ROLES)
    if columns.user is not None:
        given, codes = np.unique(playlist.codes, return_inverse=True)
        check_owners(user.codes, codes, user.ids, Ids(playlist.ids.index[given], "playlist"))
    # 3. Owners: those of known playlists by their new codes, those of given ones by the rows.
    owners = np.empty(len(playlist.ids), dtype=np.intp)
    is_known = playlist.source >= 0
    old_owners = ranker.user_of_playlist_[playlist.source[is_known]]
    owners[is_known] = np.flatnonzero(user.source >= 0)[old_owners]
    owners[playlist.codes] = user.codes
    # 4. Append the memberships, and leave out what `fit` leaves out.
    membership, n_repeated = _append_memberships(ranker.membership_, song, playlist)
    whole = AppendedTable(
        songs=song.ids,
        playlists=playlist.ids,
        users=user.ids,
        song_source=song.source,
        playlist_source=playlist.source,
        user_source=user.source,
        membership=membership,
        user_of_playlist=owners,
        named_users=np.unique(user.codes),
        song_rows=frame.iloc[song.new_rows],
        user_rows=frame.iloc[user.new_rows],
        playlist_rows=frame.iloc[playlist.new_rows],
        left_out={"repeated rows": n_repeated, "playlists with every song": 0},
    )
    return _without_full_playlists(whole)


def append_rows(source, known, new):
    """Return rows of a known array by their `source`, with new rows in order where it is -1."""
    is_new = source < 0
    rows = np.empty((len(source), known.shape[1]), dtype=known.dtype)
    rows[is_new] = new
    rows[~is_new] = known[source[~is_new]]
    return rows


def append_artists(ranker, appended):
    """Return the artists of known and new songs; None where the known ones have none."""
    if ranker.known_artists is None:
        return None
    is_new = appended.song_source < 0
    artists = np.full(len(is_new), np.nan, dtype=object)
    artists[~is_new] = ranker.known_artists[appended.song_source[~is_new]]
    new = ranker.artists_of(appended.song_rows)
    if new is not None:
        artists[is_new] = plain_values(new)
    return artists


@dataclass
class _AppendedIds:
    """One id column, joined with known ids.

    Attributes
    ----------
    ids : Ids
        Known and new ids, sorted.

    source : ndarray
        Code of each id among the known ones, or -1.

    codes : ndarray of shape (n_rows,)
        Code of each row's id.

    new_rows : ndarray
        First row of each new id, in the order of the ids.
    """

    ids: Ids
    source: np.ndarray
    codes: np.ndarray
    new_rows: np.ndarray


def _append_ids(known, frame, label):
    """Insert the new ids of a column in sorted order, which is cheap if they are few."""
    given, codes = Ids.factorize(read_ids(frame, label, known.role), known.role)
    found = known.codes(given.index)
    new = given.index[found < 0]
    source = np.arange(len(known))
    if len(new) == 0:
        return _AppendedIds(known, source, found[codes], np.empty(0, dtype=np.intp))
    places = known.index.searchsorted(new)
    source = np.insert(source, places, -1)
    order = np.insert(np.arange(len(known)), places, len(known) + np.arange(len(new)))
    ids = Ids(known.index.append(new)[order] if len(known) else new, known.role)
    joined = np.empty(len(given), dtype=np.intp)
    joined[found < 0] = np.flatnonzero(source < 0)
    joined[found >= 0] = np.flatnonzero(source >= 0)[found[found >= 0]]
    first = np.unique(codes, return_index=True)[1]
    return _AppendedIds(ids, source, joined[codes], first[found < 0])


def _append_memberships(known, song, playlist):
    """Add new memberships to known ones; count those that repeat."""
    n_playlists, n_songs = len(playlist.ids), len(song.ids)
    # 1. Known entries by playlist and song as one number: sorted, as the order of ids is kept.
    places = {role: np.flatnonzero(j.source >= 0) for role, j in (("s", song), ("p", playlist))}
    lengths = np.zeros(n_playlists, dtype=np.int64)
    lengths[places["p"]] = np.diff(known.indptr)
    old = np.repeat(np.arange(n_playlists), lengths) * n_songs + places["s"][known.indices]
    # 2. Of the given entries keep the first of each that is not known.
    given = playlist.codes.astype(np.int64) * n_songs + song.codes
    first = np.sort(np.unique(given, return_index=True)[1])
    at = np.searchsorted(old, given[first])
    is_known = (old[np.minimum(at, len(old) - 1)] == given[first]) if len(old) else at < 0
    kept = first[~is_known]
    # 3. Insert them, with positions that follow those of their playlist.
    positions = _next_positions(playlist.codes[kept], lengths)
    order = np.argsort(given[kept])
    at = np.searchsorted(old, given[kept][order])
    entries = np.insert(old, at, given[kept][order])
    values = np.insert(known.data, at, positions[order])
    # 4. Split the numbers into rows and columns of a sparse array.
    lengths += np.bincount(playlist.codes[kept], minlength=n_playlists)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(known.indptr.dtype)
    indices = (entries % n_songs).astype(known.indices.dtype)
    membership = csr_array((values, indices, indptr), shape=(n_playlists, n_songs))
    return membership, len(given) - len(kept)


def _next_positions(playlists, lengths):
    """Return the position of each new song: the next after the last of its playlist."""
    order = np.argsort(playlists, kind="stable")
    in_order = playlists[order]
    starts = np.searchsorted(in_order, in_order)
    positions = np.empty(len(playlists), dtype=np.int64)
    positions[order] = lengths[in_order] + 1 + np.arange(len(order)) - starts
    return positions


def _without_full_playlists(whole):
    """Leave out playlists with every song, and users without any other, as `fit` does."""
    teaches = np.diff(whole.membership.indptr) < len(whole.songs)
    if teaches.all():
        return whole
    kept, user_of_playlist = np.unique(whole.user_of_playlist[teaches], return_inverse=True)
    named = np.searchsorted(kept, np.intersect1d(whole.named_users, kept))
    new_users = np.flatnonzero(whole.user_source < 0)
    new_playlists = np.flatnonzero(whole.playlist_source < 0)
    return AppendedTable(
        songs=whole.songs,
        playlists=Ids(whole.playlists.index[teaches], "playlist"),
        users=Ids(whole.users.index[kept], "user"),
        song_source=whole.song_source,
        playlist_source=whole.playlist_source[teaches],
        user_source=whole.user_source[kept],
        membership=whole.membership[np.flatnonzero(teaches)],
        user_of_playlist=user_of_playlist,
        named_users=named,
        song_rows=whole.song_rows,
        user_rows=whole.user_rows.iloc[np.flatnonzero(np.isin(new_users, kept))],
        playlist_rows=whole.playlist_rows.iloc[np.flatnonzero(teaches[new_playlists])],
        left_out=whole.left_out | {"playlists with every song": int((~teaches).sum())},
    )
