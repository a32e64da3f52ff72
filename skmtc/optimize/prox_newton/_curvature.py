"""What passes over the data teach about the curvature of log Z."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc._utils.chunking import row_batches
from skmtc.optimize._arrays import row_dots, to_dense

Array = NDArray[np.floating[Any]]

SMALLEST_SCALE = 0.4
LARGEST_SCALE = 1e4
# Steps shorter than this, in the metric of the covariance, teach nothing but rounding.
SHORTEST_STEP = 1e-5
SMALLEST_CHANGE = 1e-6


class Moments(NamedTuple):
    """Mean and covariance of the songs, weighted by exp(score)."""

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


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


def weighted_gram(features: Array | csr_array, weights: Array) -> NDArray[np.float64]:
    """Sum weight * x x' over songs x.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features.

    weights : ndarray of shape (n_songs,)
        Weights of the songs.

    Returns
    -------
    gram : ndarray of shape (n_features, n_features)
        In float64.
    """
    gram = np.zeros((features.shape[1], features.shape[1]))
    for rows in row_batches(features.shape[0], 32 * features.shape[1]):
        some = features[rows]
        # `*` multiplies entry by entry, for arrays and sparse arrays alike.
        weighted = some * weights[rows, None].astype(features.dtype)
        gram += to_dense(some.T @ weighted)
    return gram


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
    forget: float = 0.0,
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

    forget : float, default=0.0
        A scale falls at most to this share of what it was.

    Returns
    -------
    curvature : Curvature
        What is known now.
    """
    image = step @ covariance
    length = row_dots(image, step)
    bend = row_dots(change, step)
    moved = (length > SHORTEST_STEP) & np.isfinite(bend) & np.isfinite(length)
    safe_length = np.where(moved, length, 1.0)
    secant = np.where(moved, bend / safe_length, curvature.scale)
    scale = np.clip(np.maximum(secant, forget * curvature.scale), SMALLEST_SCALE, LARGEST_SCALE)
    scale = scale.astype(curvature.scale.dtype)
    learns = moved & (bend > SMALLEST_CHANGE)
    removed = image * np.sqrt(scale * learns / safe_length)[:, None]
    added = np.where(learns[:, None], change, 0.0)
    added /= np.sqrt(np.where(learns, bend, 1.0))[:, None]
    return Curvature(scale, removed, added.astype(scale.dtype, copy=False))
