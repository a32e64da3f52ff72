"""One pass over the data: every playlist against every song, in tiles.

This is where nearly all the arithmetic of the package happens, so it is written for matrix
products that stay in cache: blocks of playlists, tiles of songs, two products a tile.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from skmtc._kernels import loading
from skmtc._utils.parallel import Workers
from skmtc._utils.threads import Threads
from skmtc.optimize._arrays import to_dense
from skmtc.optimize._positives import Positives

FloatArray = NDArray[np.floating[Any]]

# Measured: 256 x 1024 scores in float32 are 1 MB and stay in the second-level cache; halving
# the rows loses 10 %, doubling either side gains nothing.
BLOCK_ROWS = 256
TILE_SONGS = 1024
# Columns with a smaller share of non-zeros are multiplied as CSR, if there are enough of them: a
# sparse product takes about seven times as long per number as a dense one.
SPARSE_BELOW = 0.15
FEWEST_SPARSE_COLUMNS = 64
# Playlists of a user differ in the few features of their own weights. Scores of a row that differs
# from the one before in at most this share of the features are sums of few products, if at
# most this share of the rows of a block needs a full product.
NEAR_FEATURES, MOST_BASES = 0.125, 0.75


class NegativeSums(NamedTuple):
    """Sums over the songs that are not in a playlist, one row per playlist.

    Attributes
    ----------
    exp : ndarray of shape (n_rows,)
        Sum of exp(score). Not finite where it overflows.

    exp_features : ndarray of shape (n_rows, n_features)
        Sum of exp(score) times the song's features.
    """

    exp: NDArray[np.float64]
    exp_features: NDArray[np.float64]


class TiledPass:
    """Sum over the songs outside each playlist, for all playlists at once.

    Products are made in the dtype of the features, sums of tiles are kept in float64. Each
    playlist is summed by one thread in a fixed order of tiles, so the result has the same bits
    for any number of threads.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features whose last column is constant 1, of dtype float32 or float64.

    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist; their values do not matter.

    n_jobs : int or None
        Number of threads, in the sense of joblib.

    offsets : ndarray of shape (n_songs,), default=None
        Added to the scores of songs: logarithms of weights.

    Attributes
    ----------
    offsets : ndarray of shape (n_songs,) or None
        As given, in the dtype of the features.

    workers : Workers or None
        Remote workers with the same features and memberships; None for a local pass.
    """

    workers: Workers | None = None

    def __init__(
        self,
        features: FloatArray | csr_array,
        membership: csr_array,
        n_jobs: int | None = None,
        *,
        offsets: FloatArray | None = None,
    ) -> None:
        self.features = features
        self.membership = membership
        self.threads = Threads(n_jobs)
        self.n_songs, self.n_features = features.shape
        self.tiles = _slices(self.n_songs, TILE_SONGS)
        n_exponentials = membership.shape[0] * self.n_songs
        pays = features.dtype == np.float32 and n_exponentials >= loading.WORTHWHILE_EXPONENTIALS
        self._columns = SplitColumns(features, self.tiles, compiled=pays)
        self.offsets = None if offsets is None else offsets.astype(features.dtype)
        self._exp = (loading.compiled_exp() if pays else None) or _numpy_exp
        self._masks: dict[tuple[int, int], Mask] = {}

    def negative_sums(
        self,
        weights: FloatArray,
        rows: NDArray[np.intp] | None = None,
        *,
        groups: NDArray[np.intp] | None = None,
    ) -> NegativeSums:
        """Sum exp(score) and exp(score) * features over each playlist's negatives.

        Parameters
        ----------
        weights : ndarray of shape (n_rows, n_features)
            Weights of the playlists.

        rows : ndarray of shape (n_rows,), default=None
            Codes of the playlists that `weights` are for; -1 sums over all songs. None stands for
            all playlists.

        groups : ndarray of shape (n_rows,), default=None
            Playlists with the same number have the same weights, and share one sum over all
            songs, from which their own songs are subtracted; -1 marks a playlist that shares
            with none.

        Returns
        -------
        sums : NegativeSums
            Rows that overflow are not finite; they do not affect others.
        """
        if groups is None:
            sums = self._sums(weights, rows)
        else:
            sums = self._grouped_sums(weights, rows, groups)
        return NegativeSums(sums[:, -1].copy(), sums)

    def _sums(self, weights: FloatArray, rows: NDArray[np.intp] | None) -> NDArray[np.float64]:
        sums = np.empty((len(weights), self.n_features))

        def add_block(block: slice) -> None:
            exps = self._tile_exp(weights, rows, block)
            sums[block] = self._columns.sum_features(exps, block.stop - block.start)

        self.threads.map(add_block, _slices(len(weights), BLOCK_ROWS))
        return sums

    def _grouped_sums(
        self, weights: FloatArray, rows: NDArray[np.intp] | None, groups: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        alone, sharing = np.flatnonzero(groups < 0), np.flatnonzero(groups >= 0)
        _, first, group = np.unique(groups[sharing], return_index=True, return_inverse=True)
        if len(sharing) == len(first):  # no two playlists share
            return self._sums(weights, rows)
        codes = np.arange(len(weights)) if rows is None else rows
        chosen = np.concatenate([alone, sharing[first]])
        summed = np.where(np.arange(len(chosen)) < len(alone), codes[chosen], -1)
        passed = self._sums(weights[chosen], summed)

        own = Positives(self.features, self.membership[codes[sharing]])
        with np.errstate(over="ignore", invalid="ignore"):
            scores = own.scores(weights[sharing])
            if self.offsets is not None:
                scores += self.offsets[own.membership.indices]
            inside = own.sum_features(np.exp(scores))
            total = passed[len(alone) + group]
            sums = np.empty((len(weights), self.n_features))
            sums[alone] = passed[: len(alone)]
            sums[sharing] = total - inside
            # If own songs are most of the sum, the difference loses digits: sum over the others.
            little = sharing[~(inside[:, -1] <= 0.5 * total[:, -1])]
        if len(little):
            sums[little] = self._sums(weights[little], codes[little])
        return sums

    def weigh_negatives_from(
        self, weights: FloatArray, threshold: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum the weights of each playlist's negatives whose score is at least its threshold."""
        sums = np.zeros(len(weights))
        song_weights = np.ones(self.n_songs) if self.offsets is None else np.exp(self.offsets)

        def add_block(block: slice) -> None:
            tiles = self._tile_scores(weights, None, block, with_offsets=False)
            for (scores, flat, own), tile in zip(tiles, self.tiles, strict=True):
                flat[own] = -np.inf
                sums[block] += (scores >= threshold[block, None]) @ song_weights[tile]

        self.threads.map(add_block, _slices(len(weights), BLOCK_ROWS))
        return sums

    def _tile_exp(
        self, weights: FloatArray, rows: NDArray[np.intp] | None, block: slice
    ) -> Iterator[FloatArray]:
        """Yield exp(score) of a block, a tile at a time, with 0 for the positives."""
        for scores, flat, own in self._tile_scores(weights, rows, block):
            self._exp(flat)
            flat[own] = 0.0
            yield scores

    def _tile_scores(
        self,
        weights: FloatArray,
        rows: NDArray[np.intp] | None,
        block: slice,
        *,
        with_offsets: bool = True,
    ) -> Iterator[tuple[FloatArray, FloatArray, NDArray[np.int32]]]:
        """Yield the scores of a block, a tile at a time, and where the positives are.

        The scores come as an array of playlists x songs, and as the flat buffer that holds them,
        which is what the places of the positives refer to.
        """
        linear, ends = self._mask(rows, block)
        start = 0
        left = self._columns.take(weights[block])
        # One buffer for all tiles: a new array for each would cost as much as the exponentials.
        n_rows = block.stop - block.start
        buffer = np.empty(n_rows * self.tiles[0].stop, dtype=self.features.dtype)
        for number, (tile, end) in enumerate(zip(self.tiles, ends, strict=True)):
            flat = buffer[: n_rows * (tile.stop - tile.start)]
            scores = self._columns.scores(left, number, flat)
            if with_offsets and self.offsets is not None:
                scores += self.offsets[tile]
            yield scores, flat, linear[start:end]
            start = end

    def _mask(self, rows: NDArray[np.intp] | None, block: slice) -> "Mask":
        if rows is not None:
            return self._mask_of(rows[block])
        key = (block.start, block.stop)
        if key not in self._masks:
            self._masks[key] = self._mask_of(np.arange(block.start, block.stop))
        return self._masks[key]

    def _mask_of(self, rows: NDArray[np.intp]) -> "Mask":
        masked = np.flatnonzero(rows >= 0)
        if len(masked) == 0:
            nothing = np.zeros(len(self.tiles), dtype=np.int32)
            return Mask(nothing[:0], nothing)
        membership = self.membership[rows[masked]]
        row = np.repeat(masked, np.diff(membership.indptr))
        tile_of, column = np.divmod(membership.indices, self.tiles[0].stop)
        widths = np.array([tile.stop - tile.start for tile in self.tiles])
        if self._columns.is_split:  # a buffer holds songs x playlists
            linear = (column * len(rows) + row).astype(np.int32)
        else:
            linear = (row * widths[tile_of] + column).astype(np.int32)
        order = np.argsort(tile_of, kind="stable")
        ends = np.cumsum(np.bincount(tile_of, minlength=len(self.tiles)))
        return Mask(linear[order], ends.astype(np.int32))


class SplitColumns:
    """Song features in two parts: dense columns, and columns with few non-zeros as CSR.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_features)
        Song features.

    tiles : list of slice
        Runs of songs.

    compiled : bool, default=False
        Whether scores of similar rows are made by a compiled loop, if there is one.

    Attributes
    ----------
    is_split : bool
        Whether there is a sparse part. Scores are then made as songs x playlists, because sparse
        matrices multiply from the left; otherwise as playlists x songs.
    """

    def __init__(
        self, features: FloatArray | csr_array, tiles: list[slice], *, compiled: bool = False
    ) -> None:
        self.dtype, self.n_features = features.dtype, features.shape[1]
        few = mostly_zero(features)
        self.is_split = len(few) > 0
        self._few, self._many = few, np.setdiff1d(np.arange(self.n_features), few)
        whole = not self.is_split and not issparse(features)
        dense = features if whole else _dense_columns(features, self._many)
        self._dense = [dense[tile] for tile in tiles]
        if self.is_split:
            sparse = csr_array(features[:, few])
            self._sparse = [csr_array(sparse[tile]) for tile in tiles]
            self._sparse_transposed = [csr_array(tile.T) for tile in self._sparse]
        else:
            # Contiguous copies of the transposed tiles: a product with a strided view is slower.
            self._transposed = [np.ascontiguousarray(tile.T) for tile in self._dense]
        use_near = compiled and not self.is_split
        self._scores_near = loading.compiled_scores_near() if use_near else None

    def take(self, weights: FloatArray) -> "Weights":
        """Return the weights of a block by kind of column, and which rows are similar."""
        if not self.is_split:
            dense = np.ascontiguousarray(weights, dtype=self.dtype)
            near = None if self._scores_near is None else near_rows(dense)
            return Weights(dense, None, near)
        dense = np.ascontiguousarray(weights[:, self._many], dtype=self.dtype)
        return Weights(dense, np.ascontiguousarray(weights[:, self._few].T, dtype=self.dtype), None)

    def scores(self, weights: "Weights", number: int, out: FloatArray) -> FloatArray:
        """Return the scores of a tile, playlists x songs, as a view of the buffer `out`."""
        dense, sparse, near = weights
        if near is not None and self._scores_near is not None:
            songs, scores = self._transposed[number], out.reshape(len(dense), -1)
            base_scores = near.bases @ songs
            apart = near.apart.indptr, near.apart.indices, near.apart.data
            self._scores_near(base_scores, near.base_of_row, *apart, songs, scores)
            return scores
        if sparse is None:
            return np.matmul(dense, self._transposed[number], out=out.reshape(len(dense), -1))
        by_song = out.reshape(-1, len(dense))
        np.matmul(self._dense[number], dense.T, out=by_song)
        by_song += self._sparse[number] @ sparse
        return by_song.T

    def sum_features(self, exps: Iterator[FloatArray], n_rows: int) -> NDArray[np.float64]:
        """Sum exp(score) * features over all tiles; sums of tiles are kept in float64."""
        sums = np.zeros((n_rows, self.n_features))
        if not self.is_split:
            for exp, dense in zip(exps, self._dense, strict=True):
                sums += exp @ dense
            return sums
        many, few = np.zeros((n_rows, len(self._many))), np.zeros((len(self._few), n_rows))
        for number, exp in enumerate(exps):
            many += exp @ self._dense[number]
            few += self._sparse_transposed[number] @ exp.T
        sums[:, self._many], sums[:, self._few] = many, few.T
        return sums


class NearRows(NamedTuple):
    """Rows of weights as few base rows, and what sets others apart from these.

    Attributes
    ----------
    bases : ndarray of shape (n_bases, n_features)
        Rows that the others are similar to.

    base_of_row : ndarray of shape (n_rows,)
        Which one each row is similar to.

    apart : csr_array of shape (n_rows, n_features)
        Difference of each row to its base.
    """

    bases: FloatArray
    base_of_row: NDArray[np.intp]
    apart: csr_array


class Weights(NamedTuple):
    """Weights of a block of playlists.

    Attributes
    ----------
    dense : ndarray of shape (n_rows, n_dense_columns)
        Weights of the dense columns.

    sparse : ndarray of shape (n_sparse_columns, n_rows) or None
        Weights of the sparse columns, transposed.

    near : NearRows or None
        The dense weights in another form, where that saves products.
    """

    dense: FloatArray
    sparse: FloatArray | None
    near: NearRows | None


def near_rows(weights: FloatArray) -> NearRows | None:
    """Find runs of rows that differ in few features; None if most rows differ in many.

    Playlists of a user follow each other. The first row of a run is its base.
    """
    n_rows, n_features = weights.shape
    n_apart = np.count_nonzero(weights[1:] != weights[:-1], axis=1)
    is_base = np.append(True, n_apart > NEAR_FEATURES * n_features)
    if np.count_nonzero(is_base) > MOST_BASES * n_rows:
        return None
    bases, base_of_row = weights[is_base], np.cumsum(is_base) - 1
    return NearRows(bases, base_of_row, csr_array(weights - bases[base_of_row]))


def mostly_zero(features: Any) -> NDArray[np.intp]:
    """Return the columns that are multiplied as CSR; all with few non-zeros, or none."""
    n_songs = features.shape[0]
    if issparse(features):
        counts = np.bincount(features.indices, minlength=features.shape[1])
    else:
        counts = np.count_nonzero(features, axis=0)
    few = np.flatnonzero(counts < SPARSE_BELOW * n_songs)
    # Sparse features stay sparse, however few columns there are.
    return few if len(few) >= FEWEST_SPARSE_COLUMNS or issparse(features) else few[:0]


def _dense_columns(features: FloatArray | csr_array, columns: NDArray[np.intp]) -> FloatArray:
    return np.ascontiguousarray(to_dense(features[:, columns]))


class Mask(NamedTuple):
    """Where the positives of a block of playlists are, tile after tile.

    Attributes
    ----------
    linear : ndarray
        Positions within the flattened (block, tile) array of scores.

    ends : ndarray of shape (n_tiles,)
        Where the positions of each tile end in `linear`.
    """

    linear: NDArray[np.int32]
    ends: NDArray[np.int32]


def _numpy_exp(values: FloatArray) -> None:
    np.exp(values, out=values)


def _slices(length: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]
