"""Tables as DataFrames, and which of their columns hold ids.

A *membership table* has a user, a playlist and a song column; every other column describes the
song, the user or the playlist of its row.
"""

from dataclasses import dataclass
from numbers import Real

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils import check_array

from skmtc._table.dates import find_date_subject, has_dates, is_event_name

ROLES = ("user", "playlist", "song")
# Names of columns of sample weights, which are no features.
WEIGHT_NAMES = ("weight", "weights", "sample_weight", "row_weight")
LONGEST_SHOWN = 200  # characters of a value in a message
ROW_PER_SONG = (
    "Pass one row per song of a playlist, e.g. pd.DataFrame({'playlist': ['p', 'p'], 'song': "
    "['a', 'b']})."
)


def is_table(X):
    """Check whether something has named columns, as a DataFrame or a list of dicts has."""
    return _converter(X) is not None


def to_frame(X):
    """Convert any table to a DataFrame; array columns are named by position."""
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
    if hasattr(X, "to_table") and hasattr(X, "schema"):  # a dataset of pyarrow
        return lambda table: table.to_table().to_pandas()
    is_rows = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)
    is_columns = isinstance(X, dict) and not issparse(X)  # a dok_array is a dict, too
    if is_columns:
        return _frame_of_columns
    return pd.DataFrame if is_rows else None


def _frame_of_columns(columns):
    """Make a DataFrame of a dict of columns; those of other lengths are often playlists."""
    lengths = {len(c) for c in columns.values() if isinstance(c, list | tuple | np.ndarray)}
    if len(lengths) > 1:
        raise ValueError(
            "A dict must have columns of one length by name; got lengths of "
            f"{sorted(lengths)[:5]}. {ROW_PER_SONG}"
        )
    return pd.DataFrame(columns)


def check_even_rows(X):
    """Raise if something is no table but ids, or a list of rows of different lengths."""
    is_list = isinstance(X, list | tuple) and len(X) > 0
    if isinstance(X, str) or (is_list and all(isinstance(one, str | Real) for one in X)):
        raise ValueError(
            f"A table must have rows and columns; got {shown(X)}. Name the column, e.g. as "
            f"pd.DataFrame({{'user': {shown([X] if isinstance(X, str) else list(X))}}})."
        )
    if not isinstance(X, list | tuple) or not all(isinstance(row, list | tuple) for row in X):
        return
    lengths = sorted({len(row) for row in X})
    if len(lengths) > 1:
        raise ValueError(
            "Rows of a list must all have the same number of values, or be dicts; got rows of "
            f"{lengths[:5]} values. {ROW_PER_SONG}"
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
        firsts[role] = first_rows(codes, codes.max() + 1)[codes]
    described = {role: [] for role in (*groups, "row")}
    for label in frame.columns:
        if label in columns:
            continue
        values = _factorized(frame, label)
        role = next((r for r in groups if np.array_equal(values, values[firsts[r]])), None)
        # Few columns get here, so the slow check for dates is rarely needed.
        if (role is None or is_event_name(label)) and has_dates(frame[label], label):
            role = find_date_subject(frame, label, columns)
        if role is None and label in WEIGHT_NAMES:
            role = "row"
        if role is None:
            _refuse_column(frame, label, values, firsts["song"], columns.song)
        described[role].append(label)
    return described


def first_rows(codes, n_codes):
    """Return the first row of each code; every code from 0 to `n_codes - 1` has one."""
    first = np.empty(n_codes, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last write, so the first row, wins
    return first


def first_values(frame, codes, n_codes):
    """Return a row for each code: its first row, with missing cells from the next that has one."""
    rows = frame.iloc[first_rows(codes, n_codes)]
    filled = {}
    for place in range(frame.shape[1]):
        is_missing = rows.iloc[:, place].isna().to_numpy()
        if not is_missing.any():
            continue
        column = frame.iloc[:, place]
        others = np.flatnonzero(is_missing[codes] & column.notna().to_numpy())
        if len(others):
            source = first_rows(codes, n_codes)
            source[codes[others[::-1]]] = others[::-1]
            filled[frame.columns[place]] = column.iloc[source].set_axis(rows.index)
    if filled:
        rows = rows.copy()
        for label, column in filled.items():
            rows[label] = column
    return rows


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
        "it, drop it, or choose the columns to use with `song_features`; 'auto' takes the first "
        "value of a song if few songs have several."
    )


def shown(value):
    """Format a value for a message; cut a long one."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _listing(labels, most=12):
    labels = list(labels)
    more = f", … ({len(labels) - most} more)" if len(labels) > most else ""
    return "[" + ", ".join(map(shown, labels[:most])) + more + "]"
