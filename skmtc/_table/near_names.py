"""Check for missing and misspelt column names."""

import re
from difflib import get_close_matches

# Names at least this alike are taken for one misspelt; see `difflib.SequenceMatcher.ratio`.
ALIKE = 0.8


def check_names(columns, known):
    """Raise if a column has nearly the name of one that is missing, or if none is known.

    Parameters
    ----------
    columns : sequence of str
        Columns of a table.

    known : sequence of str
        Columns of the table of `fit`.
    """
    # A column without a name is used to query a user without attributes.
    given, known = [str(c) for c in columns if c != ""], [str(c) for c in known]
    missing = [name for name in known if name not in given]
    for name in given:
        near = None if name in known else _near(name, missing)
        if near is not None:
            raise ValueError(
                f"Columns must have the names that they had in fit; got {name!r}, which is nearly "
                f"{near!r}, and no {near!r}. Rename the column, or drop it if it is another."
            )
    if given and not set(given) & set(known):
        raise ValueError(
            f"A table must have at least one column of the table of fit, {known[:12]}; got "
            f"{given[:12]}. Rename the columns."
        )


def check_columns_of(transformer, rows, needed, name):
    """Raise if new songs or users lack columns that their transformer needs."""
    lacking = [c for c in needed if c not in rows.columns]
    if lacking:
        raise ValueError(
            f"New ids need the columns that `{name}` was fitted on; got a table without "
            f"{lacking[:12]} of {type(transformer).__name__}. Add them, or query known ids only."
        )


def _near(name, missing):
    """Return the missing name that a name is likely to mean; None if there is none."""
    plain = {_plain(other): other for other in missing}
    if _plain(name) in plain:
        return plain[_plain(name)]
    found = get_close_matches(name.lower(), [other.lower() for other in missing], 1, ALIKE)
    return next((other for other in missing if [other.lower()] == found), None)


def _plain(name):
    """Return a name without case, signs, a plural and "id" at its end."""
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    return re.sub(r"(ids?|s)$", "", letters) or letters
