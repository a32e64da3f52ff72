"""Co-occurrence of songs: each song's strongest neighbours, and their weights."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import gen_batches

from skmtc._utils.chunking import rows_that_fit
from skmtc._utils.sparse import as_ones, compiled_if_worthwhile
from skmtc._utils.threads import Threads

# Songs that a thread takes at a time.
COMPILED_SONGS = 1024
# Bytes per pair of songs while a block is sorted.
PAIR_BYTES = 64


def cosine_neighbors(membership, *, n_neighbors, shrinkage, n_jobs=None):
    """Compute the cosine of songs that share playlists, for each song's strongest neighbours.

    It is the cosine of the playlists of two songs, shrunk:
    `n_both / (sqrt(n_first * n_second) + shrinkage)`, where songs share `n_both` playlists and
    are in `n_first` and `n_second`.

    Parameters
    ----------
    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist, or of a user; their values do not matter.

    n_neighbors : int
        Number of neighbours to keep for each song; of equally strong ones the first.

    shrinkage : float
        Added to the denominator; larger values down-weight rare songs.

    n_jobs : int, default=None
        Number of threads, in the sense of joblib; only compiled loops can use more than one.

    Returns
    -------
    neighbors : csr_array of shape (n_songs, n_songs)
        The cosine of each song (row) and its neighbours; a song is not its own neighbour.
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


def ridge_neighbors(membership, *, n_neighbors, shrinkage, l2, n_jobs=None):
    """Compute the weights of a ridge regression of each song on its neighbours.

    A ridge regression of each song on its `n_neighbors` strongest neighbours by cosine, over
    playlists (or users):

        minimise  |x_song - X_neighbours w|^2 + l2 |w|^2,

    whose solution is w = (G + l2 I)^-1 g with the numbers G of playlists that two neighbours share
    and g that a neighbour shares with the song. Redundant neighbours share their weight,
    where cosines count it twice. With all songs as neighbours this is SLIM without its l1 penalty,
    or EASE, whose matrix of songs x songs is never needed here: each song has a small system.
    Negative weights are set to 0.

    Parameters
    ----------
    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist, or of a user; their values do not matter.

    n_neighbors, shrinkage, n_jobs : number
        As in `cosine_neighbors`.

    l2 : float
        Penalty on the squared weights, in playlists.

    Returns
    -------
    weights : csr_array of shape (n_songs, n_songs)
        Row i has the weights of song i for others: the score of song j for a playlist is the sum
        of column j over the songs of the playlist.

    References
    ----------
    X. Ning, G. Karypis. SLIM: Sparse Linear Methods for Top-N Recommender Systems.
    H. Steck. Embarrassingly Shallow Autoencoders for Sparse Data.
    """
    neighbors = cosine_neighbors(
        membership, n_neighbors=n_neighbors, shrinkage=shrinkage, n_jobs=n_jobs
    )
    holders = csr_array(as_ones(membership).T)
    compiled = compiled_if_worthwhile(neighbors.nnz * min(n_neighbors, neighbors.shape[0]))
    if compiled is not None:
        arrays = neighbors.indptr, neighbors.indices, holders.indptr, holders.indices
        parts = Threads(n_jobs).map(
            lambda songs: compiled.neighborhood_ridge(
                *arrays, holders.shape[1], float(l2), songs.start, songs.stop
            ),
            gen_batches(neighbors.shape[0], COMPILED_SONGS),
        )
        values = np.concatenate(parts)
    else:
        values = np.concatenate(
            [
                np.empty(0),
                *(_ridge(holders, neighbors, song, l2) for song in range(neighbors.shape[0])),
            ]
        )
    shape = neighbors.shape
    weights = csr_array((np.maximum(values, 0.0), neighbors.indices, neighbors.indptr), shape=shape)
    weights.eliminate_zeros()
    return csr_array(weights.T)


def _ridge(holders, neighbors, song, l2):
    """Solve the ridge regression of one song on its neighbours."""
    others = neighbors.indices[neighbors.indptr[song] : neighbors.indptr[song + 1]]
    of_others = holders[others]
    gram = (of_others @ of_others.T).toarray()
    gram[np.diag_indices_from(gram)] += l2
    return np.linalg.solve(gram, of_others @ holders[[song]].toarray()[0]) if len(others) else []


def _song_blocks(holders, lengths):
    """Return slices of songs whose pairs fit the working memory."""
    n_songs = holders.shape[0]
    pairs_of_song = np.minimum(holders @ lengths, n_songs)
    block = np.cumsum(pairs_of_song) // rows_that_fit(PAIR_BYTES)
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], n_songs], strict=True)]


def _strongest(both, first_song, counts, n_neighbors, shrinkage):
    """Return the number of neighbours of each song of a block, the neighbours and their values."""
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
    """Mark the n largest values; of equal ones the first."""
    last = np.partition(values, len(values) - n)[len(values) - n]
    chosen = values > last
    chosen[np.flatnonzero(values == last)[: n - np.count_nonzero(chosen)]] = True
    return chosen
