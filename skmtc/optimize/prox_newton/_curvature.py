"""Learn the curvature of log Z from the gradients at two passes over the data."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from skmtc._utils.chunking import row_batches
from skmtc.optimize._arrays import row_dots, to_dense
from skmtc.optimize._pass import mostly_zero

Array = NDArray[np.floating[Any]]

# Bounds of a scale, so that a single secant neither makes the next step too long nor stops a
# playlist for many iterations.
SMALLEST_SCALE = 0.4
LARGEST_SCALE = 1e4
# Secants of steps shorter than this, in the metric of the covariance, are rounding, and so are
# pairs with a smaller product of step and change of the gradient.
SHORTEST_STEP = 1e-5
SMALLEST_CHANGE = 1e-6


class Moments(NamedTuple):
    """Mean and covariance of the songs, weighted by exp(score)."""

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


class SplitFeatures:
    """Song features in two parts, dense columns and columns with few non-zeros, for Gram matrices.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features.
    """

    def __init__(self, features: Array | csr_array) -> None:
        self.shape = features.shape
        self._few = mostly_zero(features)
        self._many = np.setdiff1d(np.arange(features.shape[1]), self._few)
        is_whole = len(self._few) == 0 and not issparse(features)
        self._dense = features if is_whole else np.asarray(to_dense(features[:, self._many]))
        self._sparse = csr_array(features[:, self._few]) if len(self._few) else None

    def gram(self, weights: Array) -> NDArray[np.float64]:
        """Sum weight * x x' over songs x."""
        some = np.flatnonzero(weights)
        if self._sparse is None and len(some) < 0.6 * len(weights):
            # Without songs of weight 0: copying rows is cheaper than multiplying them.
            return SplitFeatures(self._dense[some])._gram(weights[some], np.zeros(0))
        return self._gram(weights, np.zeros(0))

    def moments(self, scores: Array) -> Moments:
        """Return mean and covariance of songs under weights in proportion to exp(score)."""
        share = np.exp(scores - scores.max())
        share /= share.sum()
        mean = np.empty(self.shape[1])
        mean[self._many] = share.astype(self._dense.dtype) @ self._dense
        if self._sparse is None:
            return Moments(mean, self._gram(share, mean))
        mean[self._few] = share @ self._sparse
        # Dense columns are centred, because they may be far from zero; sparse ones are near it.
        covariance = self._gram(share, mean[self._many])
        covariance[np.ix_(self._few, self._few)] -= np.outer(mean[self._few], mean[self._few])
        return Moments(mean, covariance)

    def _gram(self, weights: Array, centre: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum weight * x x', where the dense part of x is taken from its centre."""
        few, many, dtype = self._few, self._many, self._dense.dtype
        inside, across = np.zeros((len(many),) * 2), np.zeros((len(few), len(many)))
        sparse = self._sparse
        for rows in row_batches(self.shape[0], 32 * max(len(many), 1)):
            # Blocks: [dense' W dense, (sparse' W dense)'; sparse' W dense, sparse' W sparse]
            some = self._dense[rows]
            if centre.any():
                some = some - centre.astype(dtype)
            weighted = some * weights[rows, None].astype(dtype)
            inside += weighted.T @ some
            if sparse is not None:
                across += sparse[rows].T @ weighted
        if sparse is None:
            return inside
        gram = np.empty((self.shape[1],) * 2)
        gram[np.ix_(many, many)], gram[np.ix_(few, many)] = inside, across
        gram[np.ix_(many, few)] = across.T
        scaled = sparse.multiply(np.asarray(weights, dtype=dtype)[:, None]).tocsr()
        gram[np.ix_(few, few)] = (sparse.T @ scaled).toarray()
        return gram


def tilted_moments(
    features: Array | csr_array, scores: Array, weights: Array | None = None
) -> Moments:
    """Return mean and covariance of songs under weights in proportion to exp(score).

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features.

    scores : ndarray of shape (n_songs,)
        Logarithms of the weights, up to a constant.

    weights : ndarray of shape (n_songs,), default=None
        Factors of the weights.

    Returns
    -------
    moments : Moments
        In float64.
    """
    share = np.exp(scores - scores.max())
    if weights is not None:
        share = share * weights
    share /= share.sum()
    mean = np.asarray(share @ features, dtype=np.float64)
    covariance = np.zeros((features.shape[1], features.shape[1]))
    for rows in row_batches(features.shape[0], 32 * features.shape[1]):
        centred = to_dense(features[rows]) - mean.astype(features.dtype)
        weighted = centred * share[rows, None].astype(features.dtype)
        covariance += weighted.T @ centred
    return Moments(mean, covariance)


class Curvature(NamedTuple):
    """Learned curvature: see :class:`Expansion`."""

    scale: Array
    removed: Array | None
    added: Array | None


def learn_curvature(
    curvature: Curvature,
    step: Array,
    change: Array,
    covariance: Array,
    *,
    keep: float = 0.0,
) -> Curvature:
    """Learn scales and BFGS pairs from a step between two passes.

    Parameters
    ----------
    curvature : Curvature
        What was known before.

    step : ndarray of shape (n, n_features)
        Change of the weights.

    change : ndarray of shape (n, n_features)
        Change of the gradient of log Z.

    covariance : ndarray of shape (n_features, n_features)
        Shared covariance.

    keep : float, default=0.0
        Smallest ratio of a new scale to the one before.

    Returns
    -------
    curvature : Curvature
        What is known now.
    """
    # With y the change of the gradient along the step d, the secant is tau = d.y / d'Cd.
    image = step @ covariance
    length = row_dots(image, step)
    curved = row_dots(change, step)
    moved = (length > SHORTEST_STEP) & np.isfinite(curved) & np.isfinite(length)
    safe_length = np.where(moved, length, 1.0)
    secant = np.where(moved, curved / safe_length, curvature.scale)
    scale = np.clip(np.maximum(secant, keep * curvature.scale), SMALLEST_SCALE, LARGEST_SCALE)
    scale = scale.astype(curvature.scale.dtype)
    # BFGS: A = tau C - p p' + q q' with p = tau C d / sqrt(tau d'Cd) and q = y / sqrt(d.y), so that
    # A d = y.
    learns = moved & (curved > SMALLEST_CHANGE)
    removed = image * np.sqrt(scale * learns / safe_length)[:, None]
    added = np.where(learns[:, None], change, 0.0)
    added /= np.sqrt(np.where(learns, curved, 1.0))[:, None]
    return Curvature(scale, removed, added.astype(scale.dtype, copy=False))
