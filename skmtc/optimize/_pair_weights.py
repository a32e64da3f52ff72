r"""Fit a few weights of features of pairs of a playlist and a song, beside fixed scores.

If songs of playlist i are sampled with probabilities in proportion to
:math:`\exp(a f_{im} + h \cdot g_{im})`, with fixed scores f and features g of the pair, the mean
negative log-likelihood of a song, with a penalty, is

.. math::

    \frac{1}{N} \sum_i \Big[ \log \sum_m \exp(a f_{im} + h \cdot g_{im} + o_{im})
    - \frac{1}{M_+} \sum_{m \in i} (a f_{im} + h \cdot g_{im}) \Big] + \mathtt{l1}\, \|h\|_1

over the candidates m of each playlist. It is convex in a and h. The offsets o are logarithms of
the number of songs that a sampled candidate stands for. As :math:`a f + h \cdot g` ranks like
:math:`f + (h / a) \cdot g`, the weights in the unit of the scores are h / a.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._penalty import pseudo_gradient
from skmtc.optimize.prox_newton import lasso_step

Array = NDArray[np.float64]

MAX_NEWTON_STEPS = 100
BACKTRACK = 0.5
SMALLEST_STEP = 1e-8
# Smallest standard deviation of scaled scores: with a scale a near zero the weights h / a would be
# infinite, and with a negative one they would change signs.
SMALLEST_SPREAD = 0.1


class Pairs(NamedTuple):
    """Pairs of a playlist and a candidate song, playlist after playlist.

    Attributes
    ----------
    columns : ndarray of shape (n_pairs, 1 + n_terms)
        The fixed score of each pair, then its features.

    offsets : ndarray of shape (n_pairs,)
        Logarithm of how many candidates each stands for.

    is_positive : ndarray of shape (n_pairs,)
        Whether the song is in the playlist.

    sizes : ndarray of shape (n_playlists,)
        Number of pairs of each playlist. Each has at least one song that is in it.
    """

    columns: Array
    offsets: Array
    is_positive: NDArray[np.bool_]
    sizes: NDArray[np.intp]


class PairLikelihood:
    """The mean negative log-likelihood of pairs, by the scale of scores and the weights of terms.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.n_playlists = len(pairs.sizes)
        self._starts = np.cumsum(pairs.sizes) - pairs.sizes
        n_positives = self._sum(pairs.is_positive.astype(float))
        shares = pairs.is_positive / np.repeat(n_positives, pairs.sizes)
        self._positive_mean = shares @ pairs.columns / self.n_playlists

    def value(self, coef: Array) -> float:
        """Evaluate at coefficients (a, h)."""
        log_sums = self._log_shares(coef)[1]
        return float(log_sums.mean() - self._positive_mean @ coef)

    def derivatives(self, coef: Array) -> tuple[float, Array, Array]:
        """Evaluate the value, its gradient and its Hessian at coefficients (a, h)."""
        columns = self.pairs.columns
        log_shares, log_sums = self._log_shares(coef)
        weighted = columns * np.exp(log_shares)[:, None]
        means = self._sum(weighted)
        value = float(log_sums.mean() - self._positive_mean @ coef)
        gradient = means.mean(axis=0) - self._positive_mean
        hessian = (weighted.T @ columns - means.T @ means) / self.n_playlists
        return value, np.asarray(gradient), np.asarray(hessian)

    def _log_shares(self, coef: Array) -> tuple[Array, Array]:
        """Return log-probabilities of pairs, and the log-sum of each playlist."""
        scores = self.pairs.columns @ coef + self.pairs.offsets
        largest = np.maximum.reduceat(scores, self._starts)
        sums = self._sum(np.exp(scores - np.repeat(largest, self.pairs.sizes)))
        log_sums = np.asarray(largest + np.log(sums))
        return scores - np.repeat(log_sums, self.pairs.sizes), log_sums

    def _sum(self, values: Array) -> Array:
        return np.asarray(np.add.reduceat(values, self._starts, axis=0))


def solve_pair_weights(pairs: Pairs, l1: float, *, tol: float = 1e-8) -> tuple[float, Array]:
    """Find the scale a of the fixed scores, and the weights of terms in their unit, h / a.

    Parameters
    ----------
    pairs : Pairs
        The pairs.

    l1 : float
        Penalty on the l1 norm of h.

    tol : float, default=1e-8
        Largest entry of the subgradient of smallest norm to stop at.

    Returns
    -------
    scale : float
        Scale of the scores, such that their spread is at least 0.1; 1 where there are no
        playlists.

    weights : ndarray of shape (n_terms,)
        One weight per term; zeros where there are no playlists.
    """
    if len(pairs.sizes) == 0:
        return 1.0, np.zeros(pairs.columns.shape[1] - 1)
    coef = minimise_pairs(pairs, l1, tol=tol)
    scores = pairs.columns[:, 0]
    spread = float(scores.std())
    if coef[0] * spread < SMALLEST_SPREAD and spread > 0:
        scale = SMALLEST_SPREAD / spread
        columns = np.column_stack([np.zeros(len(scores)), pairs.columns[:, 1:]])
        offsets = pairs.offsets + scale * scores
        coef = minimise_pairs(pairs._replace(columns=columns, offsets=offsets), l1, tol=tol)
        coef[0] = scale
    return float(coef[0]), np.asarray(coef[1:] / coef[0])


def minimise_pairs(pairs: Pairs, l1: float, *, tol: float = 1e-8) -> Array:
    """Minimise the penalised likelihood of pairs by proximal Newton steps; return (a, h)."""
    likelihood = PairLikelihood(pairs)
    coef = np.zeros(pairs.columns.shape[1])
    coef[0] = 1.0
    penalty = np.full(len(coef), l1)
    penalty[0] = 0.0
    for _ in range(MAX_NEWTON_STEPS):
        value, gradient, hessian = likelihood.derivatives(coef)
        if np.abs(pseudo_gradient(coef, gradient, penalty)).max() <= tol:
            break
        step = lasso_step(gradient, hessian, coef, penalty, tol=1e-12, max_sweeps=1000)
        size, before = 1.0, value + penalty @ np.abs(coef)
        moved = coef + step
        while likelihood.value(moved) + penalty @ np.abs(moved) >= before:
            size *= BACKTRACK
            if size < SMALLEST_STEP:  # the rest of the decrease is below rounding
                return coef
            moved = coef + size * step
        coef = moved
    return coef
