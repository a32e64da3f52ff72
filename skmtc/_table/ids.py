"""Ids and codes: the only place where ids become positions in sorted arrays of distinct ids."""

from functools import cached_property

import numpy as np
import pandas as pd


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

    @cached_property
    def values(self):
        """The distinct ids as an array."""
        return self.index.to_numpy()

    @cached_property
    def kind(self):
        """What the ids are, such as "numbers" or "strings"."""
        return _kind(self.index)

    def ready(self):
        """Build the hash table now, and return the ids themselves.

        pandas builds it at the first lookup, which is not thread-safe.
        """
        self.index.get_indexer(self.index[:1])
        return self

    def codes(self, ids):
        """Return the code of each id; -1 for an id that is not known."""
        theirs, ours = _kind(ids), self.kind
        if theirs != ours and "empty" not in (theirs, ours):
            raise TypeError(
                f"The {self.role} ids must be of the same type as in fit; got {theirs} where "
                f"fit had {ours}. Convert the {self.role} column, e.g. with `astype`."
            )
        return self.index.get_indexer(pd.Index(np.asarray(ids)))

    @classmethod
    def factorize(cls, ids, role):
        """Return the ids of a column, and the code of each of its rows."""
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
    dtype = getattr(ids, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":  # known without a look at the values
        return "numbers"
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
    if isinstance(ids.dtype, np.dtype) and ids.dtype.kind in "biu":  # of these none is missing
        return ids
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
