"""Precomputed vectors, such as audio or sentence embeddings."""

import numpy as np
import pandas as pd

from skmtc._utils.fitted_state import Each, Plain
from skmtc.features._base_encoder import BaseColumnEncoder


class VectorEncoder(BaseColumnEncoder):
    """Return precomputed vectors as one block of features.

    A column may hold arrays or lists of one length, or numbers. A missing vector becomes a row
    of zeros, which `BlockScaler` leaves at the centre of all songs.

    Attributes
    ----------
    lengths_ : list of int
        Length of the vectors of each column; 1 for numbers.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc.features import VectorEncoder
    >>> songs = pd.DataFrame({"audio": [[0.5, 1.0], None, [2.0, 0.0]]})
    >>> encoder = VectorEncoder().fit(songs)
    >>> encoder.transform(songs)
    array([[0.5, 1. ],
           [0. , 0. ],
           [2. , 0. ]])
    >>> encoder.get_feature_names_out().tolist()
    ['audio_0', 'audio_1']
    """

    _fitted_state = {"lengths_": Each(Plain.count())}

    def _reset(self):
        self.lengths_ = []

    def _fit_column(self, column, membership):
        if pd.api.types.is_numeric_dtype(column.dtype):
            self.lengths_.append(1)
            return
        lengths = {np.size(cell) for cell in column[_is_present(column)]}
        if len(lengths) > 1:
            raise ValueError(
                f"Vectors of column {column.name!r} must have one length; got lengths "
                f"{sorted(lengths)[:5]}. Pad or cut them, or leave the column out."
            )
        self.lengths_.append(lengths.pop() if lengths else 0)

    def _transform_column(self, column, j):
        if pd.api.types.is_numeric_dtype(column.dtype):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)[:, None]
            return np.where(np.isnan(values), 0.0, values)
        vectors = np.zeros((len(column), self.lengths_[j]))
        present = np.flatnonzero(_is_present(column))
        if len(present):
            vectors[present] = self._stack(column.iloc[present], j)
        return vectors

    def _stack(self, column, j):
        wrong = next((cell for cell in column if np.size(cell) != self.lengths_[j]), None)
        if wrong is not None:
            raise ValueError(
                f"Vectors of column {column.name!r} must have {self.lengths_[j]} numbers, as in "
                f"fit; got one of {np.size(wrong)}. Pad or cut it."
            )
        try:
            return np.array([np.ravel(cell) for cell in column], dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(
                f"Column {column.name!r} must hold vectors of numbers; got "
                f"{column.iloc[0]!r} first. Convert the column, or give it another role."
            ) from None

    def _column_names(self, column, j):
        if self.lengths_[j] == 1:
            return [str(column)]
        return [f"{column}_{i}" for i in range(self.lengths_[j])]


def _is_present(column):
    """Return which cells hold a vector: an array of missing numbers is one, None is not."""
    return np.array([np.ndim(cell) > 0 or not pd.isna(cell) for cell in column], dtype=bool)
