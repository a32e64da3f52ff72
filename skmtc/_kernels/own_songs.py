"""Sums over the songs of each playlist; import only where numba is installed."""

from typing import Any

import numpy as np
from numba import float32, float64, int32, int64, njit, void

SIGNATURE = void(
    int64,
    int64,
    float32[:, ::1],
    float32[::1],
    int32[::1],
    int32[::1],
    float32[:, ::1],
    float32,
    float64[::1],
    float64[::1],
    float32[:, ::1],
    float32[:, ::1],
)


@njit(SIGNATURE, cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def own_sums(
    first: Any,
    last: Any,
    features: Any,
    song_weight: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    push: Any,
    pulled: Any,
    inside: Any,
    pulled_features: Any,
    inside_features: Any,
) -> None:
    """Sum over the songs of playlists `first` to `last` - 1, in place.

    `pulled` is the sum of exp(-push * score), `inside` that of song_weight * exp(score), and
    `pulled_features` and `inside_features` are these sums with the features as factors.
    """
    n_features = features.shape[1]
    # Sums of numbers in double precision, as there is one per playlist; of vectors in single.
    for i in range(first, last):
        pull_sum, sum_inside = 0.0, 0.0
        for j in range(n_features):
            pulled_features[i, j] = 0
            inside_features[i, j] = 0
        for entry in range(indptr[i], indptr[i + 1]):
            song = indices[entry]
            # One score of the song, of which both exponentials are made while it is in the cache
            score = np.float32(0)
            for j in range(n_features):
                score += features[song, j] * weights[i, j]
            pull, exp = np.exp(-push * score), song_weight[song] * np.exp(score)
            pull_sum += pull
            sum_inside += exp
            for j in range(n_features):
                pulled_features[i, j] += pull * features[song, j]
                inside_features[i, j] += exp * features[song, j]
        pulled[i], inside[i] = pull_sum, sum_inside
