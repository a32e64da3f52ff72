"""Songs made ready for searches; the whole catalogue stays ready from one call to the next."""

from functools import cached_property

import numpy as np

from skmtc.rankers.scoring import row_norms

# Beyond this, squares of single precision overflow.
LARGEST_IN_SINGLE = 1e15


class PreparedSongs:
    """Vectors of songs, with what every search among them needs.

    Parameters
    ----------
    vectors : array, csr_array or ColumnBlocks of shape (n_songs, n_dimensions)
        Vectors of the songs.

    tie_rank : ndarray of shape (n_songs,) or None, default=None
        Distinct integers that order songs with equal scores; None orders them by position.

    vectors_of_queries : callable or None, default=None
        Makes the vectors of queries whose inner products with `vectors` are scores.

    is_kept : bool, default=False
        Whether the same songs are searched again and again, so that a copy in single precision
        pays for a single query.
    """

    def __init__(self, vectors, tie_rank=None, *, vectors_of_queries=None, is_kept=False):
        self.vectors = vectors
        self.tie_rank = np.arange(vectors.shape[0]) if tie_rank is None else tie_rank
        self.vectors_of_queries = vectors_of_queries
        self.is_kept = is_kept

    @cached_property
    def largest_norm(self):
        """The largest norm of a vector."""
        return float(row_norms(self.vectors).max())

    @cached_property
    def in_single(self):
        """The vectors in single precision; None if they are not dense, or too large for it."""
        if not isinstance(self.vectors, np.ndarray) or not self.largest_norm < LARGEST_IN_SINGLE:
            return None
        return self.vectors.astype(np.float32, copy=False)


class CatalogueCache:
    """The prepared catalogue of a fitted ranker, made again if the ranker has changed.

    A change is another object as an attribute. Arrays that are changed in place are not noticed.
    """

    def __init__(self):
        self._kept = None

    def prepared(self, ranker, songs):
        """Return the prepared catalogue `songs` of a snapshot of a ranker."""
        state = _fitted_objects(ranker)
        kept = self._kept
        if kept is None or not _are_same(kept[0], state):
            made = _prepare(ranker, songs, is_kept=True)
            # In one step, as other threads may read and write it.
            kept = self._kept = state, made
        return kept[1]


def prepare(ranker, songs):
    """Return prepared songs of a snapshot of a ranker; those of the catalogue are kept."""
    if songs.is_catalogue:
        return ranker.catalogue_cache.prepared(ranker, songs)
    return _prepare(ranker, songs, is_kept=False)


def _prepare(ranker, songs, *, is_kept):
    vectors_of_queries, vectors = ranker.vectors_for(songs)
    return PreparedSongs(
        vectors,
        ranker.tie_ranks(songs),
        vectors_of_queries=vectors_of_queries,
        is_kept=is_kept,
    )


def _fitted_objects(ranker):
    """Return the attributes of a ranker, and of those that it is made of."""
    rankers = ranker, *getattr(ranker, "estimators_", ())
    return [value for one in rankers for value in one.lasting_attributes().values()]


def _are_same(first, second):
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))
