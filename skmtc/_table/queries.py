"""Queries and songs: the ids of a table as codes of a fitted ranker."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd


@dataclass
class Queries:
    """Playlists to score songs for.

    Attributes
    ----------
    users, playlists : ndarray of shape (n_queries,)
        Codes in the fitted ranker; -1 for a new user or playlist.

    rows : DataFrame
        One row of the table per query, for the attributes of new users and playlists.
    """

    users: np.ndarray
    playlists: np.ndarray
    rows: pd.DataFrame

    def __len__(self):
        return len(self.users)

    def take(self, positions):
        """Return the queries at some positions."""
        if is_everything(positions, len(self)):
            return self
        return Queries(self.users[positions], self.playlists[positions], self.rows.iloc[positions])


@dataclass
class Songs:
    """Songs to score.

    Attributes
    ----------
    ids : ndarray of shape (n_songs,)
        Song ids.

    codes : ndarray of shape (n_songs,)
        Codes in the fitted ranker; -1 for a new song.

    new_rows : DataFrame or None
        One row of the table per new song, in the order of the -1 codes.

    is_catalogue : bool
        Whether these are all songs of the training catalogue, in order.
    """

    ids: np.ndarray
    codes: np.ndarray
    new_rows: pd.DataFrame | None = None
    is_catalogue: bool = False

    def __len__(self):
        return len(self.codes)

    @cached_property
    def is_new(self):
        """Whether each song is new."""
        return self.codes < 0


def is_everything(positions, n):
    """Check whether positions are 0, …, n - 1, so that nothing has to be picked."""
    is_array = isinstance(positions, np.ndarray) and positions.dtype != bool
    return is_array and len(positions) == n and np.array_equal(positions, np.arange(n))


def distinct(*codes):
    """Find the distinct tuples of aligned codes.

    Returns
    -------
    first : ndarray
        Position of the first row of each distinct tuple.

    inverse : ndarray
        For each row, which distinct tuple it is.
    """
    combined = np.zeros(len(codes[0]), dtype=np.int64)
    for code in codes:
        combined = combined * (int(code.max()) + 1) + code
    _, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
    return first, inverse
