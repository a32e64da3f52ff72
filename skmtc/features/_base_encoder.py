"""Base class of encoders that encode each column separately."""

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from skmtc._table import Ids, is_table, read_ids, to_frame
from skmtc._typing import Matrix, Table
from skmtc._utils.estimator_state import VersionedState, all_or_nothing


class BaseColumnEncoder(
    OneToOneFeatureMixin, TransformerMixin, VersionedState, BaseEstimator, metaclass=ABCMeta
):
    """Base of encoders of ids and names, which may be strings or numbers.

    Subclasses implement `_reset`, `_fit_column`, `_transform_column` and `_column_names`. What
    they learn is kept in lists with one entry per column.
    """

    def fit(self, X: Table, y: Any = None) -> Self:
        """Learn from songs and the playlists that hold them.

        Parameters
        ----------
        X : DataFrame or array of shape (n_songs, n_columns)
            One row per song. A value may be missing.

        y : sparse array of shape (n_songs, n_playlists), default=None
            Membership: the 1-based position of the song in the playlist, 0 where it is not in it.
            A dense array of this shape is taken too. None stands for a single playlist that holds
            every row, in order; so does a one-dimensional `y`, which says nothing about playlists.

        Returns
        -------
        self : object
            The fitted encoder.
        """
        self._check_parameters()
        with all_or_nothing(self):
            frame = self._read(X, reset=True)
            membership = read_membership(y, len(frame))
            self._reset()
            for label in frame.columns:
                self._fit_column(frame[label], membership)
        return self

    def transform(self, X: Table) -> Matrix:
        """Encode songs, known or new.

        Parameters
        ----------
        X : DataFrame or array of shape (n_songs, n_columns)
            One row per song, with the columns seen in `fit`.

        Returns
        -------
        features : ndarray or csr_array of shape (n_songs, n_features_out)
            One row per song; the features of the first column come first. If nothing was frequent
            enough to be encoded, there is one feature of zeros.
        """
        check_is_fitted(self)
        frame = self._read(X, reset=False)
        blocks = [self._transform_column(frame[label], j) for j, label in enumerate(frame.columns)]
        is_sparse = any(issparse(block) for block in blocks)
        if not any(block.shape[1] for block in blocks):
            # A feature of zeros, as a ColumnTransformer needs at least one of each sparse part.
            blocks = [csr_array((len(frame), 1)) if is_sparse else np.zeros((len(frame), 1))]
        if len(blocks) == 1:  # stacking would copy it
            return blocks[0]
        return csr_array(hstack(blocks, format="csr")) if is_sparse else np.hstack(blocks)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the features.

        Parameters
        ----------
        input_features : array of str, default=None
            Names of the columns; None stands for those seen in `fit`, or x0, x1… for an array.

        Returns
        -------
        names : ndarray of shape (n_features_out,)
            Each begins with the name of the column that it comes from.
        """
        check_is_fitted(self)
        columns = super().get_feature_names_out(input_features)  # checks them
        names = [name for j, column in enumerate(columns) for name in self._column_names(column, j)]
        return np.asarray(names or [f"{columns[0]}_none"], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        return tags

    def _check_parameters(self):
        """Check the constructor's parameters."""

    @abstractmethod
    def _reset(self):
        """Reset the lists of fitted attributes, before the first column."""

    @abstractmethod
    def _fit_column(self, column, membership):
        """Fit one column and append to the fitted attributes."""

    @abstractmethod
    def _transform_column(self, column, j):
        """Return the features of column number `j`, one row per row."""

    @abstractmethod
    def _column_names(self, column, j):
        """Name the features of column number `j`."""

    def _read(self, X, *, reset):
        if is_table(X):
            frame = to_frame(X)
            validate_data(self, frame, reset=reset, skip_check_array=True)
            return frame
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return to_frame(X)


def learn_ids(column, role):
    """Return the distinct ids of a column, and the code of each row; -1 for a missing id."""
    has_id = column.notna().to_numpy()
    if not has_id.any():
        raise ValueError(
            f"Column {column.name!r} must have a value in at least one row; got {len(column)} "
            f"missing values. Fill in the {role} column, or leave it out of the features."
        )
    codes = np.full(len(column), -1, dtype=np.intp)
    ids, codes[has_id] = Ids.factorize(_present(column, has_id, role), role)
    return ids.values, codes


def find_ids(column, values, role):
    """Return the code of each row among known ids; -1 for a missing or an unknown id."""
    has_id = column.notna().to_numpy()
    codes = np.full(len(column), -1, dtype=np.intp)
    if has_id.any():
        codes[has_id] = Ids(values, role).codes(_present(column, has_id, role))
    return codes


def _present(column, has_id, role):
    return read_ids(column[has_id].to_frame(), column.name, role)


def ones_at(rows, codes, shape):
    """Return a sparse array of ones at some places, with indices of 32 bits where they suffice.

    scipy keeps the 64 bits of positions, which doubles the memory of everything that is stacked.
    """
    index = np.int32 if max(shape) <= np.iinfo(np.int32).max else np.int64
    places = np.asarray(rows, dtype=index), np.asarray(codes, dtype=index)
    return csr_array((np.ones(len(rows)), places), shape=shape)


def read_membership(y, n_songs):
    """Return the songs x playlists matrix of positions that `y` stands for.

    None and one-dimensional targets stand for a single playlist of all songs in order, so that
    encoders work in any pipeline.
    """
    if y is None:
        return _one_playlist(n_songs)
    if not issparse(y):
        y = np.asarray(y)
        if y.ndim != 2:
            check_consistent_length(np.empty(n_songs), y)
            return _one_playlist(n_songs)
    membership = csr_array(check_array(y, accept_sparse="csr", ensure_min_features=0), copy=True)
    if membership.shape[0] != n_songs:
        raise ValueError(
            "The membership matrix must have one row per song; got shape "
            f"{membership.shape} for {n_songs} songs. Pass it as songs x playlists: transpose a "
            "playlists x songs matrix."
        )
    if membership.nnz and membership.data.min() < 0:
        raise ValueError(
            "The membership matrix must hold positions from 1 on, and 0 for no membership; got "
            f"{membership.data.min()}. Number the songs of each playlist from 1."
        )
    membership.eliminate_zeros()
    return membership


def n_playlists_of_song(membership):
    """Count the playlists that hold each song."""
    return np.diff(membership.indptr)


def _one_playlist(n_songs):
    return csr_array(np.arange(1, n_songs + 1)[:, None])


def check_frequency(value):
    """Raise if `min_frequency` is neither a positive integer nor a share between 0 and 1."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if is_real and (value >= 1 if isinstance(value, Integral) else 0 < value < 1):
        return
    raise ValueError(
        "`min_frequency` must be a positive integer, or a share between 0 and 1; got "
        f"{value!r}. Change `min_frequency`."
    )


def fewest_rows(min_frequency, n_rows):
    """Return the fewest rows that a value must have to be used."""
    return min_frequency if isinstance(min_frequency, Integral) else min_frequency * n_rows
