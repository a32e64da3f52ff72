r"""A convex stand-in for the loss of each playlist between two passes over the data.

Only the sum over the songs outside a playlist is expensive. Its logarithm, as a function of a
step d of the playlist's weights, is replaced by a quadratic model,

.. math:: \log Z(w + d) \approx \log Z(w) + m \cdot d + \tfrac12 d^\top A d, \qquad
          A = \tau C - p p^\top + q q^\top

with the exact gradient m and a modelled Hessian A: one covariance C for all playlists, and a scale
and a BFGS pair (p, q) of each playlist, learned from the passes. Everything else is exact. Because
the model is one of log Z, exponential growth is built in, and steps of several units are
predicted well.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._arrays import row_dots
from skmtc.optimize.prox_newton._padded import PaddedPositives

Array = NDArray[np.floating[Any]]


class Expansion(NamedTuple):
    """The model of log Z for some playlists.

    Attributes
    ----------
    weights : ndarray of shape (n, n_features)
        Where the model is exact.

    log_negative : ndarray of shape (n,)
        log Z there.

    mean : ndarray of shape (n, n_features)
        Gradient of log Z there.

    scale : ndarray of shape (n,)
        Multiple of the covariance.

    removed, added : ndarray of shape (n, n_features) or None
        BFGS pairs, if there are any yet.

    covariance : ndarray of shape (n_features, n_features)
        Shared by all playlists.

    log_weight : ndarray of shape (n,) or None
        Logarithm of the weight of each playlist's loss, which log Z contains already; None stands
        for zeros.
    """

    weights: Array
    log_negative: Array
    mean: Array
    scale: Array
    removed: Array | None
    added: Array | None
    covariance: Array
    log_weight: Array | None = None

    def take(self, rows: slice) -> "Expansion":
        """Return the model of a block of playlists."""
        return Expansion(
            self.weights[rows],
            self.log_negative[rows],
            self.mean[rows],
            self.scale[rows],
            None if self.removed is None else self.removed[rows],
            None if self.added is None else self.added[rows],
            self.covariance,
            None if self.log_weight is None else self.log_weight[rows],
        )

    def product(self, directions: Array) -> Array:
        """Multiply directions, one per playlist, by the modelled Hessian A of log Z."""
        products = directions @ self.covariance
        products *= self.scale[:, None]
        if self.removed is not None and self.added is not None:
            products -= self.removed * row_dots(self.removed, directions)[:, None]
            products += self.added * row_dots(self.added, directions)[:, None]
        return products


class SurrogateValue(NamedTuple):
    """The surrogate of a block at some weights.

    Attributes
    ----------
    value : ndarray of shape (n,)
        Loss of each playlist.

    gradient : ndarray of shape (n, n_features)
        Its gradient.

    negative_factor, positive_factor : ndarray of shape (n,)
        Factors of the Hessians of log Z and of the songs of the playlist.

    slopes : list of tuple (factor, vectors)
        The Hessian's rank-one parts: factor * vector vector'.

    shares : list of ndarray
        Weights of the songs of each playlist.
    """

    value: Array
    gradient: Array
    negative_factor: Array
    positive_factor: Array
    slopes: list[tuple[Array, Array]]
    shares: list[Array]


class BlockSurrogate:
    """The surrogate of a block of playlists.

    Parameters
    ----------
    expansion : Expansion
        Model of log Z.

    positives : PaddedPositives
        Songs of the playlists.

    loss : {"classification", "ranking"}
        As in :class:`MultitaskObjective`.
    """

    def __init__(self, expansion: Expansion, positives: PaddedPositives, loss: str) -> None:
        self.expansion = expansion
        self.positives = positives
        self.loss = loss
        self.push = positives.push
        log_counts = np.log(positives.counts)
        if expansion.log_weight is not None:
            log_counts = log_counts - expansion.log_weight
        self._log_counts = log_counts.astype(positives.dtype)

    def evaluate(self, weights: Array) -> SurrogateValue:
        """Evaluate value, gradient and the pieces of the Hessian."""
        expansion = self.expansion
        step = weights - expansion.weights
        bend = expansion.product(step)
        slope = expansion.mean + bend
        bend *= 0.5
        bend += expansion.mean
        log_negative = expansion.log_negative + row_dots(bend, step)
        inside = self.positives.soft_minimum(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.loss == "classification":
                negative = np.exp(log_negative)
                positive = np.exp(inside.log_sum - self._log_counts)
                gradient = negative[:, None] * slope - positive[:, None] * inside.mean
                return SurrogateValue(
                    value=negative + positive / self.push,
                    gradient=gradient,
                    negative_factor=negative,
                    positive_factor=self.push * positive,
                    slopes=[(negative, slope)],
                    shares=inside.shares,
                )
            loss = np.exp(log_negative + inside.log_sum / self.push)
            whole = slope - inside.mean
            return SurrogateValue(
                value=loss,
                gradient=loss[:, None] * whole,
                negative_factor=loss,
                positive_factor=self.push * loss,
                slopes=[(loss, whole), (-self.push * loss, inside.mean)],
                shares=inside.shares,
            )

    def hessian_diagonal(self, at: SurrogateValue) -> Array:
        """Return the diagonal of each playlist's Hessian."""
        expansion = self.expansion
        diagonal = np.outer(expansion.scale, expansion.covariance.diagonal())
        if expansion.removed is not None and expansion.added is not None:
            diagonal -= expansion.removed**2
            diagonal += expansion.added**2
        diagonal *= at.negative_factor[:, None]
        diagonal += at.positive_factor[:, None] * self.positives.mean_squares(at.shares)
        for factor, vectors in at.slopes:
            diagonal += factor[:, None] * vectors**2
        return np.asarray(diagonal, dtype=self.positives.dtype)

    def hessian_product(self, at: SurrogateValue, directions: Array) -> Array:
        """Multiply a direction of each playlist by its Hessian."""
        products = self.expansion.product(directions)
        products *= at.negative_factor[:, None]
        inside = self.positives.mean_products(at.shares, directions)
        products += at.positive_factor[:, None] * inside
        for factor, vectors in at.slopes:
            products += (factor * row_dots(vectors, directions))[:, None] * vectors
        return products

    def hessian_sum(self, at: SurrogateValue) -> tuple[Array, NDArray[np.float64]]:
        """Sum the Hessians of all playlists of the block.

        Returns
        -------
        outside : ndarray of shape (n_features, n_features)
            Sum of what does not come from the playlists' own songs.

        song_weights : ndarray of shape (n_songs,)
            The own songs contribute sum_m song_weights[m] x_m x_m'.
        """
        expansion = self.expansion
        total = expansion.covariance * np.sum(at.negative_factor * expansion.scale)
        if expansion.removed is not None and expansion.added is not None:
            total = total - _weighted_gram(at.negative_factor, expansion.removed)
            total = total + _weighted_gram(at.negative_factor, expansion.added)
        for factor, vectors in at.slopes:
            total = total + _weighted_gram(factor, vectors)
        return total, self.positives.song_weights(at.shares, at.positive_factor)


def _weighted_gram(factor: Array, vectors: Array) -> Array:
    """Sum factor * vector vector'."""
    return np.asarray((factor[:, None] * vectors).T @ vectors)
