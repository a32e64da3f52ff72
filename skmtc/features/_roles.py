"""Columns and their roles: what guesses about songs and about users share."""

import pandas as pd

from skmtc._table import column_label

AUTO = "auto"

ID_NAMES = {
    "user": ("user", "user_id", "username", "user_name", "owner", "owner_id"),
    "playlist": ("playlist", "playlist_id", "pid", "playlist_name"),
    "song": ("song", "song_id", "track", "track_id", "track_uri"),
    "artist": ("artist", "artist_id", "artist_uri", "artist_name"),
}

ID_ENDINGS = ("_id", "_uri", "_url")


def is_auto(role):
    """Tell whether a role is left to be guessed."""
    return isinstance(role, str) and role == AUTO


def find_name(labels, names):
    """Give the first of some usual names, in any case, that a table has; None without."""
    lowered = {str(label).lower(): label for label in labels}
    return next((lowered[name] for name in names if name in lowered), None)


def looks_like_id(label):
    """Tell whether a column is named like ids."""
    name = str(label).lower()
    return any(name in names for names in ID_NAMES.values()) or name.endswith(ID_ENDINGS)


def is_number(column):
    """Tell whether a column has numbers, or truth values."""
    return pd.api.types.is_numeric_dtype(column.dtype)


def has_one_value_per(frame, label, id_label):
    """Tell whether rows of the same id agree on a column."""
    values = frame[label]
    if values.dtype == object:
        values = values.map(repr)  # lists of genres cannot be compared otherwise
    pairs = pd.DataFrame({"id": frame[id_label], "value": values}).drop_duplicates()
    return len(pairs) == frame[id_label].nunique(dropna=False)


def left_out(labels, used, reasons):
    """Say why each label that is not used is left out."""
    return {c: reasons.get(c) or "was not chosen" for c in labels if c not in used}


def id_reasons(labels):
    """Say which labels are left out because they look like ids."""
    return {label: "has the name of an id" for label in labels if looks_like_id(label)}


def check_labels(columns):
    """Check that the columns of a DataFrame have names."""
    unnamed = [label for label in columns if not isinstance(label, str)]
    if unnamed:
        raise TypeError(
            f"Columns must be named by strings for their roles to be guessed; got {unnamed[0]!r}. "
            "Rename the columns, or give the position of each role's columns and no table."
        )


def given_label(frame, name, role):
    """Give the label of a column that was named for a role, and check that it is there."""
    label = column_label(frame, name)
    if label is None:
        raise ValueError(
            f"The column of role `{role}` must be in the table; got {name!r}, and a table with the "
            f"columns {list(frame.columns)}. Correct the name, or pass {role}=None."
        )
    return label


def given_labels(frame, names, role):
    """Give the labels of columns that were named for a role; one name stands for itself."""
    return [given_label(frame, name, role) for name in as_list(names)]


def as_list(names):
    """Give one name, several or None as a list."""
    if names is None:
        return []
    return list(names) if isinstance(names, list | tuple | set | pd.Index) else [names]


def check_numbers(frame, labels, role):
    """Check that columns named for a role have numbers."""
    for label in labels:
        if not is_number(frame[label]) and not frame[label].isna().all():
            raise TypeError(
                f"Columns of role `{role}` must have numbers; got {label!r} of type "
                f"{frame[label].dtype}. Convert the column, or give it another role."
            )
