"""Encode periodic values as angles."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skmtc._typing import Table
from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.validation import check_number


class CircularEncoder(OneToOneFeatureMixin, TransformerMixin, VersionedState, BaseEstimator):
    """Encode periodic numbers, such as the key of a song, by cosine and sine.

    The keys 11 (B) and 0 (C) are neighbours, which a linear feature cannot express. Each column
    becomes the cosine and the sine of its angle. A value that is missing or below 0 is unknown, and
    becomes the centre of the circle.

    Parameters
    ----------
    period : float, default=12
        The value that is the same as 0: 12 for keys in semitones.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    Examples
    --------
    C, D sharp, F sharp, and a key that was not recognised.

    >>> import pandas as pd
    >>> from skmtc.features import CircularEncoder
    >>> encoder = CircularEncoder()
    >>> encoder.fit_transform(pd.DataFrame({"key": [0, 3, 6, -1]})).round(2) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0.,  0.]])
    >>> encoder.get_feature_names_out().tolist()
    ['key_cos', 'key_sin']
    """

    def __init__(self, *, period: float = 12) -> None:
        self.period = period

    def fit(self, X: Table, y: Any = None) -> Self:
        """Check the columns; there is nothing to learn.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Numbers, which may be missing.

        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted encoder.
        """
        check_number("period", self.period, above=0)
        self._read(X, reset=True)
        return self

    def transform(self, X: Table) -> NDArray[np.float64]:
        """Return the cosine and sine of each column.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Numbers, which may be missing.

        Returns
        -------
        features : ndarray of shape (n_rows, 2 * n_columns)
            Cosine and sine of each column, in the order of columns.
        """
        check_is_fitted(self)
        values = self._read(X, reset=False)
        unknown = np.isnan(values) | (values < 0)
        angles = np.where(unknown, 0.0, values) * (2 * np.pi / self.period)
        points = np.stack([np.cos(angles), np.sin(angles)], axis=2)
        points[unknown] = 0.0
        return points.reshape(len(values), -1)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the features.

        Parameters
        ----------
        input_features : array of str, default=None
            Names of the columns; None stands for those seen in `fit`, or x0, x1… for an array.

        Returns
        -------
        names : ndarray of shape (2 * n_columns,)
            Names of the columns, followed by "_cos" and "_sin".
        """
        check_is_fitted(self)
        columns = super().get_feature_names_out(input_features)  # checks them
        names = [f"{column}_{part}" for column in columns for part in ("cos", "sin")]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _read(self, X, *, reset):
        return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
