"""The columns of a table as they are."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.fitted_state import Plain


class Columns(TransformerMixin, VersionedState, BaseEstimator):
    """Take some columns of a DataFrame by name, or of an array by position.

    scikit-learn's `ColumnTransformer` reads integers as positions, also where they are the
    names of columns.

    Parameters
    ----------
    columns : list
        Names or positions.
    """

    _fitted_state = {"from_array_": Plain(bool)}

    def __init__(self, columns):
        self.columns = columns

    def fit(self, X, y=None):
        """Learn nothing; `y` is ignored."""
        self.from_array_ = not isinstance(X, pd.DataFrame)
        return self

    def transform(self, X):
        """Return the columns as an array."""
        if not isinstance(X, pd.DataFrame):
            return X[:, self.columns]
        absent = [label for label in self.columns if label not in X.columns]
        if absent:
            raise ValueError(
                f"The table must have the feature columns {self.columns}; got one without "
                f"{absent}. Add these columns."
            )
        return X[self.columns].to_numpy(dtype=None if len(self.columns) else float)

    def get_feature_names_out(self, input_features=None):
        """Name the columns; those of an array are named as scikit-learn does."""
        names = [f"x{c}" if self.from_array_ else str(c) for c in self.columns]
        return np.asarray(names, dtype=object)
