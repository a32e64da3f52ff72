"""Declarations of fitted attributes, and the check that they are consistent.

A class lists its fitted attributes in `_fitted_state`, a dict of fields by name. Fields name the
dimensions of arrays: all arrays of an estimator must agree on the size of "users", "songs" and so
on. A subclass or mixin lists what it adds; `fitted_fields` joins the lists of all bases.

The same declarations tell `take` which rows and columns belong to a user, a playlist or a song.
"""

from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse

# Attributes of a sparse array in scipy. Others would shadow a method.
SPARSE_NAMES = frozenset(vars(csr_array((1, 1)))) | {
    "_has_sorted_indices",
    "_has_canonical_format",
    "has_sorted_indices",
    "has_canonical_format",
}
# memmap: joblib hands large arrays to other processes in files.
ARRAY_TYPES = (np.ndarray, np.memmap)


def fitted_fields(estimator_type):
    """Return the fields of a class and of all its bases, by name."""
    fields = {}
    for base in reversed(estimator_type.__mro__):
        fields |= vars(base).get("_fitted_state", {})
    return fields


def check_fitted_state(estimator):
    """Check that the fitted attributes of an estimator are present and consistent.

    Parameters
    ----------
    estimator : object
        An estimator of this package, fitted or not; one that is not fitted passes.

    Returns
    -------
    sizes : Sizes
        The sizes of the named dimensions.

    Raises
    ------
    ValueError
        If an attribute is missing, or has a shape, type or value that does not fit. The message
        names the attribute.
    """
    sizes = Sizes()
    _check_nothing_shadowed(estimator)
    fields, state = fitted_fields(type(estimator)), vars(estimator)
    is_fitted = any(name in state for name, field in fields.items() if not field.optional)
    # 1. Types and shapes. 2. Ranges of indices, when all sizes are known.
    for check in ("check", "check_range"):
        for name, field in fields.items():
            value = state.get(name)
            if value is not None:
                getattr(field, check)(name, value, sizes)
            elif is_fitted and not field.optional:
                refuse(name, "be there", "nothing" if name not in state else "None")
    return sizes


def take(estimator, kept):
    """Return the fitted attributes of an estimator that change when only some rows are kept.

    Parameters
    ----------
    estimator : object
        A fitted estimator of this package.

    kept : dict of str to ndarray of bool
        For each dimension of which something goes, which positions stay.

    Returns
    -------
    state : dict
        New values by name; the old ones are not changed.
    """
    fields, state = fitted_fields(type(estimator)), vars(estimator)
    return {
        name: field.take(state[name], kept)
        for name, field in fields.items()
        if state.get(name) is not None and field.has_any(kept)
    }


def refuse(name, must, got):
    """Raise the error of a fitted attribute."""
    raise ValueError(
        f"The fitted attribute `{name}` must {must}; got {got}. The model was damaged or changed "
        "after fit: fit it again, or load another copy of its file."
    )


class Sizes:
    """Sizes of named dimensions, each with the attribute that it was first read from."""

    def __init__(self):
        self._known = {}
        self._column = None

    def __getitem__(self, dimension):
        return self._known[self._column, dimension][0]

    def get(self, dimension):
        """Return the size of a dimension, None if no attribute has it."""
        return self._known.get((self._column, dimension), (None,))[0]

    def of_column(self, column):
        """Return the sizes of one column of an encoder, whose dimensions are its own."""
        sizes = Sizes()
        sizes._known, sizes._column = self._known, column
        return sizes

    def agree(self, name, dimension, size):
        """Check the size of a dimension; the first attribute that has it sets the size.

        An integer stands for itself, and a function is called with the sizes.
        """
        if dimension is None:
            return
        if isinstance(dimension, str):
            known, source = self._known.setdefault((self._column, dimension), (size, name))
            if size != known:
                refuse(name, f"have {known} {dimension}, as `{source}` has", size)
            return
        wanted = dimension(self) if callable(dimension) else dimension
        if size != wanted:
            refuse(name, f"have a side of {wanted}", size)


class Field:
    """A fitted attribute.

    Parameters
    ----------
    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    dimensions: tuple[Any, ...] = ()

    def __init__(self, *, optional=False):
        self.optional = optional

    def check(self, name, value, sizes):
        """Check type and shape."""

    def check_range(self, name, value, sizes):
        """Check what needs the sizes of all dimensions."""

    def has_any(self, kept):
        """Check whether the attribute has one of some dimensions."""
        return bool(set(self.dimensions) & set(kept))

    def take(self, value, kept):
        """Return the value with only the positions that are kept."""
        for axis, dimension in enumerate(self.dimensions):
            if dimension in kept:
                value = value[(slice(None),) * axis + (np.flatnonzero(kept[dimension]),)]
        return value


class Array(Field):
    """An array of numbers, dense or sparse.

    Parameters
    ----------
    *dimensions : str, int, callable or None
        The dimensions: a name, a size, a function of the sizes, or None for any size.

    kinds : str, default="f"
        Kinds of dtype, as numpy abbreviates them.

    dtype : dtype or None, default=None
        The dtype, if only one will do.

    sparse : bool or None, default=False
        Whether it is a csr_array; None: it may be.

    canonical : bool, default=False
        Whether the indices of each row of a csr_array are sorted and distinct.

    above, at_least : float or None, default=None
        Bounds of the (stored) values.

    finite : bool, default=True
        Whether neither NaN nor infinity is allowed.

    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    def __init__(
        self,
        *dimensions,
        kinds="f",
        dtype=None,
        sparse=False,
        canonical=False,
        above=None,
        at_least=None,
        finite=True,
        optional=False,
    ):
        super().__init__(optional=optional)
        self.dimensions = dimensions
        self.kinds = kinds
        self.dtype = dtype
        self.sparse = sparse
        self.canonical = canonical
        self.above = above
        self.at_least = at_least
        self.finite = finite

    def check(self, name, value, sizes):
        """Check type, shape and values."""
        if issparse(value) and self.sparse is not False:
            check_sparse(name, value, canonical=self.canonical)
            values = value.data
        elif self.sparse is True:
            refuse(name, "be a csr_array", type(value).__name__)
        else:
            values = _check_dense(name, value)
        if value.ndim != len(self.dimensions):
            refuse(name, f"have {len(self.dimensions)} dimensions", f"shape {value.shape}")
        if values.dtype.kind not in self.kinds or not values.dtype.isnative:
            refuse(name, f"be an array of dtype kind {' or '.join(self.kinds)}", values.dtype)
        if self.dtype is not None and values.dtype != self.dtype:
            refuse(name, f"be an array of {np.dtype(self.dtype)}", values.dtype)
        for dimension, size in zip(self.dimensions, value.shape, strict=True):
            sizes.agree(name, dimension, size)
        self._check_values(name, values)

    def _check_values(self, name, values):
        if self.finite and values.dtype.kind == "f" and not np.isfinite(values).all():
            refuse(name, "be finite", f"{values[~np.isfinite(values)][0]} among its values")
        if values.size == 0:
            return
        if self.above is not None and not values.min() > self.above:
            refuse(name, f"be above {self.above}", values.min())
        if self.at_least is not None and not values.min() >= self.at_least:
            refuse(name, f"be {self.at_least} or more", values.min())


class Index(Array):
    """Positions in another dimension.

    Parameters
    ----------
    dimension : str
        The dimension of the array itself.

    into : str
        The dimension that its values are positions of.

    missing : bool, default=False
        Whether -1 stands for none.

    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    def __init__(self, dimension, *, into, missing=False, optional=False):
        super().__init__(dimension, kinds="i", at_least=-1 if missing else 0, optional=optional)
        self.into = into

    def check_range(self, name, value, sizes):
        """Check that no position is beyond the end."""
        size = sizes.get(self.into) or 0
        if value.size and value.max() >= size:
            refuse(name, f"be below {size}, the number of {self.into}", value.max())

    def has_any(self, kept):
        """Check whether positions or what they stand for are among some dimensions."""
        return super().has_any(kept) or self.into in kept

    def take(self, value, kept):
        """Return the positions after others are gone."""
        value = super().take(value, kept)
        if self.into not in kept:
            return value
        # One more, which -1 picks.
        new = np.append(np.cumsum(kept[self.into]) - 1, -1)
        return new[value].astype(value.dtype)


class IdArray(Array):
    """Distinct ids or names.

    Parameters
    ----------
    dimension : str
        What the ids name.

    ordered : bool, default=True
        Whether they are sorted.

    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    def __init__(self, dimension, *, ordered=True, optional=False):
        super().__init__(dimension, kinds="OUSifubmM", optional=optional)
        self.ordered = ordered

    def _check_values(self, name, values):
        try:
            if self.ordered:
                good = bool(np.all(values[1:] > values[:-1]))
            else:
                good = pd.Index(values).is_unique
        except (TypeError, ValueError):  # of types that do not compare
            good = False
        if not good:
            refuse(name, f"be distinct{' and sorted' * self.ordered}", "others")


class Labels(Array):
    """Names or values, one per position, of any type.

    Parameters
    ----------
    dimension : str
        The dimension of the array.

    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    def __init__(self, dimension, *, optional=False):
        super().__init__(dimension, kinds="OUSifubmM", optional=optional)

    def _check_values(self, name, values):
        pass  # an artist may be missing


class Plain(Field):
    """A value of some type.

    Parameters
    ----------
    *types : type
        The types; with `range` an interval of numbers.

    at_least, above : float or None, default=None
        Bounds of a number, which is then finite.

    dimension : str or None, default=None
        The dimension whose size it is.

    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    def __init__(self, *types, at_least=None, above=None, dimension=None, optional=False):
        super().__init__(optional=optional)
        self.types = types
        self.at_least = at_least
        self.above = above
        self.dimension = dimension

    def check(self, name, value, sizes):
        """Check type and bounds."""
        if not isinstance(value, self.types):
            refuse(name, f"be of type {' or '.join(t.__name__ for t in self.types)}", repr(value))
        if self.at_least is not None and not self.at_least <= value < np.inf:
            refuse(name, f"be a number of {self.at_least} or more", repr(value))
        if self.above is not None and not self.above < value < np.inf:
            refuse(name, f"be a number above {self.above}", repr(value))
        if self.dimension is not None:
            sizes.agree(name, self.dimension, value)

    @classmethod
    def count(cls, dimension=None, *, optional=False):
        """Return the field of a count."""
        return cls(Integral, at_least=0, dimension=dimension, optional=optional)

    @classmethod
    def number(cls, *, above, optional=False):
        """Return the field of a finite number above a bound."""
        return cls(Real, above=above, optional=optional)


class Part(Field):
    """An estimator inside an estimator, such as a fitted transformer, which checks itself."""

    def check(self, name, value, sizes):
        """Check that it is an estimator."""
        if not hasattr(value, "get_params") or isinstance(value, type):
            refuse(name, "be an estimator", repr(value)[:80])


class Each(Field):
    """A list with one entry per column of an encoder; each column has dimensions of its own.

    Parameters
    ----------
    field : Field
        What each entry is.
    """

    def __init__(self, field):
        super().__init__()
        self.field = field

    def check(self, name, value, sizes):
        """Check every entry."""
        if not isinstance(value, list):
            refuse(name, "be a list", type(value).__name__)
        sizes.agree(name, "columns", len(value))
        for column, entry in enumerate(value):
            if entry is not None:
                self.field.check(f"{name}[{column}]", entry, sizes.of_column(column))
            elif not self.field.optional:
                refuse(f"{name}[{column}]", "be there", "None")


class Several(Field):
    """A dict or tuple of a fixed set of fields.

    Parameters
    ----------
    fields : dict or tuple of Field
        The entries by key or by position.

    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    def __init__(self, fields, *, optional=False):
        super().__init__(optional=optional)
        self.fields = fields
        self.dimensions = tuple(d for _, field in self._pairs() for d in field.dimensions)

    def check(self, name, value, sizes):
        """Check every entry."""
        if not isinstance(value, type(self.fields)) or len(value) != len(self.fields):
            what = f"a {type(self.fields).__name__} of {len(self.fields)} arrays"
            refuse(name, f"be {what}", type(value).__name__)
        for key, field in self._pairs():
            inner = f"{name}[{key!r}]"
            if isinstance(value, dict) and key not in value:
                refuse(inner, "be there", "nothing")
            if value[key] is not None:
                field.check(inner, value[key], sizes)
            elif not field.optional:
                refuse(inner, "be there", "None")

    def take(self, value, kept):
        """Return the entries with only the positions that are kept."""
        taken = {k: None if value[k] is None else f.take(value[k], kept) for k, f in self._pairs()}
        return taken if isinstance(self.fields, dict) else tuple(taken.values())

    def _pairs(self):
        fields = self.fields
        return list(fields.items() if isinstance(fields, dict) else enumerate(fields))


class Nested(Field):
    """A fitted part of this package that shares dimensions with the estimator that owns it.

    Its method `without` returns it with only the positions that are kept.

    Parameters
    ----------
    *shared : str
        The dimensions that are the same in both.

    optional : bool, default=False
        Whether the attribute may be None or missing.
    """

    def __init__(self, *shared, optional=False):
        super().__init__(optional=optional)
        self.shared = shared

    def check(self, name, value, sizes):
        """Check the part, and that it has the shared dimensions."""
        own = check_fitted_state(value)
        for dimension in self.shared:
            if own.get(dimension) is None:
                refuse(name, f"be fitted, with {dimension}", type(value).__name__)
            sizes.agree(name, dimension, own[dimension])

    def has_any(self, kept):
        """Return True: what the part derives from its owner changes with it."""
        return True

    def take(self, value, kept):
        """Return the part with only the positions that are kept."""
        return value.without(kept)


class Stacked(Field):
    """A list of fitted estimators that share dimensions with the one that holds them.

    Parameters
    ----------
    dimension : str
        The dimension of the list.

    *shared : str
        The dimensions that are the same in all.
    """

    def __init__(self, dimension, *shared):
        super().__init__()
        self.dimension = dimension
        self.shared = shared

    def check(self, name, value, sizes):
        """Check every estimator, and that it has the shared dimensions."""
        if not isinstance(value, list):
            refuse(name, "be a list", type(value).__name__)
        sizes.agree(name, self.dimension, len(value))
        for place, estimator in enumerate(value):
            own = check_fitted_state(estimator)
            for dimension in self.shared:
                inner = f"{name}[{place}]"
                if own.get(dimension) is None:
                    refuse(inner, f"be fitted, with {dimension}", type(estimator).__name__)
                sizes.agree(inner, dimension, own[dimension])


def check_sparse(name, value, *, canonical=False):
    """Check that a csr_array is whole, and on demand that its indices are sorted and distinct.

    What scipy remembers of an array, such as that its indices are sorted, may be wrong in a file.
    """
    if type(value) is not csr_array or not vars(value).keys() <= SPARSE_NAMES:
        refuse(name, "be a csr_array", f"{type(value).__name__} with {sorted(vars(value))}")
    shape = value.shape
    if len(shape) != 2 or not all(isinstance(n, Integral) and n >= 0 for n in shape):
        refuse(name, "have two dimensions", f"shape {shape}")
    for part in ("data", "indices", "indptr"):
        array = _check_dense(f"{name}.{part}", vars(value).get(part))
        if array.ndim != 1 or (part != "data" and array.dtype not in (np.int32, np.int64)):
            refuse(f"{name}.{part}", "be a flat array of numbers", f"{array.dtype} {array.shape}")
    parts = value.data, value.indices, value.indptr
    fresh = csr_array((1, 1))  # without cached flags of the array
    fresh.data, fresh.indices, fresh.indptr = parts
    fresh._shape = tuple(int(n) for n in shape)
    try:
        fresh.check_format(full_check=True)
    except ValueError as error:
        refuse(name, "be a whole csr_array", str(error))
    facts = {
        "_has_sorted_indices": fresh.has_sorted_indices,
        "_has_canonical_format": fresh.has_canonical_format,
    }
    claimed = {fact for fact in facts if vars(value).get(fact, False)}
    if canonical:
        claimed.add("_has_canonical_format")
    if not all(facts[fact] for fact in claimed):
        refuse(name, "have sorted and distinct indices in each row", "others")


def _check_dense(name, value):
    if type(value) not in ARRAY_TYPES:
        refuse(name, "be an array", type(value).__name__)
    return value


def _check_nothing_shadowed(estimator):
    """Check that no attribute hides a method or declaration of this package or scikit-learn."""
    for base in type(estimator).__mro__:
        if base.__module__.split(".")[0] in ("skmtc", "sklearn"):
            hidden = vars(estimator).keys() & vars(base).keys() - {"__doc__"}
            if hidden:
                refuse(min(hidden), f"not hide what {base.__name__} defines", "a value")
