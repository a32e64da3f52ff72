"""Read the user's table."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from skmtc.cli._errors import CommandError, nearest
from skmtc.cli._progress_lines import note
from skmtc.cli._safe_text import printable
from skmtc.cli.inputs._guessed_ids import guess_ids
from skmtc.datasets import load_sample, read_table


@dataclass
class Table:
    """A membership table with the names of its id columns.

    Attributes
    ----------
    X : DataFrame
        The table.

    source : str
        Where it comes from, for messages.

    path : str or None
        The file; None for the embedded sample.

    user : str or None
        Column of user ids; None if owners are unknown.

    playlist, song : str
        Columns of playlist and song ids.

    sampled : str
        Which sample of a larger table this is, for messages; empty if it is whole.

    whole_size : str
        How large the whole table is, if this is a part.

    playlist_share : float
        Share of the playlists of the whole table that are here.

    is_joined : bool
        Whether playlist ids were joined with those of users, as several users have the same.
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
    is_joined: bool = False

    @property
    def ids(self):
        """The names of the id columns, as parameters of rankers and splitters."""
        return {"user": self.user, "playlist": self.playlist, "song": self.song}

    @property
    def size(self):
        """Describe how large the table is."""
        owners = f" of {self.X[self.user].nunique():,} users" if self.user is not None else ""
        return (
            f"{len(self.X):,} rows: {self.X[self.playlist].nunique():,} playlists{owners} over "
            f"{self.X[self.song].nunique():,} songs"
        )


def sample_table():
    """Return the embedded sample."""
    return Table(load_sample().X, "the embedded sample of generated playlists")


def open_table(path, *, user=None, playlist=None, song=None):
    """Read a table; columns that are None are guessed, `user=""` means no user column."""
    guessed = guess_ids(path, {"user": user, "playlist": playlist, "song": song})
    owner = guessed["user"] if user is None else (user or None)
    playlist, song = playlist or guessed["playlist"], song or guessed["song"]
    X = read_table(path, user=owner, playlist=playlist, song=song)
    if len(X) == 0:
        raise CommandError(f"The table must have rows; got none in {str(path)!r}. Check the file.")
    if owner is not None and owner not in X.columns:
        owner = _without_owners(X, owner, asked=bool(user))
    X = _with_ids(X, [c for c in (owner, playlist, song) if c is not None], path)
    is_joined = owner is not None and _share_playlists(X, owner, playlist)
    if is_joined:
        X[playlist] = joined_ids(X, owner, playlist)
    return Table(
        X,
        printable(Path(path).name),
        str(Path(path).resolve()),
        owner,
        playlist,
        song,
        is_joined=is_joined,
    )


def joined_ids(X, user, playlist):
    """Return ids of playlists joined with those of their users."""
    return X[user].astype(str) + " / " + X[playlist].astype(str)


def _share_playlists(X, user, playlist):
    """Check whether several users have playlists of the same id, such as names; print a note."""
    owners = X[[user, playlist]].drop_duplicates()
    n_shared = int((owners[playlist].value_counts() > 1).sum())
    if n_shared:
        note(
            f"{n_shared:,} playlist ids in {playlist!r} belong to several users: each user's "
            "counts as a playlist of its own, called 'user / playlist'; another column: --playlist "
            "COLUMN"
        )
    return n_shared > 0


def _with_ids(X, ids, path):
    """Return the rows that have all ids, and print how many have not."""
    is_missing = X[ids].isna().any(axis=1)
    if not is_missing.any():
        return X
    if is_missing.all():
        empty = [column for column in ids if X[column].isna().all()] or ids
        raise CommandError(
            f"Rows must have ids; got none with all of {ids} in {str(path)!r}, and no values in "
            f"{empty}. Name other columns with --user, --playlist and --song, or pass --no-user."
        )
    note(f"left out: {is_missing.sum():,} of {len(X):,} rows, which lack an id of {ids}")
    return X[~is_missing].reset_index(drop=True)


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
