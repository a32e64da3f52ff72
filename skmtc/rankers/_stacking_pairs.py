"""Pairs of a held-out playlist and a candidate, with the score of every ranker."""

import numpy as np

from skmtc._memory import rows_that_fit
from skmtc.optimize._pair_weights import Pairs
from skmtc.rankers._history_pairs import empty_pairs, join_pairs
from skmtc.rankers._sparse import as_ones

BLOCK_ROWS = 64
# About how many candidates stand for all; with fewer songs, all are there.
SAMPLED_SONGS = 300


def stacking_pairs(score, n_scores, queries, *, held, seen, rng):
    """Sample the pairs that weights of rankers are fitted on.

    Parameters
    ----------
    score : callable
        Returns the scores of all candidates for some queries, one array per ranker.

    n_scores : int
        The number of rankers.

    queries : Queries
        The playlists.

    held : csr_array of shape (n_queries, n_songs)
        Songs to find, at least one for each query.

    seen : csr_array of shape (n_queries, n_songs) or None
        Songs that are no candidates.

    rng : RandomState
        Samples candidates.

    Returns
    -------
    pairs : Pairs
        All songs to find, and a sample of the other candidates: uniform ones, and those that a
        ranker scores high.
    """
    size = min(BLOCK_ROWS, rows_that_fit(32 * (n_scores + 3) * held.shape[1]))
    blocks = [empty_pairs(n_scores - 1)]
    for start in range(0, len(queries), size):
        rows = np.arange(start, min(start + size, len(queries)))
        scores = score(queries.take(rows))
        is_held = as_ones(held[rows]).toarray() > 0
        share = _shares(scores)
        if seen is not None:
            share[as_ones(seen[rows]).toarray() > 0] = 0.0
        share[is_held] = 1.0
        chosen = rng.uniform(size=share.shape) < share
        blocks.append(
            Pairs(
                np.column_stack([part[chosen] for part in scores]),
                -np.log(share[chosen]),
                is_held[chosen],
                chosen.sum(axis=1),
            )
        )
    return join_pairs(blocks)


def _shares(scores):
    """Return probabilities to sample candidates with."""
    shape = scores[0].shape
    if shape[1] <= SAMPLED_SONGS:
        return np.ones(shape)
    sources = [np.ones(shape), *(np.exp(s - s.max(axis=1, keepdims=True)) for s in scores)]
    shares = [s / s.sum(axis=1, keepdims=True) for s in sources]
    return np.minimum(1.0, SAMPLED_SONGS * np.mean(shares, axis=0))
