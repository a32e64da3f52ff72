"""The user's table, and what its columns are."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from skmtc.cli._errors import CommandError, nearest
from skmtc.cli._guess import guess_ids
from skmtc.cli._progress import note
from skmtc.cli._safe_text import printable
from skmtc.datasets import load_sample, read_table


@dataclass
class Table:
    """A membership table with the names of its id columns.

    Attributes
    ----------
    X : DataFrame
        The table.

    source : str
        Where it comes from, for people.

    path : str or None
        The file; None for the embedded sample.

    user : str or None
        Column of user ids; None if owners are unknown.

    playlist, song : str
        Columns of playlist and song ids.

    sampled : str
        What of a larger table this is, for people; empty if it is whole.

    whole_size : str
        How large the whole table is, if this is a part.

    playlist_share : float
        Share of the playlists of the whole table that are here.
    """

    X: pd.DataFrame
    source: str
    path: str | None = None
    user: str | None = "user"
    playlist: str = "playlist"
    song: str = "song"
    sampled: str = ""
    whole_size: str = ""
    playlist_share: float = 1.0

    @property
    def ids(self):
        """The names of the id columns, as parameters of rankers and splitters."""
        return {"user": self.user, "playlist": self.playlist, "song": self.song}

    @property
    def size(self):
        """Say how large the table is."""
        owners = f" of {self.X[self.user].nunique():,} users" if self.user is not None else ""
        return (
            f"{len(self.X):,} rows: {self.X[self.playlist].nunique():,} playlists{owners} over "
            f"{self.X[self.song].nunique():,} songs"
        )


def sample_table():
    """Give the embedded sample."""
    return Table(load_sample().X, "the embedded sample of generated playlists")


def open_table(path, *, user=None, playlist=None, song=None):
    """Read a table; names of columns that are None are guessed, an empty user is none."""
    guessed = guess_ids(path, {"user": user, "playlist": playlist, "song": song})
    owner = guessed["user"] if user is None else (user or None)
    playlist, song = playlist or guessed["playlist"], song or guessed["song"]
    X = read_table(path, user=owner, playlist=playlist, song=song)
    if len(X) == 0:
        raise CommandError(f"The table must have rows; got none in {str(path)!r}. Check the file.")
    if owner is not None and owner not in X.columns:
        owner = _without_owners(X, owner, asked=bool(user))
    return Table(X, printable(Path(path).name), str(Path(path).resolve()), owner, playlist, song)


def _without_owners(X, owner, *, asked):
    near = nearest(owner, X.columns)
    if asked:
        raise CommandError(
            f"The table must have the user column {owner!r}; got columns {list(X.columns)[:12]}."
            f"{near} Correct --user, or pass --no-user if owners are unknown."
        )
    note(
        f"there is no column {owner!r}: each playlist counts as its own user.{near} Name the "
        "column with --user."
    )
