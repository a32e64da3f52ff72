"""Songs with equal scores: the order of popularity, and a warning if a query has no other."""

import warnings

import numpy as np
import pandas as pd

from skmtc._utils.chunking import row_batches
from skmtc.rankers.scoring._column_blocks import inner_products

# Queries that score this many songs alike are scored in full; all others are ruled out by them.
N_PROBES = 16
# Scores that differ by less than this, relative to the largest, are equal up to rounding.
ROUNDING = 1e-12


def tie_ranks(popularity):
    """Return the rank of each song in the order of falling popularity, then of columns."""
    ranks = np.empty(len(popularity), dtype=np.intp)
    ranks[np.argsort(-np.asarray(popularity), kind="stable")] = np.arange(len(popularity))
    return ranks


def tie_popularity(counts, artists, songs, artists_of_new):
    """Return how popular songs are, with the popularity of the artist for a new song.

    Parameters
    ----------
    counts : ndarray of shape (n_known_songs,)
        Number of training playlists that hold each song of the catalogue.

    artists : ndarray of shape (n_known_songs,) or None
        Artists of the catalogue; None if they are not known.

    songs : Songs
        The songs to order.

    artists_of_new : Series or None
        Artists of the new songs among them; None if they are not known.

    Returns
    -------
    popularity : ndarray of shape (n_songs,)
        0 for a new song of an unknown artist.
    """
    popularity = np.zeros(len(songs))
    popularity[~songs.is_new] = counts[songs.codes[~songs.is_new]]
    if songs.is_new.any() and artists is not None and artists_of_new is not None:
        total = pd.Series(counts).groupby(pd.Series(artists)).sum()
        of_artist = artists_of_new.map(total).fillna(0.0)
        popularity[songs.is_new] = of_artist.to_numpy(dtype=float)
    return popularity


def scores_are_equal(query_vectors, song_vectors, added=None):
    """Check for each query whether all songs have the same score.

    Parameters
    ----------
    query_vectors : array, csr_array or ColumnBlocks of shape (n_queries, n_dimensions)
        Vectors of queries.

    song_vectors : array, csr_array or ColumnBlocks of shape (n_songs, n_dimensions)
        Vectors of the candidates.

    added : callable or None, default=None
        Returns a list of csr_arrays to add to the inner products of the queries at some positions.

    Returns
    -------
    equal : ndarray of bool of shape (n_queries,)
        Never True where there is one candidate only.
    """
    n_queries, n_songs = query_vectors.shape[0], song_vectors.shape[0]
    equal = np.zeros(n_queries, dtype=bool)
    if n_songs < 2:
        return equal
    # A few songs from all over the catalogue rule out nearly all queries.
    probes = np.unique(np.linspace(0, n_songs - 1, N_PROBES).astype(np.intp))
    found = np.flatnonzero(_is_flat(query_vectors, song_vectors[probes]))
    for batch in row_batches(len(found), 24 * n_songs):
        rows = found[batch]
        flat = _is_flat(query_vectors[rows], song_vectors)
        if added is not None and flat.any():
            flat[flat] &= _adds_nothing(added(rows[flat]))
        equal[rows] = flat
    return equal


def warn_equal_scores(ranker, n_equal, n_queries, n_songs, outcome, *, stacklevel=3):
    """Warn that all songs have the same score for some queries, with what to do about it."""
    penalties = [name for name in ("shared_l1", "user_l2") if hasattr(ranker, name)]
    weaker = f"weaker penalties ({', '.join(penalties)}), " if penalties else ""
    warnings.warn(
        f"{type(ranker).__name__} has the same score for all {n_songs} songs in {n_equal} of "
        f"{n_queries} queries: nothing that it has learned distinguishes these songs. "
        f"{outcome} Try {weaker}ids that are known, or columns that describe these users and "
        "songs.",
        stacklevel=stacklevel,
    )


def _is_flat(query_vectors, song_vectors):
    """Check for each query whether its inner products are equal up to rounding."""
    scores = inner_products(query_vectors, song_vectors)
    low, high = scores.min(axis=1), scores.max(axis=1)
    return high - low <= ROUNDING * np.maximum(abs(low), abs(high))


def _adds_nothing(parts):
    """Check for each row whether no part has an entry other than 0."""
    return np.all([abs(part).sum(axis=1) == 0 for part in parts], axis=0)
