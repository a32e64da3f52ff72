r"""Weights of a sum of scores that put the songs to find as high as can be.

The rank of song m for playlist i, among its candidates, is smoothed by a sigmoid,

.. math::

    r_{im} = 1 + \sum_{n \notin i} \sigma\big(k\, w \cdot (s_{in} - s_{im})\big),

and the weights w of the scores minimise the mean of :math:`\log r_{im}` over the songs to find and
then over playlists. The logarithm makes the step from rank 2 to rank 1 worth as much as that from
200 to 100: the top of the list counts, and so does the rest. The likelihood of songs that are drawn
in proportion to the exponential of scores was tried, too. It gives little weight to scores with a
heavy tail, because a single song with a very high score that is not in the playlist costs much.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from skmtc.optimize._pair_weights import Pairs

Array = NDArray[np.floating[Any]]

# Sharpness k of the sigmoid: scores are in standard deviations.
SHARPNESS = 3.0
# Weights grow for ever where the order of all pairs is right.
LARGEST_WEIGHT = 20.0
MAX_ITER = 50
# Relative decrease at which the search ends. The mean is flat near its minimum: with 1e-6 a weight
# may be off by .1.
TOL = 1e-8
# Standard errors by which the mean log rank must rise without a score, for the score to stay.
N_ERRORS = 1.5
# Songs to find that are looked at in each playlist; more hardly change the mean.
MOST_POSITIVES = 10


class Comparisons(NamedTuple):
    """Every song to find against every other candidate of its playlist.

    Attributes
    ----------
    differences : ndarray of shape (n_scores, n_comparisons)
        Scores of the candidate less those of the song to find, in single precision.

    counts : ndarray of shape (n_comparisons,)
        How many candidates each stands for.

    starts : ndarray of shape (n_positives,)
        Where the comparisons of each song to find begin.

    playlists : ndarray of shape (n_positives,)
        The number of its playlist.
    """

    differences: Array
    counts: Array
    starts: NDArray[np.intp]
    playlists: NDArray[np.intp]


class LogRank:
    """The mean logarithm of the smoothed rank, as a function of the weights.

    Parameters
    ----------
    comparisons : Comparisons
        Songs to find and their competitors.
    """

    def __init__(self, comparisons: Comparisons) -> None:
        self.comparisons = comparisons
        n_positives = np.bincount(comparisons.playlists)
        self.n_playlists = len(n_positives)
        self._shares = 1.0 / n_positives[comparisons.playlists]
        ends = np.append(comparisons.starts[1:], comparisons.differences.shape[1])
        self._sizes = ends - comparisons.starts

    def by_playlist(self, weights: Array) -> NDArray[np.float64]:
        """Return the mean log rank of each playlist."""
        log_ranks = np.log(self._ranks(weights)[0])
        means = np.bincount(self.comparisons.playlists, weights=self._shares * log_ranks)
        return np.asarray(means, dtype=np.float64)

    def derivatives(self, weights: Array) -> tuple[float, NDArray[np.float64]]:
        """Return the mean over playlists and its gradient."""
        ranks, slopes = self._ranks(weights)
        outer = self._shares / self.n_playlists
        slopes *= np.repeat((outer / ranks).astype(np.float32), self._sizes)
        gradient = SHARPNESS * (self.comparisons.differences @ slopes)
        return float(outer @ np.log(ranks)), gradient.astype(np.float64)

    def _ranks(self, weights: Array) -> tuple[NDArray[np.float64], Array]:
        """Return smoothed ranks, and the slope of each sigmoid."""
        # In single precision and in place, as there are millions of comparisons.
        above = (SHARPNESS * weights).astype(np.float32) @ self.comparisons.differences
        expit(above, out=above)
        counted = self.comparisons.counts * above
        ranks = 1.0 + np.add.reduceat(counted, self.comparisons.starts).astype(np.float64)
        np.subtract(1.0, above, out=above)
        counted *= above
        return ranks, counted


def compare_pairs(pairs: Pairs) -> Comparisons:
    """Compare each song to find with the other candidates of its playlist."""
    differences, counts, sizes, playlists = [], [], [], []
    ends = np.cumsum(pairs.sizes)
    for number, (start, stop) in enumerate(zip(ends - pairs.sizes, ends, strict=True)):
        is_positive = pairs.is_positive[start:stop]
        columns = pairs.columns[start:stop].astype(np.float32)
        others = columns[~is_positive]
        if len(others) == 0:
            continue
        count = np.exp(pairs.offsets[start:stop][~is_positive]).astype(np.float32)
        for positive in columns[is_positive][:MOST_POSITIVES]:
            differences.append((others - positive).T)
            counts.append(count)
            sizes.append(len(others))
            playlists.append(number)
    if not differences:
        nothing = np.zeros(0, dtype=np.intp)
        empty = np.zeros((pairs.columns.shape[1], 0), dtype=np.float32)
        return Comparisons(empty, np.zeros(0, dtype=np.float32), nothing, nothing)
    _, playlist_codes = np.unique(playlists, return_inverse=True)
    starts = np.asarray(np.cumsum(sizes) - sizes, dtype=np.intp)
    columns = np.concatenate(differences, axis=1)
    return Comparisons(columns, np.concatenate(counts), starts, playlist_codes)


def solve_log_rank(pairs: Pairs) -> NDArray[np.float64]:
    """Find weights of scores, not negative and with sum 1, that minimise the mean log rank.

    A score is dropped if without it the mean log rank rises by less than 1.5 standard errors,
    measured playlist by playlist.

    Parameters
    ----------
    pairs : Pairs
        Candidates of playlists, with one column per score. Scores are standardised.

    Returns
    -------
    weights : ndarray of shape (n_scores,)
        The weights; equal ones if there is nothing to compare.
    """
    n_scores = pairs.columns.shape[1]
    comparisons = compare_pairs(pairs)
    if len(comparisons.starts) == 0:
        return np.full(n_scores, 1.0 / n_scores)
    used = np.arange(n_scores)
    weights, values = _minimise(comparisons, used, np.ones(n_scores))
    while len(used) > 1:
        least = weights.argmin()
        without = np.delete(used, least)
        fewer_weights, fewer_values = _minimise(comparisons, without, np.delete(weights, least))
        worse = fewer_values - values
        error = worse.std() / np.sqrt(len(worse))
        if worse.mean() > N_ERRORS * error:
            break
        used, weights, values = without, fewer_weights, fewer_values
    found = np.zeros(n_scores)
    found[used] = weights / weights.sum()
    return found


def _minimise(
    comparisons: Comparisons, used: NDArray[np.intp], start: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the best weights of some scores, and the mean log rank of each playlist."""
    loss = LogRank(comparisons._replace(differences=comparisons.differences[used]))
    found = minimize(
        loss.derivatives,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, LARGEST_WEIGHT)] * len(used),
        options={"maxiter": MAX_ITER, "ftol": TOL},
    )
    weights = np.asarray(found.x)
    if not weights.any():  # every score misleads: one is as good as another
        weights = np.ones(len(used))
    return weights, loss.by_playlist(weights)
