"""Read other tables by the ids and columns of the training table."""

from functools import cached_property

import numpy as np
import pandas as pd

from skmtc._table.columns import ROLES, find_id_columns, shown, to_frame
from skmtc._table.ids import Ids, read_ids
from skmtc._table.near_names import check_names
from skmtc._table.queries import Queries, Songs, distinct


class TableReader:
    """Read queries and songs of tables, with the codes that their ids have in the training table.

    Parameters
    ----------
    names : tuple of str, int or None
        The parameters `user`, `playlist` and `song` of a ranker.

    labels : tuple
        Labels of these columns in the training table.

    is_array : bool
        Whether the training table was an array, whose columns have positions only.

    columns : ndarray of str or None
        Names of all columns of the training table, if all are strings.

    ids : dict of str to Ids
        Users, playlists and songs of the training table, by role.

    user_of_playlist : ndarray of shape (n_playlists,)
        Position of each playlist's owner among the users.
    """

    def __init__(self, names, labels, *, is_array, columns, ids, user_of_playlist):
        self.names = names
        self.labels = labels
        self.is_array = is_array
        self.columns = columns
        self.ids = ids
        self.user_of_playlist = user_of_playlist

    @property
    def finds_columns_by_name(self):
        """Whether ids are found by name, so that other columns may be missing or moved."""
        named = all(isinstance(name, str | None) for name in self.names)
        return named and self.columns is not None and not self.is_array

    def find_columns(self, frame, required=()):
        """Find the id columns of a table that may lack columns of the training table.

        Positions count in the training table; a DataFrame is then searched by the names there.
        """
        by_position = self.is_array or isinstance(frame.columns, pd.RangeIndex)
        names = self.names if by_position else self.labels
        return find_id_columns(
            frame,
            **dict(zip(ROLES, names, strict=True)),
            required=required,
            by_position=by_position,
        )

    def as_frame(self, X):
        """Return a table of queries, which may lack columns but not misspell them."""
        frame = to_frame(X)
        if self.finds_columns_by_name and not isinstance(frame.columns, pd.RangeIndex):
            check_names(frame.columns, self.columns)
        return frame

    def codes(self, role, ids):
        """Return the positions of ids of a role in the training table; -1 for new ones."""
        return self.ids[role].codes(ids)

    def queries(self, frame, required=()):
        """Read one query per row."""
        columns = self.find_columns(frame, required)
        codes = {}
        for role in ("user", "playlist"):
            label = getattr(columns, role)
            if label is None:
                codes[role] = np.full(len(frame), -1)
            else:
                codes[role] = self.codes(role, read_ids(frame, label, role))
        users, playlists = codes["user"], codes["playlist"]
        known = playlists >= 0
        owners = users.copy()
        owners[known] = self.user_of_playlist[playlists[known]]
        if columns.user is not None:
            self._check_owners(frame, columns, known & (owners != users), owners)
        return Queries(owners, playlists, frame)

    def distinct_queries(self, frame):
        """Return one query per playlist of the table, and the query of each row."""
        required = ("playlist",) if self.names[0] is None else ("user", "playlist")
        columns = self.find_columns(frame, required)
        ids = [c for c in (columns.user, columns.playlist) if c is not None]
        queries = self.queries(frame, required)
        first, inverse = distinct(*(pd.factorize(frame[label])[0] for label in ids))
        return queries.take(first), inverse

    def distinct_songs(self, frame):
        """Return the distinct songs of the table, and the song of each row."""
        label = self.find_columns(frame, ("song",)).song
        ids, codes_of_row = Ids.factorize(read_ids(frame, label, "song"), "song")
        first = distinct(codes_of_row)[0]
        codes = self.codes("song", ids.index)
        return Songs(ids.values, codes, frame.iloc[first[codes < 0]]), codes_of_row

    def catalogue(self):
        """Return all songs of the training table."""
        return self._catalogue

    @cached_property
    def _catalogue(self):
        songs = self.ids["song"].values
        return Songs(songs, np.arange(len(songs)), is_catalogue=True)

    def _check_owners(self, frame, columns, wrong, owners):
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"A known playlist must keep its owner; got playlist "
                f"{shown(frame[columns.playlist].iloc[row])} of user "
                f"{shown(frame[columns.user].iloc[row])}, which belonged to "
                f"{shown(self.ids['user'].values[owners[row]])} in fit. Give the new playlist an "
                "id of its own."
            )
