"""The table contract: one row per song in a playlist.

A *membership table* has a user, a playlist and a song column; every other column describes the
song or the user of its row. This module reads such tables and checks them, and is the only place
where ids become codes (positions in sorted arrays of distinct ids) and back.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from skmtc._dates import find_date_subject, has_dates, is_event_name

ROLES = ("user", "playlist", "song")
# Names of weights of rows, which describe nothing.
WEIGHT_NAMES = ("weight", "weights", "sample_weight", "row_weight")
LONGEST_SHOWN = 200  # characters of a value in a message


def is_table(X):
    """Check whether something has named columns, as a DataFrame or a list of dicts has."""
    return _converter(X) is not None


def to_frame(X):
    """Turn any table into a DataFrame; array columns are named by position."""
    convert = _converter(X)
    if convert is not None:
        frame = convert(X)
    else:
        check_even_rows(X)
        frame = pd.DataFrame(check_array(X, dtype=None, ensure_all_finite=False)).infer_objects()
    if len(frame) == 0:
        raise ValueError(
            f"The table has no rows: at least one song in one playlist is needed; got shape "
            f"{frame.shape}, n_samples=0. Check the filter or file that made the table."
        )
    if not frame.columns.is_unique:
        twice = list(frame.columns[frame.columns.duplicated()].unique())
        raise ValueError(
            f"Column names must be distinct; got {_listing(twice)} more than once. "
            "Rename or drop the copies."
        )
    return frame


def _converter(X):
    """Return the function that makes a DataFrame of a table; None for an array."""
    if isinstance(X, pd.DataFrame):
        return lambda table: table
    if hasattr(X, "to_pandas"):  # polars, pyarrow, modin …
        return lambda table: table.to_pandas()
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):  # a LazyFrame of polars
        return lambda table: table.collect().to_pandas()
    if callable(getattr(X, "df", None)):  # a relation of DuckDB
        return lambda table: table.df()
    is_rows = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)
    is_columns = isinstance(X, dict) and not issparse(X)  # a dok_array is a dict, too
    return pd.DataFrame if is_rows or is_columns else None


def check_even_rows(X):
    """Raise if something is a list of rows of different lengths."""
    if not isinstance(X, list | tuple) or not all(isinstance(row, list | tuple) for row in X):
        return
    lengths = sorted({len(row) for row in X})
    if len(lengths) > 1:
        raise ValueError(
            "Rows of a list must all have the same number of values, or be dicts; got rows of "
            f"{lengths[:5]} values. Fill up the rows, or pass a DataFrame."
        )


@dataclass(frozen=True)
class IdColumns:
    """The labels of the id columns of one table; None where a table has none."""

    user: object = None
    playlist: object = None
    song: object = None

    def __contains__(self, label):
        return any(label is not None and label == own for own in self.labels)

    @property
    def labels(self):
        """The labels, in the order user, playlist, song."""
        return (self.user, self.playlist, self.song)


def find_id_columns(
    frame, *, user, playlist, song, required=("playlist", "song"), by_position=True
):
    """Find the id columns, which are given as column names or, if `by_position`, as positions.

    Roles that are not in `required` may be missing from the frame, and are then None.
    """
    found = {}
    for role, name in zip(ROLES, (user, playlist, song), strict=True):
        if name is None:
            if role in required and role != "user":
                raise ValueError(
                    f"The {role} column must be named; got {role}=None. "
                    f"Pass the column's name or position as `{role}`."
                )
            continue
        label = column_label(frame, name, by_position=by_position)
        if label is not None:
            found[role] = label
        elif role in required:
            raise ValueError(
                f"The table must have a {role} column {name!r}; got a table with "
                f"n_features={frame.shape[1]}: {_listing(frame.columns)}. "
                + _what_to_do(frame, role)
            )
    if len(set(found.values())) < len(found):
        raise ValueError(
            "The user, playlist and song columns must be three different columns; got "
            f"{found}. Change `user`, `playlist` or `song`."
        )
    return IdColumns(**found)


def _what_to_do(frame, role):
    if isinstance(frame.columns, pd.RangeIndex):
        return (
            "Columns of an array or list have positions: pass them as e.g. user=0, playlist=1, "
            "song=2, or pass a DataFrame."
        )
    return f"Add the column, or name the one to use with `{role}=`."


def column_label(frame, name, *, by_position=True):
    """Find a column by name or position; None where there is no such column."""
    if name in frame.columns:
        return name
    if not by_position:
        return None
    is_position = isinstance(name, int | np.integer) and not isinstance(name, bool)
    if is_position and -frame.shape[1] <= name < frame.shape[1]:
        return frame.columns[name]
    return None


class Ids:
    """The distinct ids of one column, sorted; an id's code is its position.

    Sorting makes codes, and so every result, independent of the order of rows.

    Parameters
    ----------
    values : ndarray
        Distinct ids in sorted order.

    role : {"user", "playlist", "song"}
        What the ids name, for messages.
    """

    def __init__(self, values, role):
        self.index = pd.Index(values)
        self.role = role

    def __len__(self):
        return len(self.index)

    @property
    def values(self):
        """The distinct ids as an array."""
        return self.index.to_numpy()

    def ready(self):
        """Make the hash table now; give the ids themselves.

        pandas makes it at the first lookup, and a second thread would read it half made.
        """
        self.index.get_indexer(self.index[:1])
        return self

    def codes(self, ids):
        """Give the code of each id; -1 for an id that is not known."""
        theirs, ours = _kind(ids), _kind(self.index)
        if theirs != ours and "empty" not in (theirs, ours):
            raise TypeError(
                f"The {self.role} ids must be of the same type as in fit; got {theirs} where "
                f"fit had {ours}. Convert the {self.role} column, e.g. with `astype`."
            )
        return self.index.get_indexer(pd.Index(np.asarray(ids)))

    @classmethod
    def factorize(cls, ids, role):
        """Give the ids of a column, and the code of each of its rows."""
        codes, distinct = pd.factorize(ids)
        distinct = pd.Index(np.asarray(distinct))
        try:
            order = distinct.argsort()
        except TypeError:
            raise TypeError(
                f"The {role} ids must all be of one type; got {_kind(distinct)}. "
                "Convert the column, e.g. with `astype(str)`."
            ) from None
        rank = np.empty(len(distinct), dtype=np.intp)
        rank[order] = np.arange(len(distinct))
        return cls(distinct[order], role), rank[codes]


def _kind(ids):
    kind = pd.api.types.infer_dtype(ids, skipna=False)
    if kind == "categorical":
        return _kind(pd.Series(ids).cat.categories)
    return {"integer": "numbers", "floating": "numbers", "string": "strings"}.get(kind, kind)


def read_ids(frame, label, role):
    """Read one id column; every row must have an id."""
    ids = frame[label]
    if isinstance(ids.dtype, np.dtype) and ids.dtype == object:
        unhashable = next((i for i in ids if not _is_hashable(i)), None)
        if unhashable is not None:
            raise TypeError(
                f"A {role} id argument must be a string or a number; got "
                f"{type(unhashable).__name__} {unhashable!r} in column {label!r}. "
                "Convert the column, e.g. with `astype(str)`."
            )
    missing = ids.isna().to_numpy()
    if pd.api.types.is_float_dtype(ids.dtype):
        missing = missing | np.isinf(ids.to_numpy(dtype=float, na_value=np.nan))
    if missing.any():
        raise ValueError(
            f"Every row must have a {role} id; got NaN or inf in {missing.sum()} of {len(ids)} "
            f"rows of column {label!r}, the first at position {missing.argmax()}. "
            "Drop these rows, or fill in their ids."
        )
    return ids


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


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
        The first row of each song and of each user, in the order of their codes.

    columns : IdColumns
        The labels of the id columns.

    playlist_rows : DataFrame
        The first row of each playlist, in the order of their codes.

    left_out : dict of str to int
        What does not count, by reason.

    playlist_weights : ndarray of shape (n_playlists,) or None
        How much each playlist counts, with mean 1; None if all count alike.
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
    left_out: dict = field(default_factory=dict)
    playlist_weights: np.ndarray | None = None


def read_memberships(frame, *, user, playlist, song):
    """Read and check a membership table.

    A song that stands twice in a playlist counts once, at its first place. A playlist that holds
    the whole catalogue has no negatives, so it teaches nothing and is left out. Both are counted
    in `left_out`.
    """
    columns = find_id_columns(frame, user=user, playlist=playlist, song=song, required=ROLES)
    songs, song_codes = Ids.factorize(read_ids(frame, columns.song, "song"), "song")
    playlists, playlist_codes = Ids.factorize(
        read_ids(frame, columns.playlist, "playlist"), "playlist"
    )
    first_of_playlist = _first_rows(playlist_codes, len(playlists))
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
        song_rows=frame.iloc[_first_rows(song_codes, len(songs))],
        user_rows=frame.iloc[_first_rows(user_codes, len(users))],
        columns=columns,
        playlist_rows=frame.iloc[first_of_playlist],
        left_out={"repeated rows": n_repeated, "playlists with every song": 0},
    )
    return _without_full_playlists(table)


def _first_rows(codes, n_codes):
    first = np.empty(n_codes, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last write, so the first row, wins
    return first


def check_owners(user_codes, playlist_codes, users, playlists):
    """Check that no playlist belongs to two users."""
    owner = user_codes[_first_rows(playlist_codes, len(playlists))][playlist_codes]
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


def describing_columns(frame, columns):
    """Return which columns describe songs, users, playlists and rows.

    A column with one value per song describes songs, else one with one value per user (per
    playlist where owners are unknown) describes users, else one with one value per playlist
    describes playlists. Dates of playlists, such as `created_at`, describe these whatever else they
    agree with; dates that differ within playlists, such as `added_at`, describe rows, and so does a
    column that is called a weight.

    Returns
    -------
    described : dict
        Lists of labels under "song", "user", "playlist" and "row".
    """
    owner = columns.playlist if columns.user is None else columns.user
    groups = {"song": columns.song, "user": owner, "playlist": columns.playlist}
    firsts = {}
    for role, label in groups.items():
        codes = pd.factorize(frame[label])[0]
        firsts[role] = _first_rows(codes, codes.max() + 1)[codes]
    described = {role: [] for role in (*groups, "row")}
    for label in frame.columns:
        if label in columns:
            continue
        values = _factorized(frame, label)
        role = next((r for r in groups if np.array_equal(values, values[firsts[r]])), None)
        # Few columns get here: whether cells are dates is asked only where it matters.
        if (role is None or is_event_name(label)) and has_dates(frame[label], label):
            role = find_date_subject(frame, label, columns)
        if role is None and label in WEIGHT_NAMES:
            role = "row"
        if role is None:
            _refuse_column(frame, label, values, firsts["song"], columns.song)
        described[role].append(label)
    return described


def _factorized(frame, label):
    try:
        return pd.factorize(frame[label])[0]
    except TypeError:  # lists of genres and the like are compared by how they print
        return pd.factorize(frame[label].map(repr))[0]


def _refuse_column(frame, label, values, first, song_label):
    row = int(np.flatnonzero(values != values[first])[0])
    other = int(first[row])
    raise ValueError(
        f"Column {label!r} must have one value per song, user or playlist, or dates; got "
        f"{shown(frame[label].iloc[other])} in row {other} and {shown(frame[label].iloc[row])} in "
        f"row {row}, both of song {shown(frame[song_label].iloc[row])}. Correct "
        "it, drop it, or choose the columns to use with `song_features`."
    )


def shown(value):
    """Show a value in a message as a user would write it; a long one is cut."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _listing(labels, most=12):
    labels = list(labels)
    more = f", … ({len(labels) - most} more)" if len(labels) > most else ""
    return "[" + ", ".join(map(shown, labels[:most])) + more + "]"
