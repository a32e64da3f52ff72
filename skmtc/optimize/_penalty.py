"""Names of the penalties; the l1 penalty: value, proximal step, distance to optimality."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Attributes of an objective, and parameters of a ranker.
PENALTIES = ("user_l2", "playlist_l1", "shared_l1")


def l1_value(coef: Array, l1: Array) -> float:
    """Sum the absolute values, weighted by `l1`, which broadcasts against `coef`."""
    return float(np.sum(np.abs(coef) * l1))


def soft_threshold(values: Array, threshold: Array | float) -> Array:
    """Move values towards zero by a threshold: the proximal step of the l1 penalty."""
    return np.asarray(values - np.clip(values, -threshold, threshold))


def pseudo_gradient(coef: Array, gradient: Array, l1: Array | float) -> Array:
    """Return the subgradient of smallest norm of `smooth + l1 * |coef|`.

    Zero where no direction leads down. At a coefficient of zero this is the smooth gradient,
    moved towards zero by `l1`; elsewhere the gradient of the penalty is simply added.
    """
    away_from_zero = gradient + l1 * np.sign(coef)
    return np.where(coef != 0, away_from_zero, soft_threshold(gradient, l1))
