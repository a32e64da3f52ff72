"""Steps of the shared weights: small problems, whatever the number of playlists."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._penalty import soft_threshold
from skmtc.optimize.prox_newton._curvature import SplitFeatures

Array = NDArray[np.floating[Any]]

# Newton steps of the weights that all playlists have in common: few are needed, as a step has the
# exact Hessian; the bound only ends a search that rounding keeps alive.
MAX_STEPS = 20
# Factor of a rejected step, and the size below which no decrease is expected from a shorter one.
BACKTRACK = 0.35
SMALLEST_STEP = 1e-3


def lasso_step(
    gradient: Array,
    hessian: Array,
    shared: Array,
    l1: float | Array,
    *,
    tol: float = 1e-4,
    max_sweeps: int = 100,
) -> NDArray[np.float64]:
    """Minimise gradient.step + step' hessian step / 2 + l1 ||shared + step||_1.

    By coordinate descent, until a sweep moves no coordinate by more than `tol` times the largest
    move of the first.

    Parameters
    ----------
    gradient : ndarray of shape (n_features,)
        Gradient at the shared weights.

    hessian : ndarray of shape (n_features, n_features)
        Positive semidefinite Hessian.

    shared : ndarray of shape (n_features,)
        Shared weights.

    l1 : float or ndarray of shape (n_features,)
        Penalty.

    tol : float, default=1e-4
        When to stop.

    max_sweeps : int, default=100
        Most sweeps over the coordinates.

    Returns
    -------
    step : ndarray of shape (n_features,)
        The minimiser.
    """
    hessian = np.asarray(hessian, dtype=np.float64)
    # Flat directions (equal features, the constant of a ranking loss) get a little curvature.
    diagonal = np.maximum(hessian.diagonal(), 1e-6 * max(hessian.diagonal().max(), 1e-300))
    # Plain numbers: arithmetic with single elements of arrays is several times slower.
    curvatures, sizes = diagonal.tolist(), np.sqrt(diagonal).tolist()
    thresholds = (np.broadcast_to(l1, len(shared)) / diagonal).tolist()
    at = np.array(shared, dtype=np.float64).tolist()
    slope = np.array(gradient, dtype=np.float64)
    first_move = 0.0
    for sweep in range(max_sweeps):
        largest = 0.0
        for j, curvature in enumerate(curvatures):
            # mu_j + d_j <- soft_threshold(mu_j + d_j - slope_j / h_jj, l1_j / h_jj)
            wanted = at[j] - slope.item(j) / curvature
            move = wanted - min(max(wanted, -thresholds[j]), thresholds[j]) - at[j]
            if move != 0.0:
                at[j] += move
                slope += move * hessian[j]
                largest = max(largest, abs(move) * sizes[j])
        if sweep == 0:
            first_move = largest
        if largest <= tol * first_move:
            break
    return np.array(at) - shared


def closest_shared(user_totals: Array, user_l2: float, l1: float) -> NDArray[np.float64]:
    """Return the best shared weights for given totals of users.

    The minimiser of user_l2 * sum_u ||total_u - shared||^2 + l1 ||shared||_1.
    """
    mean = user_totals.mean(axis=0, dtype=np.float64)
    if user_l2 == 0:  # user weights cost nothing, so shared weights of zero are optimal
        return np.zeros_like(mean) if l1 > 0 else mean
    return soft_threshold(mean, l1 / (2 * user_l2 * len(user_totals)))


def best_common_weights(
    objective: MultitaskObjective,
    features: NDArray[np.floating[Any]] | csr_array,
    l1: float,
    *,
    tol: float,
    split: SplitFeatures | None = None,
) -> NDArray[np.float64]:
    """Minimise the classification losses of all playlists over weights that they share.

    This needs no pass over the data: where every playlist has the weights w, losses add up song by
    song,

        sum_i phi_i(w) = sum_m  a_m exp(-push x_m.w) / push + c_m exp(x_m.w),

        a_m = sum of v_i / M+_i over the playlists of song m,
        c_m = song_weight_m times the sum of v_i / M-_i over the other playlists,

    with the sample weights v_i, so a Newton step costs one weighted Gram matrix of the songs,
    whatever the number of playlists.

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
        # g = sum_m (rest_m - pull_m) x_m, H = sum_m (rest_m + push pull_m) x_m x_m'
        slopes = (rest - pull).astype(dtype)
        gradient = np.asarray(slopes @ features, dtype=np.float64)
        hessian = split.gram(rest + push * pull)
        step = lasso_step(gradient, hessian, weights, l1)
        # Backtrack until the objective falls.
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
    """Return the weight of each song as a positive and as a negative, over all playlists."""
    counts, songs = objective.positives.counts, objective.membership.indices
    pull, inverse = 1 / objective.positive_divisors, 1 / objective.negative_divisors
    positive = np.bincount(songs, np.repeat(pull, counts), minlength=objective.n_songs)
    inside = np.bincount(songs, np.repeat(inverse, counts), minlength=objective.n_songs)
    negative = np.maximum(inverse.sum() - inside, 0.0)
    if objective.song_weight is not None:
        negative *= objective.song_weight
    return np.asarray(positive, dtype=np.float64), np.asarray(negative, dtype=np.float64)
