"""Pairs of a held-out playlist and a candidate, to fit the weights of history terms on."""

import numpy as np

from skmtc._memory import rows_that_fit
from skmtc.optimize._pair_weights import Pairs
from skmtc.rankers._sparse import as_ones

# About how many candidates stand for all; with fewer songs, all are there.
SAMPLED_SONGS = 500
BLOCK_ROWS = 64


def history_pairs(terms, queries, weights, song_vectors, *, held, seen, rng):
    """Lay out the pairs that weights of history terms are fitted on.

    Parameters
    ----------
    terms : HistoryTerms
        History without the memberships that are held out.

    queries : tuple of ndarray (users, playlists)
        Codes of the users, and of the playlists or -1, as `terms` take them.

    weights : ndarray of shape (n_queries, n_dimensions)
        Weights of the queries, fitted without the memberships that are held out.

    song_vectors : array or csr_array of shape (n_songs, n_dimensions)
        Vectors of the songs.

    held : csr_array of shape (n_queries, n_songs)
        Memberships to find, at least one for each query.

    seen : csr_array of shape (n_queries, n_songs)
        Memberships that are known; these songs are no candidates.

    rng : RandomState
        Source of chance.

    Returns
    -------
    pairs : Pairs
        All songs that are held, and a sample of the other candidates.
    """
    n_songs = held.shape[1]
    size = min(BLOCK_ROWS, rows_that_fit(32 * (len(terms.names) + 3) * n_songs))
    blocks = [empty_pairs(len(terms.names))]
    for start in range(0, held.shape[0], size):
        block = slice(start, start + size)
        scores = np.asarray((song_vectors @ weights[block].T).T)
        found = terms.features(*(c[block] for c in queries))
        features = [part.astype(np.float64).toarray() for part in found]
        is_held = as_ones(held[block]).toarray() > 0
        share = _shares(scores, features)
        share[is_held] = 1.0
        share[as_ones(seen[block]).toarray() > 0] = 0.0
        chosen = rng.uniform(size=share.shape) < share
        blocks.append(
            Pairs(
                np.column_stack([part[chosen] for part in (scores, *features)]),
                -np.log(share[chosen]),
                is_held[chosen],
                chosen.sum(axis=1),
            )
        )
    return join_pairs(blocks)


def empty_pairs(n_terms):
    """Give the pairs of no playlists."""
    nothing = np.zeros(0)
    return Pairs(np.zeros((0, 1 + n_terms)), nothing, nothing.astype(bool), nothing.astype(np.intp))


def join_pairs(parts):
    """Join pairs of different playlists."""
    return Pairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _shares(scores, features):
    """Give probabilities to draw candidates with: high scores, and features, are drawn first."""
    n_songs = scores.shape[1]
    if n_songs <= SAMPLED_SONGS:
        return np.ones_like(scores)
    sources = [np.ones_like(scores), np.exp(scores - scores.max(axis=1, keepdims=True)), *features]
    shares = [s / np.maximum(s.sum(axis=1, keepdims=True), 1e-300) for s in sources]
    return np.minimum(1.0, SAMPLED_SONGS * np.mean(shares, axis=0))
