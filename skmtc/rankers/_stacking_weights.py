"""Weights of stacked rankers, fitted on held-out rows of every situation."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.extmath import safe_sparse_dot

from skmtc._memory import rows_that_fit
from skmtc.optimize._log_rank import solve_log_rank
from skmtc.optimize._pair_weights import Pairs
from skmtc.rankers._history_pairs import empty_pairs, join_pairs
from skmtc.rankers._queries import Songs
from skmtc.rankers._situations import WHAT, WHO, who_asks
from skmtc.rankers._sparse import add_sparse, as_ones

# Songs of the catalogue by which the spread of a query's scores is measured.
SPREAD_SONGS = 1000
# Held-out playlists of a situation that weights are fitted on: more hardly change them, and of
# fewer nothing can be learned.
MOST_PLAYLISTS = 500
FEWEST_PLAYLISTS = 20
# Playlists that are scored together.
BLOCK_ROWS = 64
# About how many candidates stand for all; with fewer songs, all are there.
SAMPLED_SONGS = 300


def spread_vectors(ranker):
    """Return the vectors of songs by which the spread of a query's scores is measured."""
    n_songs = len(ranker.songs_)
    codes = np.unique(np.linspace(0, n_songs - 1, min(n_songs, SPREAD_SONGS)).astype(np.intp))
    return ranker._song_vectors(Songs(ranker.songs_[codes], codes))


def inverse_spread(query_vectors, song_vectors):
    """Return 1 over the standard deviation of each query's scores; 0 where all are equal."""
    scores = safe_sparse_dot(query_vectors, song_vectors.T, dense_output=True)
    spread = scores.std(axis=1)
    is_flat = spread <= 1e-12 * np.abs(scores).max(axis=1, initial=0.0)
    return np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, spread))


def fit_weights(rankers, held, rng):
    """Fit the weights of each situation; return them, and on how many playlists."""
    coef = np.full((len(WHAT), len(WHO), len(rankers)), np.nan)
    n_held_out = np.zeros(coef.shape[:2], dtype=np.intp)
    if len(held):
        for kind, who, pairs in _pairs_of_situations(rankers, held, rng):
            n_held_out[kind, who] = len(pairs.sizes)
            coef[kind, who] = solve_log_rank(pairs)
    for kind in range(len(WHAT)):
        for who in np.flatnonzero(n_held_out[kind] == 0):
            coef[kind, who] = _weights_of_nearest(coef[kind], n_held_out[kind], who)
    return coef, n_held_out


def _weights_of_nearest(coef, n_held_out, who):
    """Return the weights of the nearest situation that has some; equal ones if none has."""
    fitted = np.flatnonzero(n_held_out)
    if len(fitted) == 0:
        return np.full(coef.shape[1], 1.0 / coef.shape[1])
    return coef[fitted[np.argmin(np.abs(fitted - who))]]


def _pairs_of_situations(rankers, held, rng):
    """Yield the situations of held-out rows, with their pairs."""
    first = rankers[0]
    frame = first._read(held, reset=False)
    queries, query_of_row = first._distinct_queries(frame)
    songs, song_of_row = first._distinct_songs(frame)
    who = who_asks(queries)
    for kind in range(len(WHAT)):
        rows = songs.is_new[song_of_row] == bool(kind)
        candidates = Songs(songs.ids[songs.is_new], songs.codes[songs.is_new], songs.new_rows)
        if not kind:
            candidates = first._catalogue()
        columns = np.cumsum(songs.is_new)[song_of_row] - 1 if kind else songs.codes[song_of_row]
        if not rows.any():
            continue
        membership = csr_array(
            (np.ones(rows.sum()), (query_of_row[rows], columns[rows])),
            shape=(len(queries), len(candidates)),
        )
        score = _make_scorer(rankers, candidates)
        for asked in range(len(WHO)):
            found = np.flatnonzero((who == asked) & (np.diff(membership.indptr) > 0))
            if len(found) < FEWEST_PLAYLISTS or len(candidates) < 2:
                continue
            found = np.sort(rng.permutation(found)[:MOST_PLAYLISTS])
            chosen = queries.take(found)
            seen = first._seen(chosen, candidates, True)
            pairs = _sample_pairs(
                score, len(rankers), chosen, held=membership[found], seen=seen, rng=rng
            )
            yield kind, asked, pairs


def _make_scorer(rankers, songs):
    """Return a function that returns the standardised scores of songs, one array per ranker."""
    song_vectors = [ranker._song_vectors(songs) for ranker in rankers]
    spread = [spread_vectors(ranker) for ranker in rankers]

    def score(queries):
        found = []
        for k, ranker in enumerate(rankers):
            own = ranker._query_vectors(queries)
            scores = safe_sparse_dot(own, song_vectors[k].T, dense_output=True)
            if ranker._adds_to_scores():
                for part in ranker._added_scores(queries, songs):
                    add_sparse(scores, part)
            found.append(scores * inverse_spread(own, spread[k])[:, None])
        return found

    return score


def _sample_pairs(score, n_scores, queries, *, held, seen, rng):
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
