"""Steps of the shared weights: small problems, whatever the number of playlists."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._penalty import soft_threshold

Array = NDArray[np.floating[Any]]


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
    place = np.array(shared, dtype=np.float64).tolist()
    slope = np.array(gradient, dtype=np.float64)
    first_move = 0.0
    for sweep in range(max_sweeps):
        largest = 0.0
        for j, curvature in enumerate(curvatures):
            wanted = place[j] - slope.item(j) / curvature
            move = wanted - min(max(wanted, -thresholds[j]), thresholds[j]) - place[j]
            if move != 0.0:
                place[j] += move
                slope += move * hessian[j]
                largest = max(largest, abs(move) * sizes[j])
        if sweep == 0:
            first_move = largest
        if largest <= tol * first_move:
            break
    return np.array(place) - shared


def closest_shared(user_totals: Array, user_l2: float, l1: float) -> NDArray[np.float64]:
    """Return the best shared weights for given totals of users.

    The minimiser of user_l2 * sum_u ||total_u - shared||^2 + l1 ||shared||_1.
    """
    mean = user_totals.mean(axis=0, dtype=np.float64)
    if user_l2 == 0:  # then the user weights carry everything for free
        return np.zeros_like(mean) if l1 > 0 else mean
    return soft_threshold(mean, l1 / (2 * user_l2 * len(user_totals)))
