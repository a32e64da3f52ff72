"""Small helpers for arrays and sparse arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse


def to_dense(features: Any) -> Any:
    """Return a few rows of features as an array."""
    return features.toarray() if issparse(features) else features


def row_dots(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return the inner product of each row of one array with the same row of another."""
    return np.asarray(np.einsum("nd,nd->n", left, right))


def with_constant(features: Any) -> Any:
    """Append the constant feature, which also gives row sums of exp(score) for free."""
    if issparse(features):
        dtype = features.dtype if features.dtype == np.float32 else np.float64
        ones = np.ones((features.shape[0], 1), dtype=dtype)
        return csr_array(hstack([features.astype(dtype), ones], format="csr"))
    features = np.asarray(features)
    dtype = features.dtype if features.dtype == np.float32 else np.float64
    extended = np.ones((features.shape[0], features.shape[1] + 1), dtype=dtype)
    extended[:, :-1] = features
    return extended
