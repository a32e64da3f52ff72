"""Which songs share playlists: each song's strongest neighbours."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import gen_batches

from skmtc._memory import rows_that_fit
from skmtc.optimize._threads import Threads
from skmtc.rankers._sparse import as_ones, compiled_if_worthwhile

# Songs that a thread takes at a time.
COMPILED_SONGS = 1024
# Bytes per pair of songs while a block is sorted.
PAIR_BYTES = 64


def collocation(membership, *, n_neighbors, shrinkage, n_jobs=None):
    """Measure how often songs share playlists, for each song's strongest neighbours.

    The measure is the cosine of the playlists of two songs, shrunk:
    `n_both / (sqrt(n_first * n_second) + shrinkage)`, where songs share `n_both` playlists and
    are in `n_first` and `n_second`.

    Parameters
    ----------
    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist, or of a user; their values do not matter.

    n_neighbors : int
        How many neighbours of a song are kept; of equally strong ones the first.

    shrinkage : float
        The larger, the less do songs count that rarely occur.

    n_jobs : int, default=None
        Number of threads, in the sense of joblib; only compiled loops can use more than one.

    Returns
    -------
    neighbors : csr_array of shape (n_songs, n_songs)
        The measure, by rows; a song is not its own neighbour.
    """
    held = as_ones(membership)
    holders = csr_array(held.T)
    counts, lengths = np.diff(holders.indptr), np.diff(held.indptr)
    compiled = compiled_if_worthwhile(np.square(lengths, dtype=np.float64).sum())
    if compiled is not None:
        rows = holders.indptr, holders.indices, held.indptr, held.indices
        rules = counts.astype(float), float(shrinkage), min(n_neighbors, len(counts))
        blocks = Threads(n_jobs).map(
            lambda songs: compiled.strongest_columns(*rows, *rules, songs.start, songs.stop),
            gen_batches(len(counts), COMPILED_SONGS),
        )
    else:
        blocks = [
            _strongest(csr_array(holders[rows] @ held), rows.start, counts, n_neighbors, shrinkage)
            for rows in _song_blocks(holders, lengths)
        ]
    sizes, columns, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return csr_array((values, columns, indptr), shape=(len(counts), len(counts)))


def _song_blocks(holders, lengths):
    """Cut songs into blocks whose pairs fit the working memory."""
    n_songs = holders.shape[0]
    pairs_of_song = np.minimum(holders @ lengths, n_songs)
    block = np.cumsum(pairs_of_song) // rows_that_fit(PAIR_BYTES)
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], n_songs], strict=True)]


def _strongest(both, first_song, counts, n_neighbors, shrinkage):
    """Give the number of neighbours of each song of a block, and the neighbours with values."""
    both.sort_indices()  # so that of equally strong neighbours the first are kept
    songs = first_song + np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))
    columns = both.indices
    values = both.data / (np.sqrt(counts[songs] * counts[columns].astype(float)) + shrinkage)
    kept = songs != columns
    values[~kept] = -np.inf
    # A partition of each long row: to sort all pairs takes about five times as long.
    for row in np.flatnonzero(np.diff(both.indptr) - 1 > n_neighbors):
        of_row = slice(both.indptr[row], both.indptr[row + 1])
        kept[of_row] = _largest(values[of_row], n_neighbors)
    sizes = np.bincount(songs[kept] - first_song, minlength=both.shape[0])
    return sizes, columns[kept], values[kept]


def _largest(values, n):
    """Say which values are the n largest; of equal ones the first."""
    last = np.partition(values, len(values) - n)[len(values) - n]
    chosen = values > last
    chosen[np.flatnonzero(values == last)[: n - np.count_nonzero(chosen)]] = True
    return chosen
