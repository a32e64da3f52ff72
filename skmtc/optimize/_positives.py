"""The songs that are in a playlist: few, so they are gathered, in float64."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from skmtc._utils.chunking import rows_that_fit

FloatArray = NDArray[np.floating[Any]]

# Features are gathered for about this many memberships at a time, which stay in the cache.
BATCH_MEMBERSHIPS = 2048


class Positives:
    """Scores of each playlist's own songs, and sums over them.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features.

    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist, row after row.
    """

    def __init__(self, features: FloatArray | csr_array, membership: csr_array) -> None:
        self.features = features
        self.membership = membership
        self.counts = np.diff(membership.indptr)

    def take(self, rows: NDArray[np.intp]) -> "Positives":
        """Return the positives of some playlists."""
        return Positives(self.features, self.membership[rows])

    def scores(self, weights: FloatArray) -> NDArray[np.float64]:
        """Score every stored membership with the weights of its playlist."""
        indptr, indices = self.membership.indptr, self.membership.indices
        scores = np.empty(len(indices))
        for rows in self._row_batches(weights.shape[1]):
            entries = slice(indptr[rows.start], indptr[rows.stop])
            repeated = np.repeat(weights[rows], self.counts[rows], axis=0)
            songs = self.features[indices[entries]]
            if issparse(songs):
                scores[entries] = songs.multiply(repeated).sum(axis=1)
            else:
                np.einsum("nd,nd->n", songs, repeated, out=scores[entries])
        return scores

    def sum_features(self, values: FloatArray) -> NDArray[np.float64]:
        """Sum the features of each playlist's songs, weighted by one value per membership."""
        weighted = csr_array(
            (values, self.membership.indices, self.membership.indptr), shape=self.membership.shape
        )
        sums = weighted @ self.features
        return np.asarray(sums.toarray() if issparse(sums) else sums, dtype=np.float64)

    def reduce(self, ufunc: np.ufunc, values: FloatArray) -> NDArray[np.float64]:
        """Reduce one value per membership to one per playlist; no playlist is empty."""
        return np.asarray(ufunc.reduceat(values, self.membership.indptr[:-1]))

    def _row_batches(self, n_features: int) -> list[slice]:
        """Cut playlists into batches whose gathered features take little memory."""
        size = min(BATCH_MEMBERSHIPS, rows_that_fit(16 * n_features))
        batch = self.membership.indptr[1:] // size
        starts = np.flatnonzero(np.diff(batch, prepend=-1))
        return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(batch)], strict=True)]
