"""Read and print roles of columns."""

import pandas as pd

from skmtc._table import column_label
from skmtc.features.roles._column_content import is_number
from skmtc.features.roles._column_names import ID_NAMES, find_name

AUTO = "auto"


def is_auto(role):
    """Check whether a role is to be guessed."""
    return isinstance(role, str) and role == AUTO


def to_use(reason, role, label):
    """Return a reason, with the argument that overrides it."""
    return f"{reason}; pass {role}=[{label!r}] to use it"


def left_out(labels, used, reasons):
    """Return why each label that is not used is left out."""
    return {c: reasons.get(c) or "was not chosen" for c in labels if c not in used}


def check_labels(columns):
    """Check that the columns of a DataFrame have names."""
    unnamed = [label for label in columns if not isinstance(label, str)]
    if unnamed:
        raise TypeError(
            f"Columns must be named by strings for their roles to be guessed; got {unnamed[0]!r}. "
            "Rename the columns, or give the position of each role's columns and no table."
        )


def given_label(frame, name, role):
    """Return the label of a column that was named for a role, and check that it is there."""
    label = column_label(frame, name)
    if label is None:
        raise ValueError(
            f"The column of role `{role}` must be in the table; got {name!r}, and a table with the "
            f"columns {list(frame.columns)}. Correct the name, or pass {role}=None."
        )
    return label


def find_id(frame, name, role):
    """Return the label of an id column that was named, or is guessed by its usual names."""
    if is_auto(name):
        return find_name(frame.columns, ID_NAMES[role])
    return None if name is None else given_label(frame, name, role)


def given_labels(frame, names, role):
    """Return the labels of columns that were named for a role; one name stands for itself."""
    return [given_label(frame, name, role) for name in as_list(names)]


def as_list(names):
    """Return one name, several or None as a list."""
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


def show_roles(roles, names):
    """Return the roles that have columns, one per line, and what is left out.

    Parameters
    ----------
    roles : SongRoles or UserRoles
        The roles.

    names : list of str
        The names of the roles in order.
    """
    lines = [f"{name}: {show_labels(as_list(getattr(roles, name)))}" for name in names]
    lines = [line for line in lines if not line.endswith(": ")]
    if roles.left_out:
        lines.append("left out:")
        lines += [f"  {column}: {reason}" for column, reason in roles.left_out.items()]
    return "\n".join(lines)


def show_labels(labels):
    """Return names of columns as text, and of many the first and the last."""
    if len(labels) <= 12:
        return ", ".join(map(str, labels))
    return f"{labels[0]}, {labels[1]}, … {labels[-1]} ({len(labels)} columns)"


def show_code(roles, names):
    """Return the expression that makes roles, without those that are empty."""
    values = {name: getattr(roles, name) for name in names}
    given = [f"{n}={v!r}" for n, v in values.items() if v is not None and v not in ([], {})]
    return f"{type(roles).__name__}({', '.join(given)})"
