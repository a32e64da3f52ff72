"""Clip numbers."""

import numpy as np
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
