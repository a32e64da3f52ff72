"""Exact top-k search for many queries, with most songs pruned in single precision."""

import threading
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from skmtc._utils.chunking import rows_that_fit
from skmtc._utils.parallel import Broadcast, Workers, uses_processes
from skmtc._utils.sparse import add_sparse, stored_pairs, stored_values
from skmtc._utils.threads import Threads
from skmtc.rankers.recommend._prepared import LARGEST_IN_SINGLE, PreparedSongs
from skmtc.rankers.scoring import (
    ADDED_BYTES,
    SCORE_BYTES,
    ColumnBlocks,
    inner_products,
    row_norms,
    row_products,
)

# Measured with 45,000 songs: half as many queries at a time take a tenth longer in products, and
# the scores of twice as many leave the caches.
BLOCK_ROWS = 128

# The k-th best score is first guessed from every 32nd song.
STRIDE = 32

# Pairs that are scored again at a time: their vectors stay in the second-level cache. With all at
# once, two threads took four times as long.
EXACT_PAIRS = 1024

# For fewer queries, a copy of the song vectors in single precision does not pay.
FEWEST_IN_SINGLE = 16

# Measured with 50 dimensions: song vectors take as long to send as 600 queries take to answer, for
# any number of songs. Fewer than this are answered here.
FEWEST_ELSEWHERE = 1024


@dataclass(frozen=True)
class GumbelSampling:
    """Sample songs in proportion to exp(score / temperature) instead of taking the best.

    The songs with the largest sums of score / temperature and Gumbel noise are such a sample,
    without replacement. The noise of a query depends on the seed and its position alone.

    Parameters
    ----------
    seed : sequence of int
        Random number generator.

    temperature : float
        The lower, the closer a sample is to the best songs.
    """

    seed: tuple[int, ...]
    temperature: float

    def keys(self, scores, positions):
        """Return the sums of scores and noise for the queries at some positions."""
        keys = scores / self.temperature
        for row, position in zip(keys, positions, strict=True):
            rng = np.random.default_rng([*self.seed, position])
            row -= np.log(rng.standard_exponential(len(row)))
        return keys


class TopSongs:
    """Find the best songs of queries.

    Inner products in single precision, with bounds on their rounding errors, prune most songs.
    Those that may be among the best are scored again, as `predict` does it. So the result is
    that of sorting all scores of `predict`, for any blocks and any number of threads.

    Parameters
    ----------
    songs : PreparedSongs
        The candidates. Of equal scores the song with the smaller `tie_rank` comes first.

    n_queries : int
        About how many queries there will be.

    sampling : GumbelSampling or None, default=None
        How to sample songs; None takes the best.

    n_jobs : int or None, default=None
        Number of threads, in the sense of joblib, but one per core for None; or, for many
        queries, of workers where joblib's configuration names such a backend.
    """

    def __init__(self, songs, *, n_queries, sampling=None, n_jobs=None):
        self.song_vectors = songs.vectors
        self.tie_rank = songs.tie_rank
        self.sampling = sampling
        self.n_jobs = n_jobs
        self.n_queries = n_queries
        self._factors, self._largest = songs.vectors, 0.0
        if sampling is None:
            self._largest = songs.largest_norm
            if (songs.is_kept or n_queries >= FEWEST_IN_SINGLE) and songs.in_single is not None:
                self._factors = songs.in_single
        # A new array for each block would cost as much as the products that it is for.
        self._room = threading.local()

    def best(self, query_vectors, k, *, seen=None, allowed=None, added=None, positions=None):
        """Find the k best songs of each query.

        Parameters
        ----------
        query_vectors : array, csr_array or ColumnBlocks of shape (n_queries, n_dimensions)
            Vectors of the queries.

        k : int
            How many songs to find.

        seen : csr_array of shape (n_queries, n_songs) or None, default=None
            Songs where an entry is stored are excluded.

        allowed : csr_array of shape (n_queries, n_songs) or None, default=None
            Only songs where an entry is stored are candidates; None: all are.

        added : callable or None, default=None
            Returns a list of csr_arrays of shape (n_rows, n_songs) to add to the inner products of
            the queries in a slice. Threads call it for their blocks.

        positions : ndarray of shape (n_queries,) or None, default=None
            Positions of the queries, which seed the noise of each; None counts from 0.

        Returns
        -------
        columns : ndarray of shape (n_queries, k)
            Columns of songs, the best first; -1 where there are no more.

        scores : ndarray of shape (n_queries, k)
            Their scores; -inf where there are no more.
        """
        n_queries, n_songs = query_vectors.shape[0], self.song_vectors.shape[0]
        if positions is None:
            positions = np.arange(n_queries)
        pair_bytes = SCORE_BYTES + ADDED_BYTES * (added is not None)
        size = min(BLOCK_ROWS, rows_that_fit(pair_bytes * n_songs))
        if n_queries <= size:  # no threads, which would take longer to start than to do it
            terms = [] if added is None else added(slice(0, n_queries))
            return self._best_of_block(query_vectors, seen, allowed, terms, positions, k)
        columns = np.empty((n_queries, k), dtype=np.intp)
        scores = np.empty((n_queries, k))

        def block(rows):
            own = None if seen is None else seen[rows]
            terms = [] if added is None else added(rows)
            only = None if allowed is None else allowed[rows]
            return query_vectors[rows], own, only, terms, positions[rows], k

        def fill(rows):
            columns[rows], scores[rows] = self._best_of_block(*block(rows))

        if self.n_queries >= FEWEST_ELSEWHERE and uses_processes(self.n_jobs):
            found = self._workers.map(_best_there, map(block, gen_batches(n_queries, size)))
            for rows, best in zip(gen_batches(n_queries, size), found, strict=True):
                columns[rows], scores[rows] = best
        else:
            threads = Threads(-1 if self.n_jobs is None else self.n_jobs)
            size = min(BLOCK_ROWS, rows_that_fit(pair_bytes * n_songs * threads.n_threads))
            threads.map(fill, gen_batches(n_queries, size))
        return columns, scores

    @cached_property
    def _workers(self):
        """Workers that get the song vectors once."""
        broadcast = Broadcast(
            _top_songs, self.song_vectors, self.n_queries, self.sampling, self.tie_rank
        )
        return Workers(self.n_jobs, broadcast)

    def _best_of_block(self, vectors, seen, allowed, added, positions, k):
        scores, error = self._scores(vectors, added)
        keys = scores if self.sampling is None else self.sampling.keys(scores, positions)
        if allowed is not None:
            pairs = stored_pairs(allowed)
            kept = keys[pairs]
            keys[:] = -np.inf
            keys[pairs] = kept
        if seen is not None:
            keys[stored_pairs(seen)] = -np.inf
        rows, columns = _shortlist(keys, error, k)
        if error.any():
            values = ranks = self._exact(vectors, added, rows, columns)
        else:
            values, ranks = scores[rows, columns], keys[rows, columns]
        places, is_there = _best_places(rows, ranks, self.tie_rank[columns], len(keys), k)
        rows, columns, values = (array[places[is_there]] for array in (rows, columns, values))
        if self.sampling is not None and not issparse(vectors):
            values = self._exact(vectors, added, rows, columns)
        best = np.full(places.shape, -1, dtype=np.intp)
        best_scores = np.full(places.shape, -np.inf)
        best[is_there], best_scores[is_there] = columns, values
        return best, best_scores

    def _scores(self, vectors, added):
        """Return the scores of a block, and a bound on the error of each row's."""
        error = np.zeros(vectors.shape[0])
        if issparse(vectors) or self.sampling is not None:
            # Sparse products have one order of summation, which is that of `row_products`.
            scores = inner_products(vectors, self.song_vectors)
        elif isinstance(vectors, ColumnBlocks):
            scores = inner_products(vectors, self.song_vectors)
            norms = row_norms(vectors)
            error = _rounding_error(scores.dtype, vectors.shape[1], norms, self._largest)
        else:
            norms = row_norms(vectors)
            factors = self._factors if norms.max() < LARGEST_IN_SINGLE else self.song_vectors
            left = _in_type_of(factors, vectors)
            space = self._space(len(left), factors.dtype)
            # Some kernels of BLAS raise flags for numbers beyond the end of short vectors.
            with np.errstate(invalid="ignore", over="ignore"):
                scores = np.matmul(left, factors.T, out=space)
            error = _rounding_error(scores.dtype, vectors.shape[1], norms, self._largest)
        for part in added:
            add_sparse(scores, part)
            largest = max(part.data.max(initial=0.0), -part.data.min(initial=0.0))
            error[error > 0] += 8 * np.finfo(scores.dtype).eps * largest
        return scores, error

    def _space(self, n_rows, dtype):
        """Return a buffer for the scores of a block; each thread has one."""
        shape = (n_rows, self.song_vectors.shape[0])
        space = getattr(self._room, "space", None)
        if space is None or space.dtype != dtype or len(space) < n_rows:
            space = self._room.space = np.empty(shape, dtype=dtype)
        return space[:n_rows]

    def _exact(self, vectors, added, rows, columns):
        """Score pairs of queries and songs as `predict` does, by single inner products."""
        values = np.empty(len(rows))
        for start in range(0, len(rows), EXACT_PAIRS):  # gen_batches takes no empty shortlist
            batch = slice(start, start + EXACT_PAIRS)
            left, right = _take(vectors, rows[batch]), _take(self.song_vectors, columns[batch])
            values[batch] = row_products(left, right)
        for part in added:
            values += stored_values(part, rows, columns)
        return values


def _top_songs(song_vectors, n_queries, sampling, tie_rank):
    """Make `TopSongs` on a worker."""
    songs = PreparedSongs(song_vectors, tie_rank)
    return TopSongs(songs, n_queries=n_queries, sampling=sampling, n_jobs=1)


def _best_there(top_songs, *block):
    """Find the best songs of a block of queries, on a worker."""
    return Threads(1).map(lambda _: top_songs._best_of_block(*block), [None])[0]


def _take(vectors, rows):
    if not isinstance(vectors, np.ndarray):
        return vectors[rows]
    # This mode lets other threads work in the meantime, and indexing does not.
    return vectors.take(rows, axis=0, mode="clip")


def top_k(scores, k, tie_rank=None):
    """Return the columns of the k largest scores of each row, best first.

    The result depends on nothing but the scores and the order of ties.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        Scores, without NaN.

    k : int
        How many columns to return, at most `n_columns`.

    tie_rank : ndarray of shape (n_rows, n_columns) or None, default=None
        Integers, distinct within a row: of equal scores the one with the smaller integer comes
        first. None: the earlier column comes first.

    Returns
    -------
    columns : ndarray of shape (n_rows, k)
        Columns in the order of falling scores.
    """
    n_rows, n_columns = scores.shape
    if k < n_columns:
        columns = np.argpartition(scores, n_columns - k, axis=1)[:, n_columns - k :]
        _settle_ties(scores, columns, tie_rank)
    else:
        columns = np.broadcast_to(np.arange(n_columns), (n_rows, n_columns))
    best = np.take_along_axis(scores, columns, axis=1)
    ties = columns if tie_rank is None else np.take_along_axis(tie_rank, columns, axis=1)
    return np.take_along_axis(columns, np.lexsort((ties, -best), axis=1), axis=1)


def _settle_ties(scores, columns, tie_rank):
    """Replace equal scores that compete for the last places by the first in the order of ties."""
    best = np.take_along_axis(scores, columns, axis=1)
    last = best.min(axis=1, keepdims=True)
    chosen = np.count_nonzero(best == last, axis=1)
    tied = np.count_nonzero(scores == last, axis=1)
    for row in np.flatnonzero(tied > chosen):
        above = np.flatnonzero(scores[row] > last[row])
        equal = np.flatnonzero(scores[row] == last[row])
        n_left = columns.shape[1] - len(above)
        if tie_rank is not None:
            equal = equal[np.argpartition(tie_rank[row, equal], n_left - 1)]
        columns[row] = np.concatenate([above, equal[:n_left]])


def _in_type_of(factors, vectors):
    """Return the vectors in single precision if the factors are a copy in single precision."""
    return vectors.astype(np.float32, copy=False) if factors.dtype == np.float32 else vectors


def _rounding_error(dtype, n_dimensions, norms, largest):
    """Bound the difference of two ways to compute the same inner products.

    The first term is the usual bound, for both ways together, and with room to spare. The second
    is for numbers that are too small for the type.
    """
    limits = np.finfo(dtype)
    relative = 2 * (n_dimensions + 4) * limits.eps * norms * largest
    return relative + 4 * n_dimensions * limits.tiny * (norms + largest + 1) * (norms > 0)


def _shortlist(keys, error, k):
    """Return the pairs of rows and columns that may be among the k best of their row.

    Keys of -inf are never returned. Pairs are sorted by row, then by column.
    """
    lowest = np.finfo(keys.dtype).min / 2
    least = _guess(keys, k) - 2 * error
    while True:
        least = np.maximum(least, lowest)
        # Rounded down to the type of the keys, which are not worth a copy in another one.
        floor = np.nextafter(least.astype(keys.dtype), -np.inf)
        rows, columns = np.divmod(np.flatnonzero(keys >= floor[:, None]), keys.shape[1])
        near = keys[rows, columns]
        kth = _kth_largest(rows, near, len(keys), k).astype(np.float64)
        needed = np.maximum(kth - 2 * error, lowest)
        if (least <= needed).all():
            break
        least = np.minimum(least, needed)
    close = near >= needed[rows]
    return rows[close], columns[close]


def _guess(keys, k):
    """Guess a key that somewhat more than k keys of each row reach, from a few columns."""
    # Whole cache lines, not single songs: memory is read by the line.
    sample = _every(keys, STRIDE)
    expected = k / STRIDE
    rank = int(np.ceil(expected + 4 * np.sqrt(expected) + 2))
    if rank >= sample.shape[1]:
        return np.full(len(keys), -np.inf)
    place = sample.shape[1] - rank
    return np.partition(sample, place, axis=1)[:, place].astype(np.float64)


def _every(keys, stride):
    """Take runs of 16 columns at equal distances, so that one column in `stride` is taken."""
    n_runs = keys.shape[1] // (16 * stride)
    if n_runs == 0:
        return keys[:, ::stride]
    runs = keys[:, : n_runs * 16 * stride].reshape(len(keys), n_runs, 16 * stride)
    return runs[:, :, :16].reshape(len(keys), -1)


def _kth_largest(rows, values, n_rows, k):
    """Return the k-th largest value of each row, -inf where there are fewer."""
    padded, _ = _by_row(rows, values, n_rows, k)
    place = padded.shape[1] - k
    return np.partition(padded, place, axis=1)[:, place]


def _best_places(rows, ranks, ties, n_rows, k):
    """Return the places in `ranks` of the k best of each row, and whether there are so many.

    Pairs with equal ranks come in the order of `ties`.
    """
    padded, starts = _by_row(rows, ranks, n_rows, k)
    # Padding comes after all others, in any order.
    tie_rank, _ = _by_row(rows, ties, n_rows, k, fill=np.iinfo(ties.dtype).max)
    order = top_k(padded, k, tie_rank)
    return starts[:-1, None] + order, order < np.diff(starts)[:, None]


def _by_row(rows, values, n_rows, fewest, fill=-np.inf):
    """Return the values as one padded row per row, and where the values of each row start."""
    starts = np.searchsorted(rows, np.arange(n_rows + 1))
    width = max(fewest, int(np.diff(starts).max()))
    padded = np.full((n_rows, width), fill, dtype=values.dtype)
    padded[rows, np.arange(len(rows)) - starts[rows]] = values
    return padded, starts
