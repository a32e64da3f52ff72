"""What the encoders share: columns in, numbers out, each column on its own."""

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skmtc._state import VersionedState, all_or_nothing
from skmtc._table import Ids, read_ids, to_frame
from skmtc._typing import Matrix, Table
from skmtc.features._membership import read_membership


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
            One row per song; the features of the first column come first.
        """
        check_is_fitted(self)
        frame = self._read(X, reset=False)
        blocks = [self._transform_column(frame[label], j) for j, label in enumerate(frame.columns)]
        if any(issparse(block) for block in blocks):
            return csr_array(hstack(blocks, format="csr"))
        return np.hstack(blocks)

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
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        return tags

    def _check_parameters(self):
        """Check the constructor's parameters, before any work."""

    @abstractmethod
    def _reset(self):
        """Begin the lists of what is learned, before the first column."""

    @abstractmethod
    def _fit_column(self, column, membership):
        """Learn from one column and append what was learned."""

    @abstractmethod
    def _transform_column(self, column, j):
        """Return the features of column number `j`, one row per row."""

    @abstractmethod
    def _column_names(self, column, j):
        """Name the features of column number `j`."""

    def _read(self, X, *, reset):
        if isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas"):
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
