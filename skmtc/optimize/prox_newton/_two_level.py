"""The proximal step of the two penalties that tie playlists to users and users to the shared.

With totals w_i of playlists and v_u of users (user weights plus shared weights), the penalties are
user_l2 * ||v_u - shared||^2 + playlist_l1 * ||w_i - v_u||_1. For a diagonal metric T the step is

    min over w, v of  sum_i T_i / 2 (w_i - target_i)^2 + the penalties,

for each user and feature by itself. Given v it is soft thresholding; v is the root of an
increasing function of one number.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def user_totals(
    totals: Array,
    targets: Array,
    metric: Array,
    shared: Array,
    starts: NDArray[np.intp],
    counts: NDArray[np.intp],
    *,
    user_l2: np.floating[Any],
    playlist_l1: np.floating[Any],
    n_steps: int,
) -> Array:
    """Improve the user totals of a proximal step by safeguarded semismooth Newton steps.

    The root is that of h(v) = 2 user_l2 (v - shared) - sum_i clip(T_i (target_i - v), +-l1). The
    slope is one third of its generalised derivative and two thirds of that of a quadratic
    majoriser: near the root these are Newton steps, and never more than 1.5 times a step that
    is safe; 2 times could cycle.

    Parameters
    ----------
    totals : ndarray of shape (n_users, n_features)
        Where to start.

    targets, metric : ndarray of shape (n_playlists, n_features)
        Targets of the playlists and the weights of their squared distances.

    shared : ndarray of shape (n_features,)
        Shared weights.

    starts, counts : ndarray of shape (n_users,)
        First playlist and number of playlists of each user.

    user_l2, playlist_l1 : float
        Penalties.

    n_steps : int
        Number of Newton steps.

    Returns
    -------
    totals : ndarray of shape (n_users, n_features)
        Better totals.
    """
    for _ in range(n_steps):
        pull = targets - np.repeat(totals, counts, axis=0)
        pull *= metric
        clipped = np.clip(pull, -playlist_l1, playlist_l1)
        # T where the pull is not clipped; l1 / |target - v|, the majoriser's slope, where it is.
        inside = np.abs(pull, out=pull) <= playlist_l1
        np.maximum(pull, playlist_l1, out=pull)
        majoriser = np.divide(playlist_l1, pull, out=pull) * metric if playlist_l1 > 0 else pull * 0
        slope = (2 * majoriser + inside * metric) / 3
        force = 2 * user_l2 * (totals - shared) - np.add.reduceat(clipped, starts, axis=0)
        stiffness = 2 * user_l2 + np.add.reduceat(slope, starts, axis=0)
        # Without penalties nothing pulls, and nothing holds: totals stay where they are.
        totals = totals - force / np.maximum(stiffness, 1e-30)
    return totals


def playlist_totals(
    totals: Array,
    targets: Array,
    metric: Array,
    counts: NDArray[np.intp],
    *,
    playlist_l1: np.floating[Any],
) -> Array:
    """Return the playlists' part of the step for given user totals."""
    spread = np.repeat(totals, counts, axis=0)
    threshold = playlist_l1 / metric
    away = targets - spread
    away -= np.clip(away, -threshold, threshold)
    return np.asarray(spread + away)
