"""Stochastic gradient steps on pairs of songs: one in a playlist, one outside it.

Like everything in this folder: arrays in, arrays out. The objective is stated in `descend_pairs`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from skmtc.optimize._arrays import to_dense

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]


class PairwiseResult(NamedTuple):
    """What `descend_pairs` found.

    Attributes
    ----------
    shared : ndarray of shape (n_features,)
        Shared weights.

    user : ndarray of shape (n_users, n_features)
        Weights of users.

    playlist : ndarray of shape (n_playlists, n_features)
        Weights of playlists.

    loss_curve : ndarray of shape (n_epochs,)
        Mean loss of the pairs of each epoch, at the weights before their step.
    """

    shared: NDArray[np.float64]
    user: NDArray[np.float64]
    playlist: NDArray[np.float64]
    loss_curve: NDArray[np.float64]


def descend_pairs(
    features: FloatArray | csr_array,
    membership: csr_array,
    user_of_playlist: IntArray,
    *,
    shared_l2: float,
    user_l2: float,
    playlist_l2: float,
    learning_rate: float,
    n_epochs: int,
    batch_size: int,
    rng: np.random.RandomState,
) -> PairwiseResult:
    """Minimise a pairwise ranking loss by Adagrad from zero weights.

    The objective is the sum, over memberships, of the mean over songs outside the playlist of
    log(1 + exp(-w . (inside - outside))), where w is the sum of the shared weights and those of
    the user and the playlist, plus each penalty times the squared norm of its weights.

    Parameters
    ----------
    features : array or csr_array of shape (n_songs, n_features)
        Song features of about unit size.

    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries, sorted within rows, are the songs of a playlist; no row is full.

    user_of_playlist : ndarray of shape (n_playlists,)
        Code of the owner of each playlist.

    shared_l2, user_l2, playlist_l2 : float
        Penalties.

    learning_rate : float
        Size of the first step of each weight.

    n_epochs : int
        Number of passes over the memberships.

    batch_size : int
        How many pairs share a step.

    rng : RandomState
        Chooses pairs and their order.

    Returns
    -------
    result : PairwiseResult
        Weights and losses.
    """
    n_playlists, n_features = len(user_of_playlist), features.shape[1]
    sampler = PairSampler(membership, rng)
    lengths = np.diff(membership.indptr)
    blocks = [
        _WeightBlock(np.zeros(n_playlists, dtype=np.intp), lengths, 1, n_features, shared_l2),
        _WeightBlock(
            user_of_playlist, lengths, user_of_playlist.max(initial=-1) + 1, n_features, user_l2
        ),
        _WeightBlock(np.arange(n_playlists), lengths, n_playlists, n_features, playlist_l2),
    ]
    losses = np.zeros(n_epochs)
    for epoch in range(n_epochs):
        for playlists, inside, outside in sampler.batches(batch_size):
            difference = to_dense(features[inside]) - to_dense(features[outside])
            weights = sum(block.of(playlists) for block in blocks)
            margins = np.einsum("nd,nd->n", weights, difference)
            losses[epoch] += np.logaddexp(0.0, -margins).sum() / membership.nnz
            gradient = -expit(-margins)[:, None] * difference
            for block in blocks:
                block.step(playlists, gradient, learning_rate)
    shared, user, playlist = (block.coef for block in blocks)
    return PairwiseResult(shared[0], user, playlist, losses)


class PairSampler:
    """Samples, for each song of each playlist, a song outside it.

    Parameters
    ----------
    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries, sorted within rows, are the songs of a playlist; no row is full.

    rng : RandomState
        Random number generator.
    """

    def __init__(self, membership: csr_array, rng: np.random.RandomState) -> None:
        self.inside = membership.indices
        self.starts = membership.indptr[:-1].astype(np.int64)
        self.lengths = np.diff(membership.indptr)
        self.playlists = np.repeat(np.arange(len(self.lengths)), self.lengths)
        self.n_songs = int(membership.shape[1])
        self.rng = rng
        # How many songs outside the playlist stand before each of its songs. With the playlist's
        # number before it, one sorted array, in which all playlists are searched at once.
        place = np.arange(len(self.inside)) - self.starts[self.playlists]
        self.outside_before = self.playlists * (self.n_songs + 1) + self.inside - place

    def batches(self, size: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield playlists, songs inside and songs outside them; all memberships, shuffled."""
        order = self.rng.permutation(len(self.inside))
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            playlists = self.playlists[chosen]
            yield playlists, self.inside[chosen], self.outside(playlists)

    def outside(self, playlists: IntArray) -> IntArray:
        """Sample for each playlist a song outside it, all of them equally likely."""
        n_outside = self.n_songs - self.lengths[playlists]
        which = np.minimum((self.rng.uniform(size=len(playlists)) * n_outside), n_outside - 1)
        return self.nth_outside(playlists, which.astype(np.int64))

    def nth_outside(self, playlists: IntArray, which: IntArray) -> IntArray:
        """Return the song that has `which` songs outside the playlist before it."""
        keys = playlists * (self.n_songs + 1) + which
        n_before = np.searchsorted(self.outside_before, keys, side="right")
        return np.asarray(which + n_before - self.starts[playlists])


class _WeightBlock:
    """Weights that groups of playlists share, their penalty, and their Adagrad steps."""

    def __init__(
        self,
        group_of_playlist: IntArray,
        lengths: IntArray,
        n_groups: int,
        n_features: int,
        l2: float,
    ) -> None:
        self.group_of_playlist = group_of_playlist
        self.coef = np.zeros((n_groups, n_features))
        self.squares = np.zeros((n_groups, n_features))
        n_pairs = np.bincount(group_of_playlist, lengths, minlength=n_groups)
        self.penalty_per_pair = 2.0 * l2 / np.maximum(n_pairs, 1.0)

    def of(self, playlists: IntArray) -> NDArray[np.float64]:
        """Return the weights of playlists."""
        return np.asarray(self.coef[self.group_of_playlist[playlists]])

    def step(self, playlists: IntArray, gradient: FloatArray, learning_rate: float) -> None:
        """Move the weights of the groups of some pairs, given the gradient of each pair."""
        groups, group_of_pair, n_pairs = np.unique(
            self.group_of_playlist[playlists], return_inverse=True, return_counts=True
        )
        ones = np.ones(len(playlists))
        sums = csr_array((ones, (group_of_pair, np.arange(len(playlists))))) @ gradient
        # Each pair brings its part of the penalty, so that an epoch brings all of it.
        coef = self.coef[groups]
        sums += (self.penalty_per_pair[groups] * n_pairs)[:, None] * coef
        squares = self.squares[groups] + sums**2
        self.squares[groups] = squares
        sums *= learning_rate / np.sqrt(np.maximum(squares, np.finfo(float).tiny))
        self.coef[groups] = coef - sums
