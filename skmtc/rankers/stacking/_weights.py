"""Weights of stacked rankers, fitted on held-out rows of every situation."""

from functools import partial

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.extmath import safe_sparse_dot

from skmtc._table.queries import Songs
from skmtc._utils.sparse import add_sparse
from skmtc.optimize import solve_log_rank
from skmtc.rankers.history import mixed_shares, sample_pairs, softmax_weights
from skmtc.rankers.recommend import seen_candidates
from skmtc.rankers.stacking._situations import WHAT, WHO, who_asks

# Songs of the catalogue by which the spread of a query's scores is measured.
SPREAD_SONGS = 1000
# Held-out playlists of a situation that weights are fitted on: more hardly change them, and of
# fewer nothing can be learned.
MOST_PLAYLISTS = 1000
FEWEST_PLAYLISTS = 20
# Approximate number of sampled candidates; smaller catalogues are taken whole.
SAMPLED_SONGS = 300


def spread_vectors(ranker):
    """Return the vectors of songs by which the spread of a query's scores is measured."""
    n_songs = len(ranker.songs_)
    codes = np.unique(np.linspace(0, n_songs - 1, min(n_songs, SPREAD_SONGS)).astype(np.intp))
    return ranker.vectors_of_songs(Songs(ranker.songs_[codes], codes))


def inverse_spread(query_vectors, song_vectors):
    """Return 1 over the standard deviation of each query's scores; 0 where all are equal."""
    if song_vectors.shape[0] == 0:  # all songs were forgotten
        return np.zeros(query_vectors.shape[0])
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
    frame = first.read_table(held)
    queries, query_of_row = first.reader.distinct_queries(frame)
    songs, song_of_row = first.reader.distinct_songs(frame)
    who = who_asks(queries)
    for kind in range(len(WHAT)):
        rows = songs.is_new[song_of_row] == bool(kind)
        candidates = Songs(songs.ids[songs.is_new], songs.codes[songs.is_new], songs.new_rows)
        if not kind:
            candidates = first.reader.catalogue()
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
            seen = seen_candidates(first, chosen, candidates, True)
            pairs = sample_pairs(
                partial(_score_rows, score, chosen),
                len(rankers),
                held=membership[found],
                seen=seen,
                sample_size=_shares,
                rng=rng,
            )
            yield kind, asked, pairs


def _make_scorer(rankers, songs):
    """Return a function that returns the standardised scores of songs, one array per ranker."""
    song_vectors = [ranker.vectors_of_songs(songs) for ranker in rankers]
    spread = [spread_vectors(ranker) for ranker in rankers]

    def score(queries):
        found = []
        for k, ranker in enumerate(rankers):
            own = ranker.vectors_of_queries(queries)
            scores = safe_sparse_dot(own, song_vectors[k].T, dense_output=True)
            if ranker.adds_to_scores():
                for part in ranker.added_scores(queries, songs):
                    add_sparse(scores, part)
            found.append(scores * inverse_spread(own, spread[k])[:, None])
        return found

    return score


def _score_rows(score, queries, rows):
    return score(queries.take(rows))


def _shares(scores):
    """Return probabilities to sample candidates with: uniform, and by the scores of rankers."""
    return mixed_shares([softmax_weights(s) for s in scores], SAMPLED_SONGS)
