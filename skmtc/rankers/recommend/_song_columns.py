"""The columns that describe songs, stored once per song for tables of results.

A column is an array with one entry per song. Texts are stored as codes into distinct texts, which
are one array of bytes: no array of objects, so a model file holds and checks plain numbers only.
"""

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import pandas as pd

from skmtc._table import first_rows
from skmtc._utils.fitted_state import Field, refuse

# Rows that are compared with the first row of their song, to see whether a column describes songs.
MOST_COMPARED = 20_000
# Share of the compared rows that may differ, as tables of songs have mistakes.
MOST_DIFFERING = 0.01
# More columns of numbers than this are taken for the entries of a vector, and not stored.
MOST_NUMBERS = 24
# Characters of a text; what is longer, such as lyrics, is cut.
LONGEST_TEXT = 200
# Number of cells that determine the type of a column.
N_PROBED = 1000

_are_stored = ContextVar("song columns are stored", default=True)


@contextmanager
def without_song_columns():
    """Fit rankers inside that store no columns of songs, as parts of a ranker that does."""
    token = _are_stored.set(False)
    try:
        yield
    finally:
        _are_stored.reset(token)


def read_song_columns(frame, table, artist=None):
    """Read the columns of a table that describe songs.

    A column describes songs if rows of one song agree on it, but for 1 % of the rows. Where no song
    is repeated, it must not be a column on which all rows of each user or playlist agree.

    Parameters
    ----------
    frame : DataFrame
        The table of `fit`.

    table : MembershipTable
        The same as arrays, with the first row of each song.

    artist : str, int or None, default=None
        Name of the column of artists, which always describes songs.

    Returns
    -------
    columns : dict or None
        Labels, and the values of each; None if nothing is stored.
    """
    if not _are_stored.get():
        return None
    labels = [c for c in frame.columns if c not in table.columns]
    rows = np.unique(np.linspace(0, len(frame) - 1, min(len(frame), MOST_COMPARED)).astype(int))
    songs = table.songs.codes(frame[table.columns.song].iloc[rows])
    chosen = [c for c in labels if c == artist or _describes_songs(frame, table, c, rows, songs)]
    numbers = [c for c in chosen if _is_plain(frame[c].dtype)]
    if len(numbers) > MOST_NUMBERS:
        chosen = [c for c in chosen if c not in set(numbers)]
    read = {label: _encode(table.song_rows[label]) for label in chosen}
    read = {label: values for label, values in read.items() if values is not None}
    return {"labels": list(read), "values": list(read.values())}


def join_song_columns(columns, source, new_rows):
    """Return the columns of known and new songs.

    Parameters
    ----------
    columns : dict or None
        Columns of the known songs.

    source : ndarray of shape (n_songs,)
        Position of each song among the known ones; -1 for a new one.

    new_rows : DataFrame
        One row per new song, in the order of the -1 entries.
    """
    if columns is None or (source >= 0).all():
        return columns
    values = []
    for label, known in zip(columns["labels"], columns["values"], strict=True):
        new = new_rows[label] if label in new_rows.columns else None
        values.append(_append_values(known, source, new))
    return {"labels": columns["labels"], "values": values}


def song_table(columns, songs, positions):
    """Return the columns of the songs at some positions, one row each.

    Parameters
    ----------
    columns : dict or None
        Columns of the known songs; None for none.

    songs : Songs
        Known and new songs.

    positions : ndarray
        Positions in `songs`.
    """
    if columns is None:
        return pd.DataFrame(index=range(len(positions)))
    codes = songs.codes[positions]
    is_new = codes < 0
    new_row = np.cumsum(songs.is_new)[positions][is_new] - 1
    table = {}
    for label, known in zip(columns["labels"], columns["values"], strict=True):
        values = _decode(known, codes[~is_new])
        if is_new.any():
            mixed = np.full(len(codes), None, dtype=object)
            mixed[~is_new] = values
            if songs.new_rows is not None and label in songs.new_rows.columns:
                mixed[is_new] = songs.new_rows[label].iloc[new_row].to_numpy(dtype=object)
            values = pd.Series(mixed).infer_objects()
        table[label] = values
    return pd.DataFrame(table, index=range(len(positions)))


class SongColumns(Field):
    """The field of columns of songs."""

    dimensions = ("songs",)

    def check(self, name, value, sizes):
        """Check that every column has an entry per song, and that texts are whole."""
        if not isinstance(value, dict) or value.keys() != {"labels", "values"}:
            refuse(name, "be a dict of labels and values", type(value).__name__)
        labels, columns = value["labels"], value["values"]
        if not (isinstance(labels, list) and isinstance(columns, list)):
            refuse(name, "hold lists", type(labels).__name__)
        if len(labels) != len(columns):
            refuse(name, f"have {len(labels)} columns", len(columns))
        for label, column in zip(labels, columns, strict=True):
            self._check_column(f"{name}[{label!r}]", column, sizes)

    def _check_column(self, name, column, sizes):
        if isinstance(column, dict):
            if column.keys() != {"codes", "bytes", "ends"}:
                refuse(name, "have codes, bytes and ends", sorted(map(str, column)))
            for part, kinds in (("codes", "i"), ("bytes", "u"), ("ends", "i")):
                _check_flat(f"{name}.{part}", column[part], kinds)
            _check_texts(name, **column)
            column = column["codes"]
        _check_flat(name, column, "ifubmM")
        sizes.agree(name, "songs", len(column))

    def take(self, value, kept):
        """Return the columns of the songs that are kept, without texts of others."""
        if "songs" not in kept:
            return value
        rows = np.flatnonzero(kept["songs"])
        return {
            "labels": value["labels"],
            "values": [_take(column, rows) for column in value["values"]],
        }


def _check_flat(name, array, kinds):
    if type(array) not in (np.ndarray, np.memmap) or array.ndim != 1:
        refuse(name, "be a flat array", type(array).__name__)
    if array.dtype.kind not in kinds or not array.dtype.isnative:
        refuse(name, f"be an array of dtype kind {' or '.join(kinds)}", array.dtype)


def _check_texts(name, codes, bytes, ends):
    if bytes.dtype != np.uint8:
        refuse(name, "have bytes of uint8", bytes.dtype)
    if len(codes) and (codes.min() < -1 or codes.max() >= len(ends)):
        refuse(name, f"have codes from -1 to {len(ends) - 1}", [int(codes.min()), int(codes.max())])
    starts = np.append(0, ends)
    if (np.diff(starts) < 0).any() or starts[-1] != len(bytes):
        refuse(name, f"have rising ends up to {len(bytes)}", "others")
    try:
        bytes.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        refuse(name, "have texts in UTF-8", "other bytes")


def _describes_songs(frame, table, label, rows, songs):
    """Check whether rows of a song agree on a column, by a sample of the rows and their songs."""
    of_first = table.song_rows[label].iloc[songs]
    # A missing value agrees with any other.
    values, firsts = np.split(_codes(pd.concat([frame[label].iloc[rows], of_first])), 2)
    differ = (values != firsts) & (values >= 0) & (firsts >= 0)
    if differ.mean() > MOST_DIFFERING:
        return False
    if len(table.songs) < len(frame):
        return True
    ids = [c for c in table.columns.labels[:2] if c is not None]
    return not any(_is_of(frame[c].iloc[rows], values) for c in ids)


def _is_of(ids, values):
    """Check whether rows of one id, some of them repeated, agree on values."""
    groups = pd.factorize(ids)[0]
    n_groups = groups.max(initial=-1) + 1
    first = first_rows(groups, n_groups)
    return n_groups < len(groups) and bool((values == values[first][groups]).all())


def _codes(column):
    try:
        return pd.factorize(column)[0]
    except TypeError:  # lists of genres and the like
        return pd.factorize(column.map(repr))[0]


def _is_plain(dtype):
    """Check whether values of a dtype are stored as they are."""
    is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
    return is_number or (isinstance(dtype, np.dtype) and dtype.kind in "mM")


def _encode(column):
    """Return a column as it is stored; None if its cells are neither texts nor numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Integers cannot be missing, unlike categories that are integers.
        dtype = column.cat.categories.dtype
        column = column.astype(float if column.isna().any() and dtype.kind in "iub" else dtype)
    if _is_plain(column.dtype):
        values = column.to_numpy()
        if values.dtype.kind not in "ifubmM":  # integers of pandas with missing ones among them
            values = column.to_numpy(dtype=float, na_value=np.nan)
        return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
    if not all(_is_readable(cell) for cell in column.dropna().iloc[:N_PROBED]):
        return None
    return _encode_texts(column)


def _encode_texts(column):
    """Return a column as codes into the texts of its cells."""
    missing = column.isna().to_numpy()
    cells = column[~missing]
    texts = cells if pd.api.types.infer_dtype(cells) == "string" else cells.map(_text)
    found, distinct = pd.factorize(np.asarray(texts, dtype=object))
    codes = np.full(len(column), -1, dtype=np.int32)
    codes[~missing] = found
    return {"codes": codes} | _packed(distinct)


def _is_readable(cell):
    if isinstance(cell, list | tuple | set | frozenset):
        return all(isinstance(part, str) for part in cell)
    return np.ndim(cell) == 0 and not isinstance(cell, dict | bytes)


def _text(cell):
    if isinstance(cell, set | frozenset):
        cell = sorted(cell)
    return ", ".join(cell) if isinstance(cell, list | tuple) else str(cell)


def _packed(texts):
    if max(map(len, texts), default=0) > LONGEST_TEXT:
        texts = [_cut(text) for text in texts]
    whole = "".join(texts)
    packed = whole.encode("utf-8", "replace")
    if len(packed) > len(whole):  # not all of it is ASCII: count bytes, not characters
        texts = [text.encode("utf-8", "replace") for text in texts]
    ends = np.cumsum(list(map(len, texts)), dtype=np.int64)
    return {"bytes": np.frombuffer(packed, dtype=np.uint8), "ends": ends}


def _cut(text):
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def _decode(column, codes):
    """Return the values of a stored column at some songs."""
    if not isinstance(column, dict):
        return column[codes]
    text_of = column["codes"][codes]
    wanted, place = np.unique(text_of, return_inverse=True)
    starts = np.append(0, column["ends"])
    whole = memoryview(column["bytes"])
    texts = np.full(len(wanted), None, dtype=object)
    for at, code in enumerate(wanted):
        if code >= 0:
            part = bytes(whole[starts[code] : starts[code + 1]])
            texts[at] = part.decode("utf-8", "replace")
    return texts[place]


def _take(column, rows):
    if not isinstance(column, dict):
        return column[rows]
    codes = column["codes"][rows]
    used = np.unique(codes[codes >= 0])
    starts = np.append(0, column["ends"])
    lengths = np.diff(starts)[used]
    # The bytes of the texts that are used, one after the other.
    shift = np.repeat(starts[used] - np.append(0, np.cumsum(lengths))[:-1], lengths)
    new = np.append(np.searchsorted(used, codes).astype(np.int32), 0)[: len(codes)]
    return {
        "codes": np.where(codes >= 0, new, np.int32(-1)),
        "bytes": column["bytes"][np.arange(lengths.sum()) + shift],
        "ends": np.cumsum(lengths, dtype=np.int64),
    }


def _append_values(known, source, new):
    """Return the values of a column for known and new songs."""
    is_new = source < 0
    if isinstance(known, dict):
        texts = pd.Series([None] * int(is_new.sum()), dtype=object) if new is None else new
        added = _encode_texts(texts)
        codes = np.full(len(source), -1, dtype=np.int32)
        codes[~is_new] = known["codes"][source[~is_new]]
        shift = len(known["ends"])
        codes[is_new] = np.where(added["codes"] >= 0, added["codes"] + shift, -1)
        return {
            "codes": codes,
            "bytes": np.concatenate([known["bytes"], added["bytes"]]),
            "ends": np.concatenate([known["ends"], added["ends"] + len(known["bytes"])]),
        }
    added = _added_numbers(known.dtype, int(is_new.sum()), new)
    values = np.empty(len(source), dtype=np.result_type(known, added))
    values[~is_new] = known[source[~is_new]]
    values[is_new] = added
    return values


def _added_numbers(dtype, n_new, new):
    """Return the numbers or times of new songs; those that are no such things are missing."""
    if dtype.kind in "mM":
        read = pd.to_datetime if dtype.kind == "M" else pd.to_timedelta
        nothing = np.full(n_new, "NaT", dtype=dtype)
        return nothing if new is None else read(new, errors="coerce").to_numpy().astype(dtype)
    if new is None:
        return np.full(n_new, np.nan)
    values = pd.to_numeric(new, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    as_before = values.astype(dtype) if np.isfinite(values).all() else values
    return as_before if (as_before == values).all() else values
