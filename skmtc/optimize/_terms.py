"""What one pass tells about each playlist, and the losses made of it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RiskTerms(NamedTuple):
    """What one pass over the data tells about each playlist.

    Attributes
    ----------
    negative : ndarray of shape (n_playlists,)
        Mean of exp(score) over the songs outside the playlist, times its weight.

    negative_gradient : ndarray of shape (n_playlists, n_features)
        Its gradient. Divided by `negative`, it is the mean of the songs, weighted by exp(score).

    positive : ndarray of shape (n_playlists,)
        Mean of exp(-push * score) over the songs of the playlist; for the classification loss,
        times its weight.

    positive_gradient : ndarray of shape (n_playlists, n_features)
        Gradient of `positive / push`.

    shift : ndarray of shape (n_playlists,)
        What was subtracted from the scores before. A ranking loss does not change with it, so it
        keeps both its factors from overflow; it is zero for the classification loss.
    """

    negative: Array
    negative_gradient: Array
    positive: Array
    positive_gradient: Array
    shift: Array


def playlist_losses(
    terms: RiskTerms, counts: NDArray[np.integer], push: float, loss: str
) -> tuple[Array, Array]:
    """Combine terms to losses and gradients; see :meth:`MultitaskObjective.playlist_losses`."""
    with np.errstate(over="ignore", invalid="ignore"):
        if loss == "classification":
            return (
                terms.negative + terms.positive / push,
                terms.negative_gradient + terms.positive_gradient,
            )
        # The sum of positives to the power 1 / push, as a factor of the negatives.
        factor = (counts * terms.positive) ** (1 / push)
        losses = factor * terms.negative
        pull = (losses / terms.positive)[:, None] * terms.positive_gradient
        return losses, factor[:, None] * terms.negative_gradient + pull
