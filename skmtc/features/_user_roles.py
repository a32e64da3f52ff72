"""Which columns say what about a user."""

from dataclasses import dataclass, field

import pandas as pd

from skmtc._table import to_frame
from skmtc.features._roles import (
    ID_NAMES,
    as_list,
    check_labels,
    check_numbers,
    find_name,
    given_label,
    given_labels,
    has_one_value_per,
    id_reasons,
    is_auto,
    is_number,
    left_out,
    looks_like_id,
)


@dataclass
class UserRoles:
    """The roles of columns in user features.

    Parameters
    ----------
    numeric : list
        Columns of numbers.

    categorical : list
        Columns of names.

    left_out : dict
        Why each other column is not used, by name.

    Examples
    --------
    >>> from skmtc.features import UserRoles, make_user_features
    >>> roles = UserRoles(numeric=["age"], categorical=["gender", "country"])
    >>> features = make_user_features(roles)
    """

    numeric: list = field(default_factory=list)
    categorical: list = field(default_factory=list)
    left_out: dict = field(default_factory=dict)


def guess_user_roles(columns, *, numeric="auto", categorical="auto", user="auto", song="auto"):
    """Guess the roles of columns in user features.

    In a membership table, columns are used that have one value per user but not one per song. Those
    with numbers are numeric, all others categorical. Of a list of names, only ages are numeric.

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

    Returns
    -------
    roles : UserRoles
        The roles, to be read, changed and passed to `make_user_features`.

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
    ... })
    >>> roles = guess_user_roles(X)
    >>> roles.numeric, roles.categorical
    (['age'], ['country'])
    >>> for column, reason in roles.left_out.items():
    ...     print(column, reason)
    user has the name of an id
    song has the name of an id
    year describes songs
    """
    if isinstance(columns, pd.DataFrame) or hasattr(columns, "to_pandas"):
        return _guess_from_table(to_frame(columns), numeric, categorical, user, song)
    return _guess_from_names(as_list(columns), numeric, categorical)


def _guess_from_names(labels, numeric, categorical):
    reasons = id_reasons(labels)
    free = [c for c in labels if c not in reasons]
    return _share_out(
        free, {"numeric": numeric, "categorical": categorical}, labels, reasons, _is_age
    )


def _guess_from_table(frame, numeric, categorical, user, song):
    check_labels(frame.columns)
    ids = {"user": user, "song": song}
    for role, name in ids.items():
        if is_auto(name):
            ids[role] = find_name(frame.columns, ID_NAMES[role])
        elif name is not None:
            ids[role] = given_label(frame, name, role)
    owner = ids["user"] or find_name(frame.columns, ID_NAMES["playlist"])
    reasons = {c: _reason_against(frame, c, owner, ids["song"]) for c in frame.columns}
    named = {"numeric": numeric, "categorical": categorical}
    named = {r: n if is_auto(n) else given_labels(frame, n, r) for r, n in named.items()}
    free = [c for c, reason in reasons.items() if reason is None]
    roles = _share_out(free, named, frame.columns, reasons, lambda c: is_number(frame[c]))
    check_numbers(frame, roles.numeric, "numeric")
    return roles


def _share_out(free, named, labels, reasons, is_numeric):
    """Give the free columns to the roles that are to be guessed."""
    given = {role: as_list(names) for role, names in named.items() if not is_auto(names)}
    free = [c for c in free if not any(c in names for names in given.values())]
    roles = UserRoles(
        numeric=given.get("numeric", [c for c in free if is_numeric(c)]),
        categorical=given.get("categorical", [c for c in free if not is_numeric(c)]),
    )
    roles.left_out = left_out(labels, [*roles.numeric, *roles.categorical], reasons)
    return roles


def _reason_against(frame, label, owner, song):
    """Say why a column does not describe users; None if it does."""
    if label in (owner, song) or looks_like_id(label):
        return "has the name of an id"
    if frame[label].isna().all():
        return "has no values"
    if song is not None and has_one_value_per(frame, label, song):
        return "describes songs"
    if owner is not None and not has_one_value_per(frame, label, owner):
        return "differs between rows of one user"
    return None


def _is_age(label):
    return "age" in str(label).lower().split("_")
