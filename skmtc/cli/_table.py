"""The user's table, and what its columns are."""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from skmtc.cli._errors import CommandError, nearest
from skmtc.cli._progress import note
from skmtc.cli._safe_text import printable
from skmtc.datasets import load_sample, read_table
from skmtc.datasets._tables import column_names

# What ids are called elsewhere, without "id", plurals and case.
WORDS = {
    "user": ("user", "owner", "listener", "member", "dj", "creator", "curator", "account", "uid"),
    "playlist": ("playlist", "list", "mix", "pid", "show", "session", "basket", "collection"),
    "song": ("song", "track", "item", "recording", "tid", "sid"),
}


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
    """Read a table; names of columns that are None are the usual ones, an empty user is none."""
    guessed = _guess_ids(path, {"user": user, "playlist": playlist, "song": song})
    owner = guessed["user"] if user is None else (user or None)
    playlist, song = playlist or guessed["playlist"], song or guessed["song"]
    X = read_table(path, user=owner, playlist=playlist, song=song)
    if len(X) == 0:
        raise CommandError(f"The table must have rows; got none in {str(path)!r}. Check the file.")
    if owner is not None and owner not in X.columns:
        owner = _without_owners(X, owner, asked=bool(user))
    return Table(X, printable(Path(path).name), str(Path(path).resolve()), owner, playlist, song)


def _guess_ids(path, named):
    """Guess the columns of ids that are not named; the usual names if nothing is like them.

    A name counts if its words, or all of them but "id" and the like, are among those of a role.
    """
    found = {role: role for role in named}
    asked = [role for role, name in named.items() if name is None]
    try:
        columns = [str(c) for c in column_names(path)] if asked else []
    except (ValueError, OSError, ImportError):  # told by who reads the table
        return found
    taken = {name for name in named.values() if name}
    for role in asked:
        if role in columns:
            continue
        like = [c for c in columns if c not in taken and _plain(c) in WORDS[role]]
        if like:
            found[role] = like[0]
            taken.add(like[0])
            note(f"taking the column {like[0]!r} for {role} ids; another: --{role} COLUMN")
    return found


def _plain(name):
    """Return a name without case, signs, and what only says that it is an id."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    words = re.split(r"[^a-z]+", words)
    kept = [word for word in words if word not in ("id", "ids", "uri", "name", "key", "")]
    return kept[0].removesuffix("s") if len(kept) == 1 else " ".join(kept)


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
