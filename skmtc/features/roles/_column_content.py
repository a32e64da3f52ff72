"""Guess the role of a column from its cells.

A column is read in three steps: what it describes (songs, users or playlists, by the rows in
which it has one value), what its cells are (numbers, dates, names, lists), and whether its name
is a common one. Names only decide between roles that the cells allow.
"""

from functools import cached_property

import numpy as np
import pandas as pd

from skmtc._table.dates import has_date_strings, has_dates, is_event_name
from skmtc.features._tag_cells import find_separator
from skmtc.features.roles._column_names import (
    is_identity_name,
    is_tag_name,
    is_text_name,
    looks_like_id,
    stem,
    words,
)

LISTS = (list, tuple, set, frozenset, np.ndarray)

# A column has one value per song if at most this share of the songs, and of the songs with several
# rows, has more than one. The second bound tells chance agreement of few repeated songs.
MOST_DIFFERING = 0.01
MOST_DIFFERING_REPEATED = 0.05

MOST_CATEGORIES = 50  # names of more values are identities rather than categories,
FEWEST_PER_CATEGORY = 200  # unless each value has this many songs
FEWEST_REPEATS = 1.2  # occurrences per value below which values are (almost) all distinct
FEWEST_DISTINCT = 10  # minimum number of values to measure repetition
MOST_PAIRS = 1.01  # columns are duplicates if values pair up, except for this share
MOST_CELLS = 10_000  # cells of which types and words are read


def is_number(column):
    """Check whether a column has numbers, or truth values."""
    return pd.api.types.is_numeric_dtype(column.dtype)


def cell_codes(column):
    """Return the code of each cell and the distinct cells; the code of missing cells is -1.

    Lists are compared by a hash of their values, so that memory does not grow with their length.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if is_listed(column):
        column = pd.Series(_list_keys(column.to_numpy(dtype=object)), dtype=object)
    codes, distinct = pd.factorize(column)
    return codes, pd.Index(distinct)


def is_listed(column):
    """Check whether some cells of a column are lists."""
    plain = column.dtype != object and not isinstance(column.dtype, pd.ArrowDtype)
    return not plain and any(isinstance(cell, LISTS) for cell in column)


def _list_keys(cells):
    # A list that many rows share, as after a merge, is hashed once.
    known = {}
    for cell in cells:
        if isinstance(cell, LISTS) and id(cell) not in known:
            known[id(cell)] = _list_key(cell)
    return [known[id(cell)] if isinstance(cell, LISTS) else cell for cell in cells]


def _list_key(cell):
    try:
        if isinstance(cell, set | frozenset):
            return hash(frozenset(cell))
        values = np.asarray(cell)
        if values.dtype.kind in "biuf":  # bytes, because NaN differs from itself
            return hash((values.shape, values.astype(float).tobytes()))
        return hash(tuple(values.tolist()))
    except (TypeError, ValueError):  # lists of lists or of mappings
        return hash(repr(cell))


class Group:
    """The rows that have the same id.

    Parameters
    ----------
    ids : Series
        The id of each row.
    """

    def __init__(self, ids):
        codes, _ = cell_codes(ids)
        self.codes = pd.factorize(codes)[0]  # missing ids are one group
        self.first = np.flatnonzero(~pd.Series(self.codes).duplicated().to_numpy())
        self.n_repeated = int((np.bincount(self.codes) > 1).sum())

    def count_differing(self, values):
        """Return the number of groups in which a row differs from the first.

        Missing cells, of code -1, are not compared, as long as half of the repeated groups have two
        others. Else a column that is nearly empty would describe whatever it is compared by.
        """
        there = np.flatnonzero(values >= 0)
        n_compared = int((np.bincount(self.codes[there], minlength=len(self.first)) > 1).sum())
        if len(there) == len(values) or 2 * n_compared < self.n_repeated:
            differs = values != values[self.first][self.codes]
            return len(pd.unique(self.codes[differs]))
        codes, values = self.codes[there], values[there]
        first = np.empty(len(self.first), dtype=values.dtype)
        first[codes[::-1]] = values[::-1]  # the last write, so the first row, wins
        return len(pd.unique(codes[values != first[codes]]))

    def tolerates(self, n_differing):
        """Check whether so few groups differ that their first row can be used."""
        return (
            n_differing <= MOST_DIFFERING * len(self.first)
            and n_differing <= MOST_DIFFERING_REPEATED * self.n_repeated
        )


def make_groups(frame, *, song, user, playlist):
    """Return the groups of rows by what they have in common, without ids that are None."""
    ids = {"songs": song, "users": user, "playlists": playlist}
    return {subject: Group(frame[label]) for subject, label in ids.items() if label is not None}


def find_subject(label, values, groups):
    """Return what a column describes: "songs", "users" or "playlists"; None if none of them.

    Parameters
    ----------
    label : str
        Name of the column.

    values : ndarray
        Codes of its cells.

    groups : dict of str to Group
        Rows of the same song, user and playlist, in this order; any of them may be missing.
    """
    differing = {subject: group.count_differing(values) for subject, group in groups.items()}
    exact = [subject for subject, n_differing in differing.items() if n_differing == 0]
    of_songs = is_tag_name(label) or is_identity_name(label)
    if "songs" in exact and of_songs and words(label)[0] not in ("user", "owner", "playlist"):
        return "songs"
    # If no id is repeated then rows agree on anything, which is no evidence.
    exact.sort(key=lambda subject: groups[subject].n_repeated == 0)
    if exact and (groups[exact[0]].n_repeated or exact[0] == "songs"):
        return exact[0]
    close = [s for s, n_differing in differing.items() if groups[s].tolerates(n_differing)]
    return next(iter([*close, *exact]), None)


def find_date_subject(frame, label, codes, groups):
    """Return whose dates a column of a membership table has, if not those of songs or users.

    Parameters
    ----------
    frame : DataFrame
        The table.

    label : str
        Name of the column.

    codes : ndarray
        Codes of its cells.

    groups : dict of str to Group
        Rows of the same song, user and playlist.

    Returns
    -------
    subject : {"playlists", "rows"} or None
        None if the column has no dates, or dates of songs or users, or if rows have no playlists.
    """
    if "playlists" not in groups:
        return None
    subject = None if is_event_name(label) else find_subject(label, codes, groups)
    if subject in ("songs", "users") or not has_dates(frame[label], label):
        return None
    return "rows" if groups["playlists"].count_differing(codes) else "playlists"


def use_of_dates(label, subject):
    """Return what dates of playlists or rows are, and what they can be used for."""
    return (
        f"has dates of {subject}; use them with TimeSplit(created={label!r}), or for sample "
        "weights with half_life_weights"
    )


class Content:
    """The cells of a column, one per song or user.

    Parameters
    ----------
    label : str
        Name of the column.

    column : Series
        The cells.
    """

    def __init__(self, label, column):
        self.label = label
        self.of_categories = isinstance(column.dtype, pd.CategoricalDtype)
        if self.of_categories:
            column = column.astype(column.cat.categories.dtype)
        self.column = column
        self.codes, self.distinct = cell_codes(column)
        self.n_present = int((self.codes >= 0).sum())
        self.n_distinct = len(self.distinct)

    @property
    def repeats(self):
        """The mean number of occurrences of a value."""
        return self.n_present / max(1, self.n_distinct)

    @property
    def is_almost_distinct(self):
        """Whether hardly any value occurs more than once."""
        return self.n_distinct >= FEWEST_DISTINCT and self.repeats < FEWEST_REPEATS

    @cached_property
    def form(self):
        """What the cells are: "number", "date", "list", "string", "name" or a type."""
        dtype = self.column.dtype
        if pd.api.types.is_complex_dtype(dtype):
            return "complex"
        if is_number(self.column):
            return "name" if self.of_categories else "number"
        if pd.api.types.is_datetime64_any_dtype(dtype):
            return "date"
        if is_listed(self.column):
            return "list"
        inferred = pd.api.types.infer_dtype(self.column, skipna=True)
        forms = {"string": "string", "boolean": "name", "mixed-integer": "name"}
        forms |= dict.fromkeys(("date", "datetime", "datetime64", "period"), "date")
        forms |= dict.fromkeys(("integer", "floating", "mixed-integer-float"), "number")
        return forms.get(inferred, inferred)

    @cached_property
    def is_integral(self):
        """Whether the numbers are integers, of any type, and no truth values."""
        if pd.api.types.is_bool_dtype(self.column.dtype):
            return False
        values = self.distinct.to_numpy(dtype=float)
        return bool(np.isfinite(values).all() and (values % 1 == 0).all())

    @cached_property
    def cells(self):
        """Some distinct cells that are not missing; of lists, some cells."""
        if self.form == "list":
            return list(self.column.dropna().iloc[:MOST_CELLS])
        return list(self.distinct[:MOST_CELLS])

    @cached_property
    def has_dates(self):
        """Whether strings are dates such as "2011-05-03", "2011-05" or, among these, "2011"."""
        return has_date_strings(self.cells, self.label)

    @cached_property
    def has_several_words(self):
        """Whether most strings are of several words."""
        several = [len(str(cell).split(maxsplit=1)) > 1 for cell in self.cells]
        return 2 * sum(several) > len(several)

    @cached_property
    def separator(self):
        """What separates the values of one string; None without."""
        return find_separator(self.column) if self.form == "string" else None

    @cached_property
    def is_vector(self):
        """Whether the cells are arrays of numbers of one length."""
        cells = self.column.dropna()
        if not all(isinstance(cell, list | tuple | np.ndarray) for cell in cells):
            return False
        lengths = {len(cell) for cell in cells}
        return len(lengths) == 1 and min(lengths) > 1 and self.list_kinds <= set("iuf")

    @cached_property
    def list_kinds(self):
        """The kinds of numpy's types that lists have; "O" stands for any object."""
        try:
            arrays = [np.asarray(list(c) if isinstance(c, LISTS) else c) for c in self.cells]
        except ValueError:
            return {"O"}
        kinds = {a.dtype.kind if a.ndim < 2 else "O" for a in arrays if a.size}
        if "O" in kinds and all(isinstance(one, str) for a in arrays for one in a.flat):
            kinds = (kinds - {"O"}) | {"U"}
        return kinds


def guess_role(content):
    """Return the role that fits a column, and why it is nevertheless not to be used, or None.

    Parameters
    ----------
    content : Content
        A column with at least two distinct values.

    Returns
    -------
    role : {"numeric", "date", "tags", "identity", "vector", "text"} or None
        The role; None if the column must be converted before it can have any.

    reason : str or None
        Why the column is left out unless it is named; None if it can be used.
    """
    if content.form == "date":
        return "date", None
    if content.form == "number":
        return _role_of_numbers(content)
    if content.form == "list":
        return _role_of_lists(content)
    if content.form in ("string", "name"):
        return _role_of_names(content)
    return None, f"has values of type {content.form}; convert them to numbers, strings or dates"


def _role_of_numbers(content):
    label = content.label
    if content.is_integral and is_tag_name(label):
        return "tags", None
    if content.is_integral and (is_identity_name(label) or looks_like_id(label)):
        return _identity(content)
    if content.column.dtype == object:
        return None, "has numbers of type object; convert them with pandas.to_numeric"
    first = words(label)[:1]
    if first in (["unnamed"], ["index"]) and content.is_integral and content.repeats == 1:
        return "numeric", "has the number of the row"
    return "numeric", None


def _role_of_lists(content):
    if content.is_vector and not is_tag_name(content.label):
        return "vector", None
    if content.list_kinds <= set("f"):
        return None, "has lists of different lengths; make them equally long to use them as vectors"
    if not content.list_kinds <= set("UiufbS"):
        return None, "has lists of values that are no strings; convert them"
    values = [value for cell in content.cells if isinstance(cell, LISTS) for value in cell]
    n_distinct = len(set(values))
    if n_distinct >= FEWEST_DISTINCT and len(values) < FEWEST_REPEATS * n_distinct:
        return "tags", "has hardly any value more than once"
    return "tags", None


def _role_of_names(content):
    label, is_string = content.label, content.form == "string"
    if is_string and is_text_name(label) and not _has_categories(content):
        return "text", "is free text"
    if is_string and content.has_dates:
        return "date", None
    if is_tag_name(label):
        return "tags", None
    if content.separator is not None and stem(label)[-1:] != ["album"]:
        return "tags", None
    if is_identity_name(label) or looks_like_id(label):
        return _identity(content)
    if content.repeats < FEWEST_REPEATS and content.has_several_words:
        return "text", "is free text"
    if content.is_almost_distinct:
        return "identity", "has hardly any value more than once"
    few = max(MOST_CATEGORIES, content.n_present / FEWEST_PER_CATEGORY)
    return ("tags" if content.n_distinct <= few else "identity"), None


def _identity(content):
    if is_identity_name(content.label):
        alone = content.n_distinct >= FEWEST_DISTINCT and content.repeats == 1
    else:
        alone = content.is_almost_distinct
    return "identity", "has the name of an id" if alone else None


def _has_categories(content):
    """Check whether strings are a few words that are often repeated."""
    few = content.n_distinct <= MOST_CATEGORIES and content.repeats >= FEWEST_PER_CATEGORY
    return few and not content.has_several_words


def preference(label):
    """Return a sort key by which one of several columns with the same values is used."""
    telling = is_tag_name(label) or is_identity_name(label)
    return (not telling, not looks_like_id(label), len(label), label)


def find_duplicates(contents, first=()):
    """Return which columns have the same values as another, which is used instead.

    Parameters
    ----------
    contents : list of Content
        Columns with the same rows.

    first : list of str
        Columns that are used in any case.

    Returns
    -------
    duplicates : dict of str to str
        The column to use, by column.
    """
    ordered = sorted(contents, key=lambda c: (c.label not in first, *preference(c.label)))
    kept, duplicates = {}, {}
    for content in ordered:
        # Codes count values in order of appearance: columns are the same if they have the same
        # codes and the same distinct values. The first of these tell most columns apart, and list
        # comparison treats 1, 1.0 and True as equal.
        start = hash(tuple(content.distinct[:16]))
        alike = kept.setdefault((hash(content.codes.tobytes()), start), [])
        same = next((c for c in alike if list(c.distinct) == list(content.distinct)), None)
        if same is None:
            alike.append(content)
        elif content.label not in first:
            duplicates[content.label] = same.label
    return duplicates


def says_the_same(one, other):
    """Check whether a column has the values of another under other names.

    Values must pair up. With names of the same stem, such as album_name and album_id, it is enough
    that the other determines the one.
    """
    both = (one.codes >= 0) & (other.codes >= 0)
    mine, theirs = one.codes[both].astype(np.int64), other.codes[both]
    if len(mine) == 0:
        return False
    n_pairs = len(pd.unique(mine * other.n_distinct + theirs))
    n_mine, n_theirs = len(pd.unique(mine)), len(pd.unique(theirs))
    if stem(one.label) == stem(other.label) and looks_like_id(other.label):
        return n_pairs <= MOST_PAIRS * n_theirs
    return n_pairs <= MOST_PAIRS * min(n_mine, n_theirs)
