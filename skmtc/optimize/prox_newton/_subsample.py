"""A sample of songs that stands for the catalogue in the first iterations."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc.optimize._arrays import to_dense
from skmtc.optimize._pass import FloatArray, TiledPass
from skmtc.optimize._remote_pass import make_pass
from skmtc.optimize.prox_newton._curvature import tilted_moments

# Shares of the three parts of the sampling probability: by score, uniform, by leverage. By score
# alone has the smallest variance at the shared weights, but users move away from these; the uniform
# part bounds all weights, and leverage finds rare songs that few others resemble.
BY_SCORE, EVENLY, BY_LEVERAGE = 0.4, 0.4, 0.2


def sampled_pass(
    features: FloatArray | csr_array,
    membership: csr_array,
    shared: NDArray[np.float64],
    n_sampled: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    *,
    offsets: FloatArray | None = None,
) -> TiledPass:
    """Make a pass over a sample of songs that has the moments of the catalogue.

    1. Sample songs systematically along the order of their scores, and weight them by the inverse
       of their probabilities.
    2. Move them by an affine map, so that under weights exp(score) their mean and covariance are
       those of the catalogue, and scale the weights to the same total.

    At the shared weights, sums over the sample then equal sums over all songs in value, gradient
    and Hessian, up to each playlist's own songs.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features whose last column is constant.

    membership : csr_array of shape (n_playlists, n_songs)
        Songs of playlists; those in the sample do not count as negatives.

    shared : ndarray of shape (n_features,)
        Weights to sample and match at.

    n_sampled : int
        Size of the sample.

    rng : numpy.random.Generator
        Random number generator.

    n_jobs : int or None
        Number of threads or other workers.

    offsets : ndarray of shape (n_songs,), default=None
        Logarithms of weights that the songs have in the catalogue; None stands for zeros.

    Returns
    -------
    tiled_pass : TiledPass
        Pass over the sample.
    """
    # 1. Sample, and weight by inverse probabilities.
    scores = np.asarray(features @ shared)
    if offsets is not None:
        scores = scores + offsets
    probability = _probabilities(features, scores)
    chosen, weights = _sample(probability, scores, n_sampled, rng)
    # 2. Match the moments of the catalogue.
    sample = np.array(to_dense(features[chosen]))
    sample[:, :-1] = _matched(features, scores, sample, scores[chosen], weights)
    # New weights keep the product of weight and exp(score) that each song had before it was moved.
    tilt = sample.astype(np.float64) @ shared
    log_weights = np.log(weights) + scores[chosen] - tilt
    log_weights += _log_sum(scores) - _log_sum(log_weights + tilt)
    columns = csr_array(membership.tocsc()[:, chosen])
    return make_pass(
        np.ascontiguousarray(sample, dtype=features.dtype),
        columns,
        n_jobs,
        offsets=log_weights,
    )


def _probabilities(features: FloatArray | csr_array, scores: FloatArray) -> NDArray[np.float64]:
    """Mix three sampling probabilities; leverage finds rare songs that are far from all others."""
    n_songs = len(scores)
    # leverage_m = (x_m' G^-1 x_m)^2 with the mean G of x x'
    softmax = np.exp(scores - scores.max())
    gram = np.asarray(to_dense(features.T @ features), dtype=np.float64)
    inverse = np.linalg.pinv(gram / n_songs, rcond=1e-6, hermitian=True)
    image = features @ inverse.astype(features.dtype)
    # For arrays and sparse arrays alike, `*` multiplies entry by entry.
    leverage = np.asarray((features * image).sum(axis=1), dtype=np.float64).clip(min=0) ** 2
    return np.asarray(
        BY_SCORE * softmax / softmax.sum()
        + EVENLY / n_songs
        + BY_LEVERAGE * leverage / max(leverage.sum(), 1e-300)
    )


def _sample(
    probability: NDArray[np.float64], scores: FloatArray, n_sampled: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Sample by equal strides along the cumulated probabilities, in the order of the scores."""
    order = np.argsort(scores, kind="stable")
    cumulated = np.cumsum(probability[order])
    strides = (np.arange(n_sampled) + rng.random()) / n_sampled * cumulated[-1]
    places = np.searchsorted(cumulated, strides).clip(max=len(order) - 1)
    places, times = np.unique(places, return_counts=True)
    chosen = order[places]
    return chosen, times / (n_sampled * probability[chosen])


def _matched(
    features: FloatArray | csr_array,
    scores: FloatArray,
    sample: FloatArray,
    sample_scores: FloatArray,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Move the sampled songs so that their tilted mean and covariance are the catalogue's."""
    # x <- mean + (x - mean_s) S_s^-1/2 S^1/2, with mean and covariance S of the catalogue, and
    # those of the sample with index s
    full = tilted_moments(features[:, :-1], scores)
    ours = tilted_moments(sample[:, :-1], sample_scores, weights)
    spread = _root(ours.covariance, -0.5) @ _root(full.covariance, 0.5)
    return np.asarray(full.mean + (sample[:, :-1] - ours.mean) @ spread)


def _root(covariance: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Return a power of a covariance; directions without spread are left as they are."""
    values, vectors = np.linalg.eigh(covariance)
    floor = 1e-5 * max(values[-1], 1e-300) if len(values) else 0.0
    powers = np.where(values > floor, np.maximum(values, floor) ** power, 1.0)
    return np.asarray((vectors * powers) @ vectors.T)


def _log_sum(values: FloatArray) -> float:
    highest = values.max()
    return float(highest + np.log(np.exp(values - highest).sum()))
