"""Membership tables: one row per song in a playlist, read and checked."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skmtc._table.columns import ROLES, IdColumns, find_id_columns, first_rows, first_values, shown
from skmtc._table.ids import Ids, read_ids


@dataclass
class MembershipTable:
    """A membership table as arrays.

    Attributes
    ----------
    songs, playlists, users : Ids
        Distinct ids; `users` are the playlists themselves where owners are unknown.

    membership : csr_array of shape (n_playlists, n_songs)
        The 1-based position of the song in the playlist, 0 where it is not in it.

    user_of_playlist : ndarray of shape (n_playlists,)
        Code of the owner of each playlist.

    song_rows, user_rows : DataFrame
        The first row of each song and of each user, in the order of their codes. Cells that are
        missing in the first row of a song come from its next row that has one.

    columns : IdColumns
        The labels of the id columns.

    playlist_rows : DataFrame
        The first row of each playlist, in the order of their codes.

    left_out : dict of str to int
        Numbers of rows or playlists that are left out, by reason.

    playlist_weights : ndarray of shape (n_playlists,) or None
        Weight of each playlist, with mean 1; None if all weights are equal.
    """

    songs: Ids
    playlists: Ids
    users: Ids
    membership: csr_array
    user_of_playlist: np.ndarray
    song_rows: pd.DataFrame
    user_rows: pd.DataFrame
    columns: IdColumns
    playlist_rows: pd.DataFrame | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    playlist_weights: np.ndarray | None = None

    @property
    def ids(self):
        """The distinct ids by role."""
        return {"user": self.users, "playlist": self.playlists, "song": self.songs}


def read_memberships(frame, *, user, playlist, song):
    """Read and check a membership table.

    A song that occurs twice in a playlist counts once, at its first place. A playlist that holds
    the whole catalogue has no negatives, so it is left out. Both are counted
    in `left_out`.
    """
    columns = find_id_columns(frame, user=user, playlist=playlist, song=song, required=ROLES)
    songs, song_codes = Ids.factorize(read_ids(frame, columns.song, "song"), "song")
    playlists, playlist_codes = Ids.factorize(
        read_ids(frame, columns.playlist, "playlist"), "playlist"
    )
    first_of_playlist = first_rows(playlist_codes, len(playlists))
    if columns.user is None:
        users, user_codes = Ids(playlists.index, "user"), playlist_codes
    else:
        users, user_codes = Ids.factorize(read_ids(frame, columns.user, "user"), "user")
        check_owners(user_codes, playlist_codes, users, playlists)

    membership, n_repeated = _positions(playlist_codes, song_codes, len(playlists), len(songs))
    table = MembershipTable(
        songs=songs,
        playlists=playlists,
        users=users,
        membership=membership,
        user_of_playlist=user_codes[first_of_playlist],
        song_rows=first_values(frame, song_codes, len(songs)),
        user_rows=frame.iloc[first_rows(user_codes, len(users))],
        columns=columns,
        playlist_rows=frame.iloc[first_of_playlist],
        left_out={"repeated rows": n_repeated, "playlists with every song": 0},
    )
    return _without_full_playlists(table)


def check_owners(user_codes, playlist_codes, users, playlists):
    """Check that no playlist belongs to two users."""
    owner = user_codes[first_rows(playlist_codes, len(playlists))][playlist_codes]
    wrong = np.flatnonzero(owner != user_codes)
    if len(wrong):
        row = wrong[0]
        one, other = users.values[owner[row]], users.values[user_codes[row]]
        shared = np.unique(playlist_codes[wrong])
        raise ValueError(
            f"A playlist must have one owner; got playlist "
            f"{shown(playlists.values[playlist_codes[row]])} of users {shown(one)} and "
            f"{shown(other)} "
            f"({len(shared)} such playlists). Make playlist ids distinct, e.g. by "
            "joining user and playlist ids."
        )


def _positions(playlist_codes, song_codes, n_playlists, n_songs):
    pairs = playlist_codes.astype(np.int64) * n_songs + song_codes
    kept = np.sort(np.unique(pairs, return_index=True)[1])
    rows = kept[np.argsort(playlist_codes[kept], kind="stable")]
    lengths = np.bincount(playlist_codes[rows], minlength=n_playlists)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    position = np.arange(1, len(rows) + 1, dtype=np.int32) - np.repeat(indptr[:-1], lengths)
    membership = csr_array(
        (position.astype(np.int32), song_codes[rows].astype(np.int32), indptr),
        shape=(n_playlists, n_songs),
    )
    membership.sort_indices()
    return membership, len(pairs) - len(kept)


def _without_full_playlists(table):
    teaches = np.diff(table.membership.indptr) < len(table.songs)
    if teaches.all():
        return table
    kept_users, user_of_playlist = np.unique(table.user_of_playlist[teaches], return_inverse=True)
    return MembershipTable(
        songs=table.songs,
        playlists=Ids(table.playlists.index[teaches], "playlist"),
        users=Ids(table.users.index[kept_users], "user"),
        membership=table.membership[teaches],
        user_of_playlist=user_of_playlist,
        song_rows=table.song_rows,
        user_rows=table.user_rows.iloc[kept_users],
        columns=table.columns,
        playlist_rows=table.playlist_rows.iloc[np.flatnonzero(teaches)],
        left_out=table.left_out | {"playlists with every song": int((~teaches).sum())},
    )
