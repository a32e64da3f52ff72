"""Sample pairs of a held-out playlist and a candidate song, to fit a few weights on."""

import numpy as np

from skmtc._utils.chunking import rows_that_fit
from skmtc._utils.sparse import as_ones
from skmtc.optimize import Pairs

# Playlists that are scored together.
BLOCK_ROWS = 64


def sample_pairs(score, n_columns, *, held, seen, sample_size, rng):
    """Sample the candidates of held-out playlists, with the scores and features of each pair.

    Parameters
    ----------
    score : callable
        Returns, for some rows of `held`, the columns of their pairs: a list of arrays of shape
        (n_rows, n_songs), first the scores that candidates are sampled by.

    n_columns : int
        Number of these columns.

    held : csr_array of shape (n_queries, n_songs)
        Songs to find, at least one for each query.

    seen : csr_array of shape (n_queries, n_songs) or None
        Songs that are not candidates.

    sample_size : callable
        Returns the probability of each candidate to be sampled, given the columns.

    rng : RandomState
        Random number generator.

    Returns
    -------
    pairs : Pairs
        All songs to find, and a sample of the other candidates with their importance weights.
    """
    size = min(BLOCK_ROWS, rows_that_fit(32 * (n_columns + 3) * held.shape[1]))
    blocks = [empty_pairs(n_columns)]
    for start in range(0, held.shape[0], size):
        rows = np.arange(start, min(start + size, held.shape[0]))
        columns = score(rows)
        is_held = as_ones(held[rows]).toarray() > 0
        share = sample_size(columns)
        if seen is not None:
            share[as_ones(seen[rows]).toarray() > 0] = 0.0
        share[is_held] = 1.0
        chosen = rng.uniform(size=share.shape) < share
        blocks.append(
            Pairs(
                np.column_stack([part[chosen] for part in columns]),
                -np.log(share[chosen]),
                is_held[chosen],
                chosen.sum(axis=1),
            )
        )
    return concatenate_pairs(blocks)


def mixed_shares(sources, n_sampled):
    """Return sampling probabilities: the mean of several distributions over candidates.

    Parameters
    ----------
    sources : list of arrays of shape (n_queries, n_songs)
        Non-negative weights; the uniform distribution is always one of the sources.

    n_sampled : int
        Expected number of candidates. A catalogue that is not larger is taken whole.

    Returns
    -------
    shares : ndarray of shape (n_queries, n_songs)
        Probabilities.
    """
    shape = sources[0].shape
    if shape[1] <= n_sampled:
        return np.ones(shape)
    sources = [np.ones(shape), *(np.asarray(s, dtype=np.float64) for s in sources)]
    shares = [s / np.maximum(s.sum(axis=1, keepdims=True), 1e-300) for s in sources]
    return np.minimum(1.0, n_sampled * np.mean(shares, axis=0))


def softmax_weights(scores):
    """Return weights in proportion to the exponential of scores, largest 1."""
    return np.exp(scores - scores.max(axis=1, keepdims=True))


def empty_pairs(n_columns):
    """Return the pairs of no playlists."""
    nothing = np.zeros(0)
    return Pairs(np.zeros((0, n_columns)), nothing, nothing.astype(bool), nothing.astype(np.intp))


def concatenate_pairs(parts):
    """Concatenate pairs of different playlists."""
    return Pairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
