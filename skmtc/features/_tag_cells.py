"""Cells with several values: lists, and strings with a separator."""

from numbers import Number

import numpy as np
import pandas as pd

# In order of preference: a comma also occurs inside names, a bar rarely.
SEPARATORS = ("|", ";", ",")

# Number of cells that are read to find the separator; more do not change the result.
MOST_CELLS = 10_000

# A separator must be in this share of the cells, and tokens of distinct cells must occur this often
# on average: titles contain commas too, but their parts are not repeated.
FEWEST_SPLIT = 0.02
FEWEST_REPEATS = 1.5


def find_separator(column):
    """Return the separator of the strings of a column; None if each string is one value.

    Parameters
    ----------
    column : Series
        Strings, lists, numbers or missing values.

    Returns
    -------
    separator : str or None
        One of `SEPARATORS` that many cells contain and whose tokens are repeated between cells.
    """
    cells = [cell for cell in column.dropna().iloc[:MOST_CELLS] if isinstance(cell, str)]
    distinct = list(dict.fromkeys(cells))
    for separator in SEPARATORS:
        n_split = sum(separator in cell for cell in cells)
        if n_split < max(2, FEWEST_SPLIT * len(cells)):
            continue
        tokens = [token for cell in distinct for token in _split(cell, separator)]
        if len(tokens) >= FEWEST_REPEATS * len(set(tokens)):
            return separator
    return None


def read_tags(cell, separator, label):
    """Return the tags of one cell that is not missing, each once, in order.

    Parameters
    ----------
    cell : str, number, list, tuple, set or array
        A string is split at the separator. A string such as "['rock', 'pop']", which is how a list
        looks in a CSV file, is read as the list.

    separator : str or None
        What separates the tags of a string; None if a string is one tag.

    label : str
        Name of the column, for messages.

    Returns
    -------
    tags : list
        Strings or numbers.
    """
    if isinstance(cell, str):
        return list(dict.fromkeys(_split(cell, separator)))
    if isinstance(cell, Number | np.bool_):
        return [cell]
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        found = []
        for one in cell:
            if np.ndim(one) > 0:
                _refuse(one, label)
            if not pd.isna(one):
                found += read_tags(one, separator, label)
        return list(dict.fromkeys(found))
    return _refuse(cell, label)


def _split(text, separator):
    text = text.strip()
    if len(text) > 1 and text[0] == "[" and text[-1] == "]":
        parts = [part.strip().strip("'\"") for part in text[1:-1].split(",")]
    else:
        parts = [text] if separator is None else text.split(separator)
    return [part.strip() for part in parts if part.strip()]


def _refuse(cell, label):
    raise TypeError(
        f"A tag must be a string or a number, and several of them a list; got "
        f"{type(cell).__name__} {cell!r} in column {label!r}. Convert the column."
    )
