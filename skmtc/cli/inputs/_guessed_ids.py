"""Guess the columns of user, playlist and song ids."""

import re

from skmtc.cli._errors import CommandError, nearest
from skmtc.cli._progress_lines import note
from skmtc.datasets import column_names, read_table

# Common names of id columns, without "id", plurals and case.
WORDS = {
    "user": ("user", "owner", "listener", "member", "dj", "creator", "curator", "account", "uid"),
    "playlist": ("playlist", "list", "mix", "pid", "show", "session", "basket", "collection"),
    "song": ("song", "track", "item", "recording", "tid", "sid"),
}
# Endings of ids come before those of display names.
ID_ENDINGS = ("id", "ids", "uri", "key", "")
NAME_ENDINGS = ("name", "title")
COUNTS = ("n", "num", "number", "count", "nb", "total")
# Number of rows that are read to compare values.
N_ROWS_SEEN = 50_000
SHARE_OF_UNIQUE_PAIRS = 0.95
FEWEST_SONGS = 2


def guess_ids(path, named):
    """Return the columns of ids by role: those that are named, and guesses for None.

    A column counts by its name if its last word, apart from "id" and the like, is among those of a
    role. If only one of playlist and song has no such column, it is guessed by its values. The
    guesses are printed, with the option to change them.

    Parameters
    ----------
    path : path-like
        File of the table.

    named : dict of str to str or None
        Columns by role: user, playlist and song.

    Returns
    -------
    found : dict of str to str
        Columns by role; the usual name of a user column if there is none.
    """
    found = {role: name or role for role, name in named.items()}
    asked = [role for role, name in named.items() if name is None]
    try:
        columns = [str(c) for c in column_names(path)] if asked else []
    except (ValueError, OSError, ImportError):  # printed when the table is read
        return found
    taken = {name for name in named.values() if name} | (set(columns) & set(asked))
    # 1. By name.
    missing = []
    for role in asked:
        if role in columns:
            continue
        like = _named_like(role, [c for c in columns if c not in taken])
        if like:
            _take(role, like[0], found, taken)
        elif role != "user":
            missing.append(role)
    # 2. By values, if one of playlist and song is left.
    if len(missing) == 1 and len(columns) > 1:
        (role,) = missing
        column = _by_values(path, role, found, taken)
        if column is not None:
            _take(role, column, found, taken, ", by its values")
            return found
    if missing:
        options = " and ".join(f"--{role} COLUMN" for role in missing)
        near = "".join(nearest(role, columns) for role in missing)
        raise CommandError(
            f"The table must have columns of {' and '.join(missing)} ids; got the columns "
            f"{columns[:12]}.{near} Say which with {options}."
        )
    return found


def _take(role, column, found, taken, how=""):
    found[role] = column
    taken.add(column)
    note(f"taking the column {column!r} for {role} ids{how}; another: --{role} COLUMN")


def _named_like(role, columns):
    """Return the columns that are named like a role, the best first."""
    found = []
    for place, column in enumerate(columns):
        kept, ending = _parts(column)
        if not kept or kept[-1].removesuffix("s") not in WORDS[role] or kept[0] in COUNTS:
            continue
        found.append((len(kept) > 1, ending in NAME_ENDINGS, place, column))
    return [column for *_, column in sorted(found)]


def _parts(name):
    """Return the words of a name without endings such as "id", and that ending."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    words = [word for word in re.split(r"[^a-z]+", words) if word]
    kept = [word for word in words if word not in (*ID_ENDINGS, *NAME_ENDINGS)]
    return kept, words[-1] if words and words[-1] not in kept else ""


def _by_values(path, role, found, taken):
    """Return the column whose pairs with the other id look like memberships; None if none does.

    A song is in a playlist once, in several playlists, and a playlist has several songs. Of
    several columns, the one with most values is the finest: a playlist is finer than its owner.
    """
    other = found["song" if role == "playlist" else "playlist"]
    X = read_table(path, user=None, playlist=None, song=other).head(N_ROWS_SEEN)
    pairs = {}
    for column in X.columns.difference(list(taken), sort=False):
        values = X[column]
        if values.dtype.kind == "f" or not values.map(_is_id).all():
            continue
        n_values = values.nunique()
        is_once = len(X[[column, other]].drop_duplicates()) >= SHARE_OF_UNIQUE_PAIRS * len(X)
        shares = len(X) / max(1, n_values), X.groupby(other)[column].nunique().mean()
        if role == "playlist":
            is_fit = shares[0] >= FEWEST_SONGS and shares[1] > 1
        else:
            is_fit = shares[0] > 1 and shares[1] >= FEWEST_SONGS
        if is_once and is_fit:
            pairs[column] = n_values
    return max(pairs, key=pairs.get) if pairs else None


def _is_id(value):
    return isinstance(value, str | int)
