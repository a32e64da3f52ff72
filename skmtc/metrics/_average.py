"""Averages of values per playlist."""

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

Average = Literal["macro"] | None


def average_playlists(
    values: NDArray[np.float64], average: Average, *, name: str, users: NDArray[Any] | None = None
) -> float | NDArray[np.float64]:
    """Return the values themselves, or the mean of those that are defined.

    Parameters
    ----------
    values : ndarray of shape (n_playlists,)
        One value per playlist; NaN where it is not defined.

    average : {"macro", None}
        "macro" for the mean, None for the values.

    name : str
        Name of the metric, for messages.

    users : ndarray of shape (n_playlists,), default=None
        Owner of each playlist. If given, the mean is over users, of the means of their playlists.

    Returns
    -------
    average : float or ndarray of shape (n_playlists,)
        NaN if no value is defined.
    """
    if average is None:
        return values
    if average != "macro":
        raise ValueError(
            f"`average` must be 'macro' or None; got {average!r}. Pass None for one value per "
            "playlist."
        )
    defined = ~np.isnan(values)
    if not defined.all():
        warn_undefined(name, int((~defined).sum()), len(values))
    if not defined.any():
        return float("nan")
    return float(np.average(values[defined], weights=mean_weights(defined, users)[defined]))


def mean_weights(
    defined: NDArray[np.bool_], users: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return the weights of playlists in a mean over playlists, or over users if given."""
    if users is None:
        return defined.astype(np.float64)
    codes = np.unique(users, return_inverse=True)[1]
    counts = np.bincount(codes, weights=defined)
    return np.divide(1.0, counts[codes], out=np.zeros(len(codes)), where=defined)


def warn_undefined(name: str, n_undefined: int, n_playlists: int) -> None:
    """Return how many playlists a mean leaves out."""
    warnings.warn(
        f"{name} is not defined for {n_undefined} of {n_playlists} playlists, which are left out "
        "of the mean: it needs a song in the playlist, and AUC and the bottom push also one "
        "outside it. For one value per playlist pass average=None, or use skmtc.evaluate.",
        UndefinedMetricWarning,
        stacklevel=3,
    )


def ratio_or_nan(above: NDArray[Any], below: NDArray[Any]) -> NDArray[np.float64]:
    """Return ratios; NaN where the divisor is zero."""
    ratio = np.full(len(below), np.nan)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio


def check_k(k: int) -> int:
    """Check the length of a recommendation."""
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or k < 1:
        raise ValueError(
            f"`k` must be a positive integer; got {k!r}. Pass how many of the best songs count."
        )
    return int(k)
