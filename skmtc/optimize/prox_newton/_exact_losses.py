"""Losses of small problems with exact gradients and Hessians, in double precision."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc._utils.chunking import row_batches
from skmtc.optimize._arrays import to_dense
from skmtc.optimize._objective import MultitaskObjective

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Expansion2(NamedTuple):
    """Losses of the playlists at some weights, with exact gradients and Hessians.

    Attributes
    ----------
    losses : ndarray of shape (n_playlists,)
        Losses.

    gradients : ndarray of shape (n_playlists, n_features)
        Their gradients.

    hessians : ndarray of shape (n_playlists, n_features, n_features)
        Their Hessians.
    """

    losses: Array
    gradients: Array
    hessians: Array


class ExactLosses:
    """Losses with exact Hessians, in double precision.

    Parameters
    ----------
    objective : MultitaskObjective
        The problem, with the playlists of each user side by side.

    features : ndarray or csr_array of shape (n_songs, n_features)
        The columns of the features that have weights.
    """

    def __init__(self, objective: MultitaskObjective, features: Array | csr_array) -> None:
        self.features = np.asarray(to_dense(features), dtype=np.float64)
        self.membership = objective.membership
        self.sample_weight = objective.sample_weight
        weight = objective.song_weight
        weight = np.ones(objective.n_songs) if weight is None else weight
        self._has_weight = weight > 0
        self._log_weight = np.log(np.where(self._has_weight, weight, 1.0))
        self._negative_weights = objective.negative_weights
        self.push, self.is_ranking = objective.push, objective.loss == "ranking"
        self._row_bytes = 8 * objective.n_songs * (4 + features.shape[1])

    def _batches(self, n_rows: int) -> Any:
        for rows in row_batches(n_rows, self._row_bytes):
            yield rows, self.membership[rows].toarray() != 0

    def losses(self, weights: Array) -> Array:
        """Return the loss of each playlist; inf where it overflows."""
        losses = np.empty(len(weights))
        for rows, inside in self._batches(len(weights)):
            losses[rows] = self._losses(weights[rows] @ self.features.T, inside, rows)[0]
        return losses

    def gradients(self, weights: Array) -> tuple[Array, Array]:
        """Return the loss of each playlist and its gradient."""
        losses, gradients = np.empty(len(weights)), np.empty(weights.shape)
        for rows, inside in self._batches(len(weights)):
            losses[rows], slopes, _ = self._losses(weights[rows] @ self.features.T, inside, rows)
            gradients[rows] = slopes @ self.features
        return losses, gradients

    def expand(self, weights: Array) -> Expansion2:
        """Return losses, gradients and Hessians."""
        n, d = weights.shape
        out = Expansion2(np.empty(n), np.empty((n, d)), np.empty((n, d, d)))
        for rows, inside in self._batches(n):
            scores = weights[rows] @ self.features.T
            out.losses[rows], slopes, curvatures = self._losses(scores, inside, rows)
            out.gradients[rows] = slopes @ self.features
            # H_i = sum_m curvature_im x_m x_m' (+ rank-one parts of a ranking loss)
            weighted = curvatures[:, None, :] * self.features.T
            out.hessians[rows] = weighted @ self.features
            if self.is_ranking:
                self._add_rank_one(out, rows, scores, inside)
        return out

    def _losses(self, scores: Array, inside: Mask, rows: slice) -> tuple[Array, Array, Array]:
        """Return losses, and their first and second derivatives by single scores."""
        weight = self.sample_weight[rows, None]
        with np.errstate(over="ignore", invalid="ignore"):
            if self.is_ranking:
                return self._ranking(scores, inside, rows)
            # phi = v / (push M+) sum_own exp(-push s) + v / M- sum_others exp(s)
            counts = inside.sum(axis=1, keepdims=True)
            others = self._negative_weights[rows, None]
            pull = np.exp(np.where(inside, -self.push * scores, -np.inf)) * (weight / counts)
            rest = np.exp(self._negative_scores(scores, inside)) * (weight / others)
            losses = pull.sum(axis=1) / self.push + rest.sum(axis=1)
            return losses, rest - pull, rest + self.push * pull

    def _negative_scores(self, scores: Array, inside: Mask) -> Array:
        """Return scores plus logarithms of the songs' weights; -inf for own songs."""
        return np.where(~inside & self._has_weight, scores + self._log_weight, -np.inf)

    def _ranking(self, scores: Array, inside: Mask, rows: slice) -> tuple[Array, Array, Array]:
        """Expand exp(psi), psi = log-sum-exp(-p s) / p over the songs + log-mean-exp(s) outside."""
        # d psi / ds = rest - pull, the softmax outside and inside
        pull, log_pull = _softmax(np.where(inside, -self.push * scores, -np.inf))
        rest, log_rest = _softmax(self._negative_scores(scores, inside))
        log_rest -= np.log(self._negative_weights[rows])
        losses = self.sample_weight[rows] * np.exp(log_pull / self.push + log_rest)
        scale = losses[:, None]
        return losses, scale * (rest - pull), scale * (rest + self.push * pull)

    def _add_rank_one(self, out: Expansion2, rows: slice, scores: Array, inside: Mask) -> None:
        """Add phi (grad psi grad psi' - m m' - p n n'), m and n the means outside and inside."""
        pull, _ = _softmax(np.where(inside, -self.push * scores, -np.inf))
        rest, _ = _softmax(self._negative_scores(scores, inside))
        n, m = pull @ self.features, rest @ self.features
        phi = out.losses[rows, None, None]
        for sign, v in ((1.0, m - n), (-1.0, m), (-self.push, n)):
            out.hessians[rows] += sign * phi * v[:, :, None] * v[:, None, :]

    def largest_change(self, step: Array) -> Array:
        """Return the largest change of an exponent, by playlist, for a step of the weights."""
        change = np.empty(len(step))
        for rows, inside in self._batches(len(step)):
            scores = np.abs(step[rows] @ self.features.T)
            # Exponents are -push * s of own songs and s of the others.
            scores *= np.where(inside, self.push, self._has_weight)
            change[rows] = scores.max(axis=1)
        return change


def _softmax(values: Array) -> tuple[Array, Array]:
    """Return exp(values) of each row, scaled to the sum 1, and the logarithm of the sum."""
    highest = values.max(axis=1, keepdims=True)
    exp = np.exp(values - highest)
    total = exp.sum(axis=1, keepdims=True)
    return exp / total, (highest + np.log(total))[:, 0]
