r"""A convex surrogate of the loss of each playlist between two passes over the data.

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
from scipy.sparse import csr_array

from skmtc.optimize._arrays import row_dots, to_dense

Array = NDArray[np.floating[Any]]

# Playlists are padded to the longest of their group; these shares of a block, from the shortest
# playlists up, keep the padding small.
GROUP_SHARES = (0.5, 0.8, 0.95, 1.0)


class Group(NamedTuple):
    """Playlists of similar length.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Which playlists of the block these are.

    songs : ndarray of shape (n, length)
        Their songs, and any song where a playlist is shorter.

    features : ndarray of shape (n, length, n_features)
        Features of these songs.

    log_padding : ndarray of shape (n, length)
        0 for a song, -inf for padding.
    """

    rows: NDArray[np.intp]
    songs: NDArray[np.int32]
    features: Array
    log_padding: Array


class SoftMinimum(NamedTuple):
    """The songs of each playlist, weighted by exp(-push * score).

    Attributes
    ----------
    log_sum : ndarray of shape (n,)
        Logarithm of the sum of exp(-push * score).

    mean : ndarray of shape (n, n_features)
        Weighted mean of the songs' features.

    shares : list of ndarray
        The weights, which sum to 1 for each playlist, a group at a time.
    """

    log_sum: Array
    mean: Array
    shares: list[Array]


class PaddedPositives:
    """The songs of a block of playlists, for many evaluations at different weights.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features.

    membership : csr_array of shape (n, n_songs)
        Stored entries are the songs of the block's playlists.

    push : float
        Factor of the scores.
    """

    def __init__(self, features: Array | csr_array, membership: csr_array, push: float) -> None:
        self.push = features.dtype.type(push)
        self.counts = np.diff(membership.indptr)
        self.shape = (len(self.counts), features.shape[1])
        self.n_songs = features.shape[0]
        self.dtype = features.dtype
        order = np.argsort(self.counts, kind="stable")
        ends = np.unique(np.ceil(np.multiply(GROUP_SHARES, len(order))).astype(int))
        self.groups = [
            _pad(features, membership, rows) for rows in np.split(order, ends[:-1]) if len(rows)
        ]

    @property
    def nbytes(self) -> int:
        """Memory that the gathered features take."""
        return sum(group.features.nbytes for group in self.groups)

    def soft_minimum(self, weights: Array) -> SoftMinimum:
        """Weight the songs by exp(-push * score) at some weights of the playlists."""
        log_sum = np.empty(self.shape[0], dtype=self.dtype)
        mean = np.empty(self.shape, dtype=self.dtype)
        shares = []
        for rows, _, features, log_padding in self.groups:
            # log sum_l exp(-push w.x_l) of each playlist, shifted by its largest term
            log_exp = np.matmul(features, weights[rows][:, :, None])[:, :, 0]
            log_exp *= -self.push
            log_exp += log_padding
            highest = log_exp.max(axis=1, keepdims=True)
            log_exp -= highest
            share = np.exp(log_exp, out=log_exp)
            total = share.sum(axis=1, keepdims=True)
            share /= total
            log_sum[rows] = (highest + np.log(total))[:, 0]
            mean[rows] = np.matmul(share[:, None, :], features)[:, 0, :]
            shares.append(share)
        return SoftMinimum(log_sum, mean, shares)

    def mean_squares(self, shares: list[Array]) -> Array:
        """Return the weighted mean of the squared features of each playlist's songs."""
        squares = np.empty(self.shape, dtype=self.dtype)
        for (rows, _, features, _), share in zip(self.groups, shares, strict=True):
            squares[rows] = np.einsum("nl,nld,nld->nd", share, features, features)
        return squares

    def mean_products(self, shares: list[Array], directions: Array) -> Array:
        """Return the weighted mean of x (x . direction) over each playlist's songs x."""
        products = np.empty(self.shape, dtype=self.dtype)
        for (rows, _, features, _), share in zip(self.groups, shares, strict=True):
            along = np.matmul(features, directions[rows][:, :, None])[:, :, 0]
            along *= share
            products[rows] = np.matmul(along[:, None, :], features)[:, 0, :]
        return products

    def song_weights(self, shares: list[Array], row_weights: Array) -> NDArray[np.float64]:
        """Sum row_weight * share over the playlists of each song.

        The second moment of all memberships, sum row_weight * share * x x', is that of the songs
        under these weights: as many outer products as songs instead of as many as memberships.
        """
        total = np.zeros(self.n_songs)
        for (rows, songs, _, _), share in zip(self.groups, shares, strict=True):
            weights = share * row_weights[rows][:, None]
            total += np.bincount(songs.ravel(), weights.ravel(), minlength=self.n_songs)
        return total


def _pad(features: Array | csr_array, membership: csr_array, rows: NDArray[np.intp]) -> Group:
    counts = np.diff(membership.indptr)[rows]
    length = int(counts.max())
    is_song = np.arange(length) < counts[:, None]
    # Padding repeats the first song; its weight is exactly zero.
    entries = membership.indptr[rows][:, None] + np.where(is_song, np.arange(length), 0)
    songs = membership.indices[entries]
    padded = to_dense(features[songs.ravel()]).reshape(len(rows), length, features.shape[1])
    log_padding = np.where(is_song, 0.0, -np.inf).astype(features.dtype)
    return Group(rows, songs, np.ascontiguousarray(padded), log_padding)


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
        # A d = tau C d - p (p.d) + q (q.d)
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
        """Return value, gradient and the factors of the Hessian at some weights."""
        expansion = self.expansion
        # log Z = log Z_0 + m.d + d'Ad / 2, with the gradient m + A d
        step = weights - expansion.weights
        image = expansion.product(step)
        slope = expansion.mean + image
        image *= 0.5
        image += expansion.mean
        log_negative = expansion.log_negative + row_dots(image, step)
        inside = self.positives.soft_minimum(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.loss == "classification":
                # phi = Z + v / (push M+) sum_l exp(-push w.x_l), grad phi = Z slope - P mean(x)
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
            # phi = exp(psi), psi = log Z + log(sum_l exp(-push w.x_l)) / push,
            # grad psi = slope - mean(x)
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
        # diag(Z A + F mean(x x') + sum of factor * slope slope'), F the positive factor
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
        # H d = Z A d + F mean(x (x.d)) + sum of factor * slope (slope.d)
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
        # sum_i Z_i (tau_i C - p_i p_i' + q_i q_i') + sum of factor * slope slope'
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
