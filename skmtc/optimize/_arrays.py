"""Small helpers for arrays and sparse arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse


def to_dense(features: Any) -> Any:
    """Turn a few rows of features into an array."""
    return features.toarray() if issparse(features) else features


def row_dots(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Give the inner product of each row of one array with the same row of another."""
    return np.asarray(np.einsum("nd,nd->n", left, right))
