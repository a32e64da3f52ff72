"""Scores of rows of weights that differ in few features; import only where numba is installed."""

from typing import Any

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def scores_near(
    base_scores: Any,
    base_of_row: Any,
    indptr: Any,
    features: Any,
    values: Any,
    songs: Any,
    scores: Any,
) -> None:
    """Fill the scores of rows: those of a base, and those of the few weights that differ from it.

    `indptr`, `features` and `values` are the differences as a CSR matrix, and row j of `songs` has
    feature j of all songs.
    """
    # w_r.x_m = base.x_m + sum_j (w_r - base)_j x_mj over the few features j that differ
    n_songs = songs.shape[1]
    for r in range(len(base_of_row)):
        base = base_of_row[r]
        for m in range(n_songs):
            scores[r, m] = base_scores[base, m]
        for entry in range(indptr[r], indptr[r + 1]):
            feature, value = features[entry], values[entry]
            for m in range(n_songs):
                scores[r, m] += value * songs[feature, m]
