"""The best weights that all playlists have in common, which need no pass over the data.

Where every playlist has the weights w, the classification losses add up song by song,

    sum_i phi_i(w) = sum_m  a_m exp(-push x_m.w) / push + c_m exp(x_m.w),

    a_m = sum of v_i / M+_i over the playlists of song m,
    c_m = song_weight_m times the sum of v_i / M-_i over the other playlists,

with the sample weights v_i, so a Newton step costs one weighted Gram matrix of the songs, whatever
the number of playlists.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize.prox_newton._curvature import SplitFeatures
from skmtc.optimize.prox_newton._shared import lasso_step

Array = NDArray[np.float64]

MAX_STEPS = 20
BACKTRACK = 0.35
SMALLEST_STEP = 1e-3


def best_common_weights(
    objective: MultitaskObjective,
    features: NDArray[np.floating[Any]] | csr_array,
    l1: float,
    *,
    tol: float,
    split: SplitFeatures | None = None,
) -> Array:
    """Minimise the classification losses of all playlists over weights that they share.

    Parameters
    ----------
    objective : MultitaskObjective
        The problem, with the classification loss.

    features : ndarray or csr_array of shape (n_songs, n_features)
        The columns of the features that have weights.

    l1 : float
        Penalty on the l1 norm of the weights, for a sum over playlists.

    tol : float
        Relative decrease of a step that ends the search.

    split : SplitFeatures, default=None
        The same features, if they are at hand.

    Returns
    -------
    weights : ndarray of shape (n_features,)
        The minimiser.
    """
    positive, negative = _song_weights(objective)
    split = split or SplitFeatures(features)
    push, dtype = objective.push, features.dtype

    def losses(weights: Array) -> tuple[float, Array, Array]:
        scores = np.asarray(features @ weights.astype(dtype), dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            pull = np.where(positive > 0, positive * np.exp(-push * scores), 0.0)
            rest = np.where(negative > 0, negative * np.exp(scores), 0.0)
            return float(pull.sum() / push + rest.sum()), pull, rest

    weights = np.zeros(features.shape[1])
    loss, pull, rest = losses(weights)
    for _ in range(MAX_STEPS):
        slopes = (rest - pull).astype(dtype)
        gradient = np.asarray(slopes @ features, dtype=np.float64)
        hessian = split.gram(rest + push * pull)
        step = lasso_step(gradient, hessian, weights, l1)
        value, size, fell = loss + l1 * np.abs(weights).sum(), 1.0, 0.0
        while size > SMALLEST_STEP and not fell > 0:
            moved = weights + size * step
            new = losses(moved)
            fell = value - (new[0] + l1 * np.abs(moved).sum())
            size *= BACKTRACK
        if not fell > 0:
            break
        weights, (loss, pull, rest) = moved, new
        if fell <= tol * value:
            break
    return weights


def _song_weights(objective: MultitaskObjective) -> tuple[Array, Array]:
    """Return what each song counts as a positive and as a negative, over all playlists."""
    counts, songs = objective.positives.counts, objective.membership.indices
    pull, inverse = 1 / objective.positive_divisors, 1 / objective.negative_divisors
    positive = np.bincount(songs, np.repeat(pull, counts), minlength=objective.n_songs)
    inside = np.bincount(songs, np.repeat(inverse, counts), minlength=objective.n_songs)
    negative = np.maximum(inverse.sum() - inside, 0.0)
    if objective.song_weight is not None:
        negative *= objective.song_weight
    return np.asarray(positive, dtype=np.float64), np.asarray(negative, dtype=np.float64)
