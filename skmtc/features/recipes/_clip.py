"""Clip numbers, and mark infinite ones as missing."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.validation import check_number


class Clip(OneToOneFeatureMixin, TransformerMixin, VersionedState, BaseEstimator):
    """Clip all columns at plus and minus a limit.

    A `FunctionTransformer` could do the same, but a model with a function cannot be
    stored safely.

    Parameters
    ----------
    limit : float
        Largest absolute value.
    """

    def __init__(self, limit=4.0):
        self.limit = limit

    def fit(self, X, y=None):
        """Check the parameter and the columns; there is nothing to learn."""
        check_number("limit", self.limit, above=0)
        self._read(X, reset=True)
        return self

    def transform(self, X):
        """Return the numbers within the limits."""
        return np.clip(self._read(X, reset=False), -self.limit, self.limit)

    def _read(self, X, *, reset):
        return validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )


class FiniteNumbers(OneToOneFeatureMixin, TransformerMixin, VersionedState, BaseEstimator):
    """Replace infinite numbers by NaN, so that an imputer fills them in.

    A division by zero makes an infinite cell, which scikit-learn's imputers refuse. Other cells
    and the type of the table do not change.
    """

    def fit(self, X, y=None):
        """Check the columns; there is nothing to learn."""
        self._read(X, reset=True)
        return self

    def transform(self, X):
        """Return the table without infinite numbers."""
        self._read(X, reset=False)
        if isinstance(X, pd.DataFrame):
            infinite = X.isin([np.inf, -np.inf])
            return X.mask(infinite) if infinite.to_numpy().any() else X
        X = np.asarray(X)
        return np.where(np.isinf(X), np.nan, X) if X.dtype.kind == "f" else X

    def _read(self, X, *, reset):
        validate_data(self, X, reset=reset, skip_check_array=True)
