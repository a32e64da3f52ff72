"""Scale blocks of features to equal length."""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skmtc._typing import Matrix
from skmtc._utils.chunking import batches
from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.fitted_state import Array, Plain
from skmtc._utils.validation import check_number

# Values (of a sparse block: rows) that are scaled at once. A constant and not `working_memory`: the
# order of summation, and so the last bits of the mean and of the scale, depends on it.
VALUES_PER_BATCH = 2**17


class BlockScaler(OneToOneFeatureMixin, TransformerMixin, VersionedState, BaseEstimator):
    """Centre a block of features and scale it as a whole, by its mean squared length.

    A penalty on weights means the same for every block only if blocks are of the same size: a
    block of 12 standardised numbers is longer than a vector of unit length, and one of 1,000
    tags is not 1,000 times as important. All features of the block are multiplied by one number,
    so that the root mean square length of songs is `length`; within the block, proportions stay.

    A row of zeros stands for something unknown, which is how the encoders of this package
    represent an artist or tags that were not in training. It counts neither for the mean nor for
    the length, and stays zero, which is the centre of all songs: unknown is neutral. A missing
    value becomes zero, too. A sparse block is scaled but not centred, and stays sparse.

    Parameters
    ----------
    length : float, default=3.0
        Root mean square length of the rows that are not zero, after scaling. The default
        penalties of the rankers are chosen for 3, about the length of nine standardised
        features.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,) or None
        What is subtracted; None for a sparse block.

    scale_ : float
        Factor of all features. 1 if the block is constant.

    n_features_in_ : int
        Number of features seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Names of these features, if all are strings.

    Examples
    --------
    The first three songs have the mean (2, 4) and squared distances 2, 0 and 2 from it. Nothing
    is known of the last song.

    >>> import numpy as np
    >>> from skmtc.features import BlockScaler
    >>> block = np.array([[1.0, 3.0], [2.0, 4.0], [3.0, 5.0], [0.0, 0.0]])
    >>> BlockScaler(length=2.0).fit_transform(block).round(2)
    array([[-1.73, -1.73],
           [ 0.  ,  0.  ],
           [ 1.73,  1.73],
           [ 0.  ,  0.  ]])
    """

    _fitted_state = {
        "mean_": Array("columns", optional=True),
        "scale_": Plain.number(above=0),
    }

    def __init__(self, *, length: float = 3.0) -> None:
        self.length = length

    def fit(self, X: Matrix, y: Any = None) -> Self:
        """Learn the mean and the scale of a block.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            The block. Values may be missing.

        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted scaler.
        """
        check_number("length", self.length, above=0)
        X = self._read(X, reset=True)
        self.mean_ = None if issparse(X) else _mean_of_known(X)
        n_known, squares, largest = 0, 0.0, 0.0
        for rows in _batches(X):
            block = X[rows]
            n_known += int(_is_known(block).sum())
            squares += float((_values(self._centred(block)) ** 2).sum(dtype=np.float64))
            largest = max(largest, float(np.nanmax(abs(_values(block)), initial=0.0)))
        n_known = max(1, n_known)
        # Rounding leaves a constant block a length of the size of its values times 1e-16.
        is_constant = squares <= n_known * (1e-12 * largest) ** 2
        self.scale_ = 1.0 if is_constant else float(self.length / np.sqrt(squares / n_known))
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Centre and scale a block.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            The block. Values may be missing.

        Returns
        -------
        scaled : ndarray or csr_array of shape (n_rows, n_features)
            The scaled block.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        if issparse(X):
            return X * self.scale_
        scaled = np.empty_like(X)
        for rows in _batches(X):
            np.multiply(self._centred(X[rows]), self.scale_, out=scaled[rows])
        return scaled

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _centred(self, X):
        """Return centred rows, with zeros for what is unknown; sparse ones as they are."""
        if issparse(X):
            return X
        if self.mean_ is None:  # fitted on a sparse block
            return np.where(np.isnan(X), 0.0, X)
        centred = X - self.mean_.astype(X.dtype)
        centred[~_is_known(X)] = 0.0
        centred[np.isnan(centred)] = 0.0
        return centred

    def _read(self, X, *, reset):
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_features=0 if issparse(X) else 1,
        )
        return csr_array(X) if issparse(X) else X


def _batches(X):
    """Return slices of rows whose temporary arrays are small beside the block."""
    values_per_row = 1 if issparse(X) else X.shape[1]
    return batches(X.shape[0], max(1, VALUES_PER_BATCH // values_per_row))


def _values(X):
    """Return the values of a block, of a sparse one those that are stored."""
    return X.data if issparse(X) else X


def _mean_of_known(X):
    """Return the mean of each feature over the values that are known."""
    sums, n_present = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.intp)
    for rows in _batches(X):
        block = X[rows]
        present = ~np.isnan(block) & _is_known(block)[:, None]
        sums += np.where(present, block, 0.0).sum(axis=0, dtype=np.float64)
        n_present += present.sum(axis=0)
    return sums / np.maximum(1, n_present)


def _is_known(X):
    """Return which rows have a value that is neither zero nor missing."""
    if issparse(X):
        return np.diff(X.indptr) > 0
    return ((X != 0) & ~np.isnan(X)).any(axis=1)
