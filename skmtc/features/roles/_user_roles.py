"""Roles of columns that describe users."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skmtc._table import is_table, to_frame
from skmtc._typing import Column, Columns
from skmtc.features.roles._column_content import (
    Content,
    cell_codes,
    find_date_subject,
    find_duplicates,
    find_subject,
    guess_role,
    make_groups,
    use_of_dates,
)
from skmtc.features.roles._column_names import is_text_name, is_usual_id, looks_like_id, words
from skmtc.features.roles._role_names import (
    as_list,
    check_labels,
    check_numbers,
    find_id,
    given_labels,
    is_auto,
    left_out,
    show_code,
    show_roles,
    to_use,
)


@dataclass(repr=False)
class UserRoles:
    """The roles of columns in user features.

    Parameters
    ----------
    numeric : list
        Columns of numbers.

    categorical : list
        Columns of names, with any number of values, or with several per user.

    left_out : dict
        Why each other column is not used, by name.

    Examples
    --------
    >>> from skmtc.features import UserRoles, make_user_features
    >>> roles = UserRoles(numeric=["age"], categorical=["gender", "country"])
    >>> roles
    UserRoles(numeric=['age'], categorical=['gender', 'country'])
    >>> features = make_user_features(roles)
    """

    numeric: list[Any] = field(default_factory=list)
    categorical: list[Any] = field(default_factory=list)
    left_out: dict[Any, str] = field(default_factory=dict)

    @property
    def used(self) -> list[Any]:
        """The columns that have a role."""
        return list(dict.fromkeys([*as_list(self.numeric), *as_list(self.categorical)]))

    def __repr__(self):
        return show_code(self, ("numeric", "categorical", "left_out"))

    def __str__(self):
        return show_roles(self, ("numeric", "categorical"))


def guess_user_roles(
    columns: Any,
    *,
    numeric: Columns = "auto",
    categorical: Columns = "auto",
    user: Column | None = "auto",
    song: Column | None = "auto",
    playlist: Column | None = "auto",
) -> UserRoles:
    """Guess the roles of columns in user features, from their cells and their names.

    In a membership table, columns are used that have one value per user but not one per song.
    Numbers are numeric; names, codes of ids and lists of names are categorical. Columns of dates,
    of free text, of names that are almost all distinct, with one value only or with the values of
    another column are left out. Of a list of names, only ages are numeric.

    Parameters
    ----------
    columns : DataFrame or list of str
        A table with one row per user, or a membership table; or names of columns.

    numeric : list, str, int or None, default="auto"
        Columns of numbers. "auto" guesses, None stands for none; so below.

    categorical : list, str, int or None, default="auto"
        Columns of names.

    user : str, int or None, default="auto"
        Column of user ids, guessed by its usual names, in which rows of one user agree. Without
        users, rows of one playlist must agree.

    song : str, int or None, default="auto"
        Column of song ids, guessed by its usual names.

    playlist : str, int or None, default="auto"
        Column of playlist ids, guessed by its usual names.

    Returns
    -------
    roles : UserRoles
        The roles, to be read, changed and passed to `make_user_features`. Each column is either
        used or in `left_out`, with the reason.

    See Also
    --------
    make_user_features : Makes features of columns with these roles.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc.features import guess_user_roles
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob"],
    ...     "song": ["s1", "s2", "s1"],
    ...     "year": [2009, 1999, 2009],
    ...     "age": [31, 31, 25],
    ...     "country": ["AU", "AU", "DE"],
    ...     "joined": ["2011-05-03", "2011-05-03", "2012-01-30"],
    ... })
    >>> print(guess_user_roles(X))
    numeric: age
    categorical: country
    left out:
      user: has the name of an id
      song: has the name of an id
      year: describes songs
      joined: has dates; convert them to numbers, such as years, to use it
    """
    named = {"numeric": numeric, "categorical": categorical}
    if is_table(columns):
        ids = {"user": user, "song": song, "playlist": playlist}
        return _guess_from_table(to_frame(columns), named, ids)
    return _guess_from_names(as_list(columns), named)


def _guess_from_names(labels, named):
    return _assign(labels, {label: _role_of_name(label) for label in labels}, named, {})


def _role_of_name(label):
    """Return the role of a column by its name alone, and why it is left out, or None."""
    if looks_like_id(label):
        return None, "has the name of an id"
    if is_text_name(label):
        return "categorical", "is free text"
    return ("numeric" if "age" in words(label) else "categorical"), None


def _guess_from_table(frame, named, ids):
    check_labels(frame.columns)
    ids = {role: find_id(frame, name, role) for role, name in ids.items()}
    named = {r: n if is_auto(n) else given_labels(frame, n, r) for r, n in named.items()}
    groups = make_groups(frame, **ids)
    owner = next((owner for owner in ("users", "playlists") if owner in groups), None)
    rows = np.arange(len(frame)) if owner is None else groups[owner].first
    reasons, contents = {}, []
    for label in frame.columns:
        reasons[label] = _reason_against(frame, label, ids, groups, owner)
        if reasons[label] is None:
            contents.append(Content(label, frame[label].iloc[rows]))
    given = [label for names in named.values() if not is_auto(names) for label in names]
    same = find_duplicates(contents, given)
    reasons |= {label: f"is the same as column {other!r}" for label, other in same.items()}
    guessed = {c.label: _guess_role(c) for c in contents if c.label not in same}
    roles = _assign(frame.columns, guessed, named, reasons)
    check_numbers(frame, roles.numeric, "numeric")
    return roles


def _reason_against(frame, label, ids, groups, owner):
    """Return why a column does not describe users; None if it does."""
    if label in ids.values() or is_usual_id(label):
        return "has the name of an id"
    codes, distinct = cell_codes(frame[label])
    if len(distinct) < 2:
        return "has one value only" if len(distinct) else "has no values"
    dated = find_date_subject(frame, label, codes, groups)
    if dated is not None:
        return use_of_dates(label, dated)
    subject = find_subject(label, codes, groups) if groups else owner
    if subject == owner:
        return None
    return f"describes {subject}" if subject else "differs between rows of one user"


def _guess_role(content):
    """Return the role of a column of users, and why it is left out, or None."""
    if content.form in ("string", "name") and is_text_name(content.label):
        return "categorical", "is free text"
    role, reason = guess_role(content)
    if role == "date":
        return None, "has dates; convert them to numbers, such as years, to use it"
    if role == "vector":
        return None, "has vectors; spread them over columns of numbers to use it"
    return (role if role in ("numeric", None) else "categorical"), reason


def _assign(labels, guessed, named, reasons):
    """Return the roles, with columns added to those that are to be guessed."""
    roles = UserRoles(**{r: [] if is_auto(n) else as_list(n) for r, n in named.items()})
    given = roles.used
    for label, (role, reason) in guessed.items():
        if label in given:
            continue
        if reason is not None:
            reasons[label] = reason if role is None else to_use(reason, role, label)
        elif is_auto(named[role]):
            getattr(roles, role).append(label)
        else:
            reasons[label] = f"was not chosen; add it to {role} to use it"
    roles.left_out = left_out(labels, roles.used, reasons)
    return roles
