"""Weights of stacked rankers, fitted on held-out rows of every situation.

Here `kind` is a position in `WHAT`, so that it is 1 for new songs, and `who` one in `WHO`.
"""

from functools import partial

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from skmtc._table.queries import Songs
from skmtc._utils.sparse import add_sparse
from skmtc.optimize import solve_log_rank
from skmtc.rankers.history import mixed_shares, sample_pairs, softmax_weights
from skmtc.rankers.recommend import seen_candidates
from skmtc.rankers.scoring import ColumnSplit, inner_products
from skmtc.rankers.stacking._situations import WHAT, WHO, who_asks

# Songs of the catalogue by which the spread of a query's scores is measured.
SPREAD_SONGS = 1000
# Held-out playlists that the weights of a situation are fitted on: more than the most hardly
# change them, and from less than the fewest nothing can be learned.
MOST_PLAYLISTS = 1000
FEWEST_PLAYLISTS = 20
# Expected number of candidates sampled for each playlist; a smaller catalogue is taken whole.
SAMPLED_SONGS = 300


class ScoreSpread:
    """The spread of a ranker's scores for a query, over songs from all over the catalogue.

    Parameters
    ----------
    ranker : BaseRanker
        The fitted ranker.
    """

    def __init__(self, ranker):
        n_songs = len(ranker.songs_)
        codes = np.unique(np.linspace(0, n_songs - 1, min(n_songs, SPREAD_SONGS)).astype(np.intp))
        vectors = ranker.vectors_of_songs(Songs(ranker.songs_[codes], codes))
        self._split = ColumnSplit(vectors)
        self._song_vectors = self._split(vectors)

    def inverse(self, query_vectors):
        """Return 1 over the standard deviation of each query's scores; 0 where all are equal."""
        if self._song_vectors.shape[0] == 0:  # all songs were forgotten
            return np.zeros(query_vectors.shape[0])
        scores = inner_products(self._split(query_vectors), self._song_vectors)
        spread = scores.std(axis=1)
        is_flat = spread <= 1e-12 * np.abs(scores).max(axis=1, initial=0.0)
        return np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, spread))


def fit_weights(rankers, held, rng):
    """Fit the weights of each situation.

    Parameters
    ----------
    rankers : list of rankers
        Fitted rankers, which have not seen the held-out rows.

    held : DataFrame or array of shape (n_rows, n_columns)
        Held-out rows of a membership table.

    rng : RandomState
        Samples playlists and candidates.

    Returns
    -------
    coef : ndarray of shape (2, 3, n_rankers)
        Weights by position in `WHAT` and `WHO`.

    n_held_out : ndarray of shape (2, 3)
        On how many playlists they were fitted; 0 where they are those of another situation.
    """
    coef = np.full((len(WHAT), len(WHO), len(rankers)), np.nan)
    n_held_out = np.zeros(coef.shape[:2], dtype=np.intp)
    if len(held):
        # Products of blocks are small: threads of BLAS would take more time than they save.
        with threadpool_limits(1, user_api="blas"):
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
    """Yield (kind, who, pairs) of each situation with enough held-out playlists."""
    first = rankers[0]  # all rankers know the same ids and read tables alike
    frame = first.read_table(held)
    queries, query_of_row = first.reader.distinct_queries(frame)
    songs, song_of_row = first.reader.distinct_songs(frame)
    who_of_query = who_asks(queries)
    for kind in range(len(WHAT)):
        rows = songs.is_new[song_of_row] == bool(kind)
        if not rows.any():
            continue
        # New songs compete with each other only, and so do known songs.
        if kind:
            candidates = Songs(songs.ids[songs.is_new], songs.codes[songs.is_new], songs.new_rows)
            columns = np.cumsum(songs.is_new)[song_of_row] - 1
        else:
            candidates = first.reader.catalogue()
            columns = songs.codes[song_of_row]
        membership = csr_array(
            (np.ones(rows.sum()), (query_of_row[rows], columns[rows])),
            shape=(len(queries), len(candidates)),
        )
        score = _make_scorer(rankers, candidates)
        for who in range(len(WHO)):
            found = np.flatnonzero((who_of_query == who) & (np.diff(membership.indptr) > 0))
            if len(found) < FEWEST_PLAYLISTS or len(candidates) < 2:
                continue
            found = np.sort(rng.permutation(found)[:MOST_PLAYLISTS])
            chosen = queries.take(found)
            seen = seen_candidates(first, chosen, candidates, "playlist")
            pairs = sample_pairs(
                partial(_score_rows, score, chosen),
                len(rankers),
                held=membership[found],
                seen=seen,
                sample_size=_sampling_shares,
                rng=rng,
            )
            yield kind, who, pairs


def _make_scorer(rankers, songs):
    """Return a function that returns the standardised scores of songs, one array per ranker."""
    song_vectors = [ranker.vectors_of_songs(songs) for ranker in rankers]
    splits = [ColumnSplit(vectors) for vectors in song_vectors]
    song_vectors = [split(vectors) for split, vectors in zip(splits, song_vectors, strict=True)]
    spreads = [ScoreSpread(ranker) for ranker in rankers]

    def score(queries):
        standardised = []
        for k, ranker in enumerate(rankers):
            query_vectors = ranker.vectors_of_queries(queries)
            scores = inner_products(splits[k](query_vectors), song_vectors[k])
            if ranker.adds_to_scores():
                for part in ranker.added_scores(queries, songs):
                    add_sparse(scores, part)
            standardised.append(scores * spreads[k].inverse(query_vectors)[:, None])
        return standardised

    return score


def _score_rows(score, queries, rows):
    return score(queries.take(rows))


def _sampling_shares(scores):
    """Return the probability of each candidate to be sampled.

    A part of it is uniform, and a part follows the scores of each ranker, so that the candidates
    are there that a ranker has at its top.
    """
    return mixed_shares([softmax_weights(s) for s in scores], SAMPLED_SONGS)
