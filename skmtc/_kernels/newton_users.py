"""Newton-CG steps of users on the row surrogate; import only where numba is installed.

The formulas are those of :mod:`skmtc.optimize.prox_newton._rows`. A user's songs are gathered to a
block that stays in the cache, so that a product with the user's Hessian reads nothing else.
"""

from typing import Any

import numpy as np
from numba import float32, float64, int32, int64, njit, void

from skmtc._kernels.user_step import OPTIONS

# Conjugate gradients stop at this share of the first residual: what is left after it is less than
# what the surrogate is wrong by.
CG_TOL, CG_STEPS = np.float32(0.1), 12
BACKTRACK, MAX_BACKTRACKS = np.float32(0.4), 6
SUFFICIENT_DECREASE = 1e-4
# A Newton step that gains less than this share of the value is the last one.
NEGLIGIBLE = 1e-7
# exp stays finite in single precision below this, and a step that gets there is rejected.
LARGEST_EXPONENT = np.float32(60.0)
ZERO, HALF, ONE, TWO = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2)
# A little curvature for own weights whose feature is constant.
FLAT = np.float32(1e-3)

SIGNATURE = void(
    int64,
    int64,
    float32[:, ::1],
    int32[::1],
    int32[::1],
    int64[::1],
    int64[::1],
    float32[::1],
    int64[::1],
    float32[::1],
    float32[::1],
    float32[:, ::1],
    float32[::1],
    float32[:, ::1],
    float32[::1],
    float32[:, ::1],
    float32[:, ::1],
    float32[:, ::1],
    float32[:, ::1],
    float32[:, ::1],
    float32,
    float32,
    float32,
    int64,
    float64[::1],
    float32[::1],
)


@njit(SIGNATURE, cache=True, **OPTIONS)
def newton_users(
    first: Any,
    last: Any,
    features: Any,
    indptr: Any,
    indices: Any,
    starts: Any,
    row_of: Any,
    pull: Any,
    active_starts: Any,
    eigenvalues: Any,
    variances: Any,
    basis: Any,
    log_z: Any,
    mean: Any,
    scale: Any,
    weights: Any,
    offset: Any,
    own0: Any,
    step: Any,
    own: Any,
    user_l2: Any,
    playlist_l1: Any,
    push: Any,
    n_newton: Any,
    values: Any,
    exps: Any,
) -> None:
    """Take Newton steps for users `first` to `last` - 1; `step`, `own`, ... are changed in place.

    See :class:`skmtc.optimize.prox_newton._rows.RowModel` for the arguments.
    """
    n_features, n_users = features.shape[1], step.shape[0]
    most_songs, most_rows = 0, 1
    for u in range(first, last):
        most_songs = max(most_songs, indptr[starts[u + 1]] - indptr[starts[u]])
        most_rows = max(most_rows, 1 + active_starts[u + 1] - active_starts[u])
    songs = np.empty((most_songs, n_features), np.float32)
    place = np.empty(most_songs, np.int64)
    factor = np.empty(most_songs, np.float32)
    begin = np.empty(most_rows + 1, np.int64)
    exp, new_exp = np.empty(most_songs, np.float32), np.empty(most_songs, np.float32)
    height, new_height = np.empty(most_rows, np.float32), np.empty(most_rows, np.float32)
    # Row 0 of all these is the user's, in the eigenbasis; row k the k-th active playlist's, whose
    # own weights are in the basis of the features.
    shape = (most_rows, n_features)
    at, new_at = np.empty(shape, np.float32), np.empty(shape, np.float32)
    slope, new_slope = np.empty(shape, np.float32), np.empty(shape, np.float32)
    gradient, orthant = np.empty(shape, np.float32), np.empty(shape, np.float32)
    metric, residual = np.empty(shape, np.float32), np.empty(shape, np.float32)
    direction, product = np.empty(shape, np.float32), np.empty(shape, np.float32)
    solution = np.zeros(shape, np.float32)
    moved, image = np.empty(n_features, np.float32), np.empty(n_features, np.float32)

    for u in range(first, last):
        n_rows = 1 + active_starts[u + 1] - active_starts[u]
        # Gather the user's songs: those of playlists without own weights first.
        n = 0
        for k in range(n_rows):
            begin[k] = n
            row = u if k == 0 else n_users + active_starts[u] + k - 1
            for i in range(starts[u], starts[u + 1]):
                if row_of[i] == row:
                    for entry in range(indptr[i], indptr[i + 1]):
                        for j in range(n_features):
                            songs[n, j] = features[indices[entry], j]
                        place[n], factor[n] = entry, pull[i]
                        n += 1
        begin[n_rows] = n
        for j in range(n_features):
            at[0, j] = step[u, j]
        for k in range(1, n_rows):
            for j in range(n_features):
                at[k, j] = own[active_starts[u] + k - 1, j]
        value, promised = 0.0, 0.0

        for newton in range(n_newton + 1):
            # 1. Line search along the last Newton direction, within the orthant of own weights.
            size, new_value = ONE, 0.0
            accepted: Any = False
            for _ in range(MAX_BACKTRACKS):
                for k in range(n_rows):
                    for j in range(n_features):
                        new_at[k, j] = at[k, j]
                        if newton > 0:
                            new_at[k, j] += size * solution[k, j]
                            if new_at[k, j] * orthant[k, j] < 0:
                                new_at[k, j] = ZERO
                # Value of the surrogate, and what its derivatives are made of.
                new_value = 0.0
                for j in range(n_features):
                    away = offset[u, j] + new_at[0, j]
                    new_value += user_l2 * away * away
                for k in range(n_rows):
                    row = u if k == 0 else n_users + active_starts[u] + k - 1
                    for j in range(n_features):
                        moved[j] = new_at[0, j]
                    if k > 0:
                        for a in range(n_features):
                            change = new_at[k, a] - own0[row - n_users, a]
                            new_value += playlist_l1 * abs(new_at[k, a])
                            if change != 0:
                                for j in range(n_features):
                                    moved[j] += change * basis[a, j]
                    # log Z + m.d + d'A d / 2, A = scale * diag(eigenvalues)
                    rise = log_z[row]
                    for j in range(n_features):
                        bend = scale[row] * eigenvalues[j] * moved[j]
                        rise += (mean[row, j] + HALF * bend) * moved[j]
                        new_slope[k, j] = mean[row, j] + bend
                        moved[j] += weights[row, j]
                    new_height[k] = np.exp(min(rise, LARGEST_EXPONENT))
                    new_value += new_height[k]
                    for i in range(begin[k], begin[k + 1]):
                        score = ZERO
                        for j in range(n_features):
                            score += songs[i, j] * moved[j]
                        new_exp[i] = factor[i] * np.exp(min(-push * score, LARGEST_EXPONENT))
                        new_value += new_exp[i] / push
                accepted = newton == 0 or new_value <= value - SUFFICIENT_DECREASE * size * promised
                if accepted:
                    break
                size *= BACKTRACK
            if not accepted:
                break
            fell, value = value - new_value, new_value
            at, new_at = new_at, at
            slope, new_slope = new_slope, slope
            exp, new_exp = new_exp, exp
            height, new_height = new_height, height
            if newton == n_newton or (newton > 0 and fell <= NEGLIGIBLE * value):
                break

            # 2. Gradient, and the diagonal of the Hessian as the metric of conjugate gradients.
            for j in range(n_features):
                residual[0, j] = -TWO * user_l2 * (offset[u, j] + at[0, j])
                metric[0, j] = TWO * user_l2
                orthant[0, j] = ZERO
            for k in range(n_rows):
                row = u if k == 0 else n_users + active_starts[u] + k - 1
                for j in range(n_features):
                    gradient[k, j] = height[k] * slope[k, j]
                    metric[0, j] += height[k] * (
                        scale[row] * eigenvalues[j] + slope[k, j] * slope[k, j]
                    )
                inner = ZERO
                for i in range(begin[k], begin[k + 1]):
                    curvature = push * exp[i]
                    inner += curvature
                    for j in range(n_features):
                        gradient[k, j] -= exp[i] * songs[i, j]
                        metric[0, j] += curvature * songs[i, j] * songs[i, j]
                for j in range(n_features):
                    residual[0, j] -= gradient[k, j]
                if k > 0:
                    # Own weights move that are not zero, or whose gradient exceeds the penalty.
                    for a in range(n_features):
                        pulled = ZERO
                        for j in range(n_features):
                            pulled += basis[a, j] * gradient[k, j]
                        sign = ZERO
                        if at[k, a] != 0:
                            sign = ONE if at[k, a] > 0 else -ONE
                        elif abs(pulled) > playlist_l1:
                            sign = -ONE if pulled > 0 else ONE
                        orthant[k, a] = sign
                        residual[k, a] = -(pulled + playlist_l1 * sign) if sign != 0 else ZERO
                        metric[k, a] = (height[k] * scale[row] + inner) * variances[a] + FLAT

            # 3. Conjugate gradients on H s = -g over the user's and the moving own weights.
            along: Any = 0.0
            for k in range(n_rows):
                for j in range(n_features):
                    solution[k, j] = ZERO
                    direction[k, j] = residual[k, j] / metric[k, j]
                    product[k, j] = ZERO
                    along += residual[k, j] * direction[k, j]
            first_along, promised = along, 0.0
            if not first_along > NEGLIGIBLE * value:
                break
            for _ in range(CG_STEPS):
                for j in range(n_features):
                    product[0, j] = TWO * user_l2 * direction[0, j]
                for k in range(n_rows):
                    row = u if k == 0 else n_users + active_starts[u] + k - 1
                    for j in range(n_features):
                        moved[j] = direction[0, j]
                    if k > 0:
                        for a in range(n_features):
                            if orthant[k, a] != 0:
                                for j in range(n_features):
                                    moved[j] += direction[k, a] * basis[a, j]
                    on_slope = ZERO
                    for j in range(n_features):
                        on_slope += slope[k, j] * moved[j]
                    for j in range(n_features):
                        bend = scale[row] * eigenvalues[j] * moved[j]
                        image[j] = height[k] * (bend + on_slope * slope[k, j])
                    for i in range(begin[k], begin[k + 1]):
                        score = ZERO
                        for j in range(n_features):
                            score += songs[i, j] * moved[j]
                        score *= push * exp[i]
                        for j in range(n_features):
                            image[j] += score * songs[i, j]
                    for j in range(n_features):
                        product[0, j] += image[j]
                    if k > 0:
                        for a in range(n_features):
                            if orthant[k, a] != 0:
                                pulled = ZERO
                                for j in range(n_features):
                                    pulled += basis[a, j] * image[j]
                                product[k, a] = pulled
                curved = 0.0
                for k in range(n_rows):
                    for j in range(n_features):
                        curved += direction[k, j] * product[k, j]
                if not curved > 0:
                    break
                ahead, new_along = np.float32(along / curved), 0.0
                for k in range(n_rows):
                    for j in range(n_features):
                        solution[k, j] += ahead * direction[k, j]
                        residual[k, j] -= ahead * product[k, j]
                        new_along += residual[k, j] * residual[k, j] / metric[k, j]
                promised += along * ahead
                share, along = np.float32(new_along / along), new_along
                if new_along <= CG_TOL * CG_TOL * first_along:
                    break
                for k in range(n_rows):
                    for j in range(n_features):
                        direction[k, j] = residual[k, j] / metric[k, j] + share * direction[k, j]

        values[u] = value
        for j in range(n_features):
            step[u, j] = at[0, j]
        for k in range(1, n_rows):
            for j in range(n_features):
                own[active_starts[u] + k - 1, j] = at[k, j]
        for i in range(n):
            exps[place[i]] = exp[i]
