"""Ranks of the songs of playlists among all candidates.

All metrics of this package are functions of a :class:`Ranking`, so that scores which are made
once can be evaluated by many of them, and the counting is written once.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

FloatArray = NDArray[np.floating[Any]]

# From this many songs on, a row of scores is sorted once instead of compared with each of them.
# Measured on 64,000 scores: both take the same time at 33 songs with numpy 2.4, and at about 210
# with numpy 1.26, whose sort is seven times slower; this is between the two.
MANY_POSITIVES = 64


class Ranking:
    """Scores of candidate songs for playlists, and which songs are in them.

    Songs with equal scores share the places that they take up together: nothing depends on the
    order of songs.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n_playlists, n_songs) or None
        Non-zero where the song is in the playlist. None where this is not known or needed.

    y_score : array of shape (n_rows, n_songs)
        Scores, without NaN.

    ignore : array or sparse matrix of shape (n_playlists, n_songs), default=None
        Non-zero where a song is no candidate for a playlist. A song that is in the playlist stays
        a candidate.

    row_of_playlist : ndarray of shape (n_playlists,), default=None
        The row of `y_score` that ranks for each playlist, in rising order, where playlists
        share rows. None: one row each.
    """

    def __init__(
        self,
        y_true: ArrayLike | csr_array | None,
        y_score: ArrayLike,
        *,
        ignore: ArrayLike | csr_array | None = None,
        row_of_playlist: NDArray[np.intp] | None = None,
    ) -> None:
        self.y_score = _check_scores(y_score)
        n_rows, n_songs = self.y_score.shape
        self.row_of_playlist = np.arange(n_rows) if row_of_playlist is None else row_of_playlist
        shape = (len(self.row_of_playlist), n_songs)
        empty = csr_array(shape, dtype=bool)
        self.y_true = empty if y_true is None else _check_labels(y_true, shape)
        self.ignored = None if ignore is None else _check_labels(ignore, shape)
        if self.ignored is not None:
            self.ignored = csr_array(self.ignored > self.y_true)

    @property
    def n_playlists(self) -> int:
        """Number of playlists."""
        return len(self.row_of_playlist)

    @property
    def n_positives(self) -> NDArray[np.intp]:
        """Number of songs of each playlist."""
        return np.asarray(np.diff(self.y_true.indptr), dtype=np.intp)

    @property
    def n_candidates(self) -> NDArray[np.intp]:
        """Number of candidates of each playlist, its own songs among them."""
        n_candidates = np.full(self.n_playlists, self.y_score.shape[1])
        if self.ignored is not None:
            n_candidates -= np.diff(self.ignored.indptr)
        return n_candidates

    def take(self, playlists: NDArray[np.intp]) -> "Ranking":
        """Return the ranking of some of the playlists, given by rising positions."""
        return Ranking(
            self.y_true[playlists],
            self.y_score,
            ignore=None if self.ignored is None else self.ignored[playlists],
            row_of_playlist=self.row_of_playlist[playlists],
        )

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each song of each playlist, how many candidates are above and how many level.

        The song itself is among those that are level. The order is that of the stored entries of
        `y_true`.
        """
        above = np.empty(self.y_true.nnz, dtype=np.int64)
        level = np.empty_like(above)
        bounds = self.y_true.indptr[self._bounds]
        for row, (start, stop) in zip(self.y_score, pairwise(bounds), strict=True):
            if start < stop:
                values = row[self.y_true.indices[start:stop]]
                many = len(values) >= MANY_POSITIVES
                count = _count_by_sorting if many else _count_by_comparing
                above[start:stop], level[start:stop] = count(row, values)
        if self.ignored is not None:
            self._discount_ignored(above, level)
        return above, level

    def sum_by_playlist(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Sum values, given in the order of `places`, over the songs of each playlist."""
        weights = np.asarray(values, dtype=np.float64)
        sums = np.bincount(self._playlist_of_positive, weights, minlength=self.n_playlists)
        return np.asarray(sums, dtype=np.float64)

    def per_positive(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat values of playlists in the order of `places`."""
        return values[self._playlist_of_positive]

    def groups(self) -> Iterator[tuple[NDArray[np.intp], FloatArray, Any]]:
        """Yield playlists, the scores of their candidates, and the columns of these.

        Playlists that share a row of scores and ignore no song come together.
        """
        everything = np.arange(self.y_score.shape[1])
        ignores = np.zeros(self.n_playlists, dtype=bool)
        if self.ignored is not None:
            ignores = np.diff(self.ignored.indptr) > 0
        for row, (start, stop) in zip(self.y_score, pairwise(self._bounds), strict=True):
            members = np.arange(start, stop)
            alike = members[~ignores[start:stop]]
            if len(alike):
                yield alike, row, everything
            for playlist in members[ignores[start:stop]]:
                columns = np.delete(everything, self._ignored_by(playlist))
                yield np.array([playlist]), row[columns], columns

    @cached_property
    def _bounds(self) -> NDArray[np.intp]:
        """Position of the first playlist of each row of scores, and the end."""
        return np.searchsorted(self.row_of_playlist, np.arange(len(self.y_score) + 1))

    @cached_property
    def _playlist_of_positive(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(self.n_playlists), self.n_positives)

    def _ignored_by(self, playlist: np.intp) -> NDArray[Any]:
        assert self.ignored is not None
        bounds = self.ignored.indptr
        return np.asarray(self.ignored.indices[bounds[playlist] : bounds[playlist + 1]])

    def _discount_ignored(self, above: NDArray[np.int64], level: NDArray[np.int64]) -> None:
        assert self.ignored is not None
        bounds = self.y_true.indptr
        for playlist in np.flatnonzero(np.diff(self.ignored.indptr)):
            own = slice(bounds[playlist], bounds[playlist + 1])
            row = self.y_score[self.row_of_playlist[playlist]]
            others = row[self._ignored_by(playlist)]
            values = row[self.y_true.indices[own]]
            ignored_above, ignored_level = _count_by_sorting(others, values)
            above[own] -= ignored_above
            level[own] -= ignored_level


Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


def _count_by_sorting(row: FloatArray, values: FloatArray) -> Counts:
    """Count, for each value, the scores of a row that are above it and those that equal it."""
    ranked = np.sort(row)
    end = np.searchsorted(ranked, values, side="right")
    return len(row) - end, end - np.searchsorted(ranked, values, side="left")


def _count_by_comparing(row: FloatArray, values: FloatArray) -> Counts:
    """Count the same for values that are in the row, by comparing in single precision.

    That takes half the time. Rounding keeps the order, except that scores close to each other
    become equal; only where a value is not alone are the scores themselves compared.
    """
    above = np.empty(len(values), dtype=np.int64)
    level = np.empty_like(above)
    with np.errstate(over="ignore"):
        rough, rough_values = row.astype(np.float32), values.astype(np.float32)
    for j, value in enumerate(rough_values):
        above[j] = np.count_nonzero(rough > value)
        level[j] = np.count_nonzero(rough >= value) - above[j]
        if level[j] > 1:
            near = row[rough == value]
            above[j] += np.count_nonzero(near > values[j])
            level[j] = np.count_nonzero(near == values[j])
    return above, level


def _check_scores(y_score: ArrayLike) -> FloatArray:
    scores = np.asarray(y_score)
    if scores.ndim != 2:
        raise ValueError(
            "Scores must be an array of two dimensions, playlists by songs; got shape "
            f"{scores.shape}. Reshape it, e.g. with `reshape(1, -1)` for one playlist."
        )
    if not np.issubdtype(scores.dtype, np.floating):
        scores = scores.astype(np.float64)
    # The smallest of numbers with a NaN among them is NaN, and is found without a copy.
    if scores.size and np.isnan(scores.min()):
        n_missing = int(np.isnan(scores).sum())
        raise ValueError(
            f"Every song must have a score; got NaN for {n_missing} of {scores.size}. Give songs "
            "that are no candidates any number, and mark them with `ignore`."
        )
    return scores


def _check_labels(labels: ArrayLike | csr_array, shape: tuple[int, int]) -> csr_array:
    rows = csr_array(labels)
    if rows.shape != shape:
        raise ValueError(
            "Labels and scores must be of one shape, playlists by songs; got "
            f"{rows.shape} and {shape}. Check which songs each of them covers."
        )
    rows = csr_array(rows.astype(bool))  # a copy, whose entries may be put in order
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows
