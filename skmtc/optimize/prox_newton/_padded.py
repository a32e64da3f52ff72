"""The songs of a block of playlists, padded to equal lengths for batched products."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc.optimize._arrays import to_dense

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
        """Weigh the songs by exp(-push * score) at given weights of the playlists."""
        log_sum = np.empty(self.shape[0], dtype=self.dtype)
        mean = np.empty(self.shape, dtype=self.dtype)
        shares = []
        for rows, _, features, log_padding in self.groups:
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
