"""Newton-CG steps of users on the row surrogate; import only where numba is installed.

The formulas are those of :mod:`skmtc.optimize.prox_newton._rows`. With nu the weights of a user and
b_k the own weights of its k-th active playlist, w_0 = nu and w_k = nu + b_k, the surrogate is

    user_l2 |nu - mu|^2 + sum_k (Z_k(w_k) + playlist_l1 |b_k|_1) + sum_i c_i exp(-push w.x_i) / push

    Z_k(w_k + d) = exp(log Z_k + m_k.d + scale_k / 2 sum_j eigenvalue_j d_j^2)

over the rows k and the songs i in the user's playlists. nu and d are in the eigenbasis, b_k in the
basis of the features. A user's songs are gathered to a block that stays in the cache, so that a
product with the user's Hessian reads nothing else.

Arrays go to the parts in tuples: `user` (songs, their factors, where the songs of each row begin,
numbers of the rows), `model` (of Z), `penalties`, and `state` (what derivatives are made of).
"""

from typing import Any

import numpy as np
from numba import float32, float64, int32, int64, njit, void

from skmtc._kernels.user_step import OPTIONS, compile_part

# Conjugate gradients stop at this share of the first residual: what is left after it is less than
# what the surrogate is wrong by.
CG_TOL, CG_STEPS = np.float32(0.1), 12
# A user whose step is still too long at 0.4^6 = 0.004 takes a diagonal step instead.
BACKTRACK, MAX_BACKTRACKS = np.float32(0.4), 6
SUFFICIENT_DECREASE = 1e-4
# A Newton step that gains less than this share of the value is the last one.
NEGLIGIBLE = 1e-7
# Largest number of diagonal steps of a user, each taken if the line search finds no decrease.
MAX_DIAGONAL_STEPS = 3
# Exponents are clipped here, where exp is still finite in single precision; a step that reaches it
# is rejected by its value.
LARGEST_EXPONENT = np.float32(60.0)
ZERO, HALF, ONE, TWO = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2)
# Curvature that is added for own weights whose feature is constant.
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


@compile_part
def _gather(u: Any, layout: Any, n_users: Any, held: Any, user: Any, place: Any) -> Any:
    """Gather a user's songs, those of playlists without own weights first; count its rows."""
    starts, row_of, active_starts, pull = layout
    features, indptr, indices = held
    songs, factor, begin, rows = user
    n_rows, n = 1 + active_starts[u + 1] - active_starts[u], 0
    for k in range(n_rows):
        rows[k] = u if k == 0 else n_users + active_starts[u] + k - 1
        begin[k] = n
        for i in range(starts[u], starts[u + 1]):
            if row_of[i] == rows[k]:
                for entry in range(indptr[i], indptr[i + 1]):
                    for j in range(features.shape[1]):
                        songs[n, j] = features[indices[entry], j]
                    place[n], factor[n] = entry, pull[i]
                    n += 1
    begin[n_rows] = n
    return n_rows


@compile_part
def _evaluate(n_rows: Any, at: Any, user: Any, model: Any, penalties: Any, state: Any) -> Any:
    """Return the surrogate of a user; fill `state` with what derivatives are made of.

    That is the gradient of log Z of each row, Z of each row, and the exponential of each song.
    """
    songs, factor, begin, rows = user
    eigenvalues, _, basis, log_z, mean, scale, weights, own0 = model
    user_l2, playlist_l1, push, offset = penalties
    slope, height, exp, moved = state
    n_features = moved.size
    value, first_active = 0.0, len(log_z) - len(own0)
    for j in range(n_features):
        away = offset[rows[0], j] + at[0, j]
        value += user_l2 * away * away
    for k in range(n_rows):
        row = rows[k]
        # d = (nu - nu0) + V' (b - b0)
        for j in range(n_features):
            moved[j] = at[0, j]
        if k > 0:
            for a in range(n_features):
                change = at[k, a] - own0[row - first_active, a]
                value += playlist_l1 * abs(at[k, a])
                if change != 0:
                    for j in range(n_features):
                        moved[j] += change * basis[a, j]
        # log Z + m.d + d'A d / 2, A = scale * diag(eigenvalues)
        rise, stiff = log_z[row], scale[row]
        for j in range(n_features):
            image = stiff * eigenvalues[j] * moved[j]
            rise += (mean[row, j] + HALF * image) * moved[j]
            slope[k, j] = mean[row, j] + image
            moved[j] += weights[row, j]
        height[k] = np.exp(min(rise, LARGEST_EXPONENT))
        value += height[k]
        for i in range(begin[k], begin[k + 1]):
            score = ZERO
            for j in range(n_features):
                score += songs[i, j] * moved[j]
            exp[i] = factor[i] * np.exp(min(-push * score, LARGEST_EXPONENT))
            value += exp[i] / push
    return value


@compile_part
def _differentiate(
    n_rows: Any, at: Any, user: Any, model: Any, penalties: Any, state: Any, out: Any
) -> None:
    """Fill minus the gradient, the diagonal of the Hessian, and the orthants of own weights."""
    songs, _, begin, rows = user
    eigenvalues, variances, basis, _, _, scale, _, _ = model
    user_l2, playlist_l1, push, offset = penalties
    slope, height, exp, pull = state
    residual, metric, orthant, net = out
    n_features = pull.size
    for j in range(n_features):
        residual[0, j] = -TWO * user_l2 * (offset[rows[0], j] + at[0, j])
        metric[0, j] = TWO * user_l2
        orthant[0, j] = ZERO
    for k in range(n_rows):
        outer = height[k]
        stiff = outer * scale[rows[k]]
        # Gradient Z (m + A d) - sum_i e_i x_i, diagonal Z (A + s s') + push sum_i e_i x_i x_i'
        for j in range(n_features):
            pull[j] = ZERO
            metric[0, j] += stiff * eigenvalues[j] + outer * slope[k, j] * slope[k, j]
        inner = ZERO
        for i in range(begin[k], begin[k + 1]):
            force, curvature = exp[i], push * exp[i]
            inner += curvature
            for j in range(n_features):
                pull[j] += force * songs[i, j]
                metric[0, j] += curvature * songs[i, j] * songs[i, j]
        for j in range(n_features):
            residual[0, j] -= outer * slope[k, j] - pull[j]
        if k == 0:
            continue
        # Own weights move that are not zero, or whose gradient exceeds the penalty.
        for j in range(n_features):
            net[j] = outer * slope[k, j] - pull[j]
        for a in range(n_features):
            pulled = ZERO
            for j in range(n_features):
                pulled += basis[a, j] * net[j]
            sign = ZERO
            if at[k, a] != 0:
                sign = ONE if at[k, a] > 0 else -ONE
            elif abs(pulled) > playlist_l1:
                sign = -ONE if pulled > 0 else ONE
            orthant[k, a] = sign
            if sign == 0:  # most of them, which conjugate gradients do not move
                residual[k, a], metric[k, a] = ZERO, ONE
                continue
            residual[k, a] = -(pulled + playlist_l1 * sign)
            on_slope, on_songs = ZERO, ZERO
            for j in range(n_features):
                on_slope += basis[a, j] * slope[k, j]
                on_songs += basis[a, j] * pull[j]
            # Of its songs, the variance of a feature is taken for that of all songs.
            metric[k, a] = (stiff + inner) * variances[a] + outer * on_slope * on_slope + FLAT
            metric[k, a] += push * push * on_songs * on_songs / max(inner, FLAT)


@compile_part
def _multiply(
    n_rows: Any,
    direction: Any,
    orthant: Any,
    user: Any,
    model: Any,
    penalties: Any,
    state: Any,
    image: Any,
    product: Any,
) -> Any:
    """Multiply a direction by the Hessian; return direction' H direction."""
    songs, _, begin, rows = user
    eigenvalues, _, basis, _, _, scale, _, _ = model
    user_l2, _, push, _ = penalties
    slope, height, exp, moved = state
    n_features = moved.size
    for j in range(n_features):
        product[0, j] = TWO * user_l2 * direction[0, j]
    for k in range(n_rows):
        for j in range(n_features):
            moved[j] = direction[0, j]
        if k > 0:
            for a in range(n_features):
                if orthant[k, a] != 0:
                    for j in range(n_features):
                        moved[j] += direction[k, a] * basis[a, j]
        # Z (A + s s') d for the row, push e x x' d for each song
        outer, stiff, on_slope = height[k], scale[rows[k]], ZERO
        for j in range(n_features):
            on_slope += slope[k, j] * moved[j]
        for j in range(n_features):
            image[j] = outer * (stiff * eigenvalues[j] * moved[j] + on_slope * slope[k, j])
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
                pulled = ZERO
                if orthant[k, a] != 0:
                    for j in range(n_features):
                        pulled += basis[a, j] * image[j]
                product[k, a] = pulled
    curved = 0.0
    for k in range(n_rows):
        for j in range(n_features):
            curved += direction[k, j] * product[k, j]
    return curved


@compile_part
def _conjugate_gradients(
    n_rows: Any,
    user: Any,
    model: Any,
    penalties: Any,
    state: Any,
    slopes: Any,
    vectors: Any,
    solution: Any,
) -> Any:
    """Solve H s = -g over the user's and the moving own weights.

    `solution` holds the preconditioned gradient. Returns |g's|; H is positive.
    """
    # Preconditioned conjugate gradients with M = diag(H): s += a p, r -= a H p, p = M^-1 r + b p
    # with a = r'M^-1 r / p'Hp and b the ratio of the new r'M^-1 r to the old.
    residual, metric, orthant, _ = slopes
    direction, product, image = vectors
    n_features = image.size
    along: Any = 0.0
    predicted: Any = 0.0
    for k in range(n_rows):
        for j in range(n_features):
            direction[k, j] = solution[k, j]
            along += residual[k, j] * solution[k, j]
            solution[k, j] = ZERO
    first_along = along
    for _ in range(CG_STEPS):
        curved = _multiply(
            n_rows, direction, orthant, user, model, penalties, state, image, product
        )
        if not curved > 0:
            break
        ahead, new_along = np.float32(along / curved), 0.0
        for k in range(n_rows):
            for j in range(n_features):
                solution[k, j] += ahead * direction[k, j]
                residual[k, j] -= ahead * product[k, j]
                new_along += residual[k, j] * residual[k, j] / metric[k, j]
        predicted += along * ahead
        share, along = np.float32(new_along / along), new_along
        if new_along <= CG_TOL * CG_TOL * first_along:
            break
        for k in range(n_rows):
            for j in range(n_features):
                direction[k, j] = residual[k, j] / metric[k, j] + share * direction[k, j]
    return predicted


@compile_part
def _search(
    n_rows: Any,
    at: Any,
    solution: Any,
    predicted: Any,
    value: Any,
    orthant: Any,
    user: Any,
    model: Any,
    penalties: Any,
    state: Any,
    tried: Any,
) -> Any:
    """Backtrack along a direction, within the orthant of own weights.

    Returns how much lower the surrogate is; with 0, `at` and `state` are as before.
    """
    new_at, new_slope, new_height, new_exp = tried
    slope, height, exp, moved = state
    size = ONE
    for _ in range(MAX_BACKTRACKS):
        for k in range(n_rows):
            for j in range(moved.size):
                new_at[k, j] = at[k, j] + size * solution[k, j]
                if new_at[k, j] * orthant[k, j] < 0:
                    new_at[k, j] = ZERO
        # f(x + size s) <= f(x) - c size |g's|
        new_value = _evaluate(
            n_rows, new_at, user, model, penalties, (new_slope, new_height, new_exp, moved)
        )
        if new_value <= value - SUFFICIENT_DECREASE * size * predicted:
            for k in range(n_rows):
                height[k] = new_height[k]
                for j in range(moved.size):
                    at[k, j], slope[k, j] = new_at[k, j], new_slope[k, j]
            for i in range(user[2][n_rows]):
                exp[i] = new_exp[i]
            return value - new_value
        size *= BACKTRACK
    return 0.0


@compile_part
def _precondition(n_rows: Any, slopes: Any, solution: Any) -> Any:
    """Fill the step of the diagonal of the Hessian; return |g's|."""
    residual, metric, _, _ = slopes
    along = 0.0
    for k in range(n_rows):
        for j in range(solution.shape[1]):
            solution[k, j] = residual[k, j] / metric[k, j]
            along += residual[k, j] * solution[k, j]
    return along


@compile_part
def _minimise(
    n_rows: Any,
    n_newton: Any,
    at: Any,
    user: Any,
    model: Any,
    penalties: Any,
    state: Any,
    slopes: Any,
    vectors: Any,
    solution: Any,
    tried: Any,
) -> Any:
    """Take Newton steps of one user; return its surrogate."""
    value = _evaluate(n_rows, at, user, model, penalties, state)
    taken, n_diagonal, by_diagonal = 0, 0, False
    while taken < n_newton:
        # 1. Gradient, and the diagonal of the Hessian as the metric of conjugate gradients.
        _differentiate(n_rows, at, user, model, penalties, state, slopes)
        predicted = _precondition(n_rows, slopes, solution)
        if not predicted > NEGLIGIBLE * value:
            break
        # 2. Newton direction, by conjugate gradients.
        if not by_diagonal:
            predicted = _conjugate_gradients(
                n_rows, user, model, penalties, state, slopes, vectors, solution
            )
            taken += 1
        # 3. Line search along it, within the orthant of own weights.
        fell = _search(
            n_rows, at, solution, predicted, value, slopes[2], user, model, penalties, state, tried
        )
        value -= fell
        # 4. If own weights that would leave their orthant spoil the direction, a diagonal step
        #    finds which of them are zero; then try a Newton step again.
        if not by_diagonal and fell <= 0 and n_diagonal < MAX_DIAGONAL_STEPS:
            by_diagonal, taken, n_diagonal = True, taken - 1, n_diagonal + 1
            continue
        by_diagonal = False
        if fell <= NEGLIGIBLE * value:
            break
    return value


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
    # Row 0 of all these is the user's, in the eigenbasis; row k the k-th active playlist's, whose
    # own weights are in the basis of the features.
    room = np.zeros((10, most_rows, n_features), np.float32)
    at, solution = room[0], room[1]
    heights, exponentials = (
        np.empty((2, most_rows), np.float32),
        np.empty((2, most_songs), np.float32),
    )
    scratch = np.empty((3, n_features), np.float32)
    place = np.empty(most_songs, np.int64)
    user = (
        np.empty((most_songs, n_features), np.float32),
        np.empty(most_songs, np.float32),
        np.empty(most_rows + 1, np.int64),
        np.empty(most_rows, np.int64),
    )
    layout, held = (starts, row_of, active_starts, pull), (features, indptr, indices)
    model = (eigenvalues, variances, basis, log_z, mean, scale, weights, own0)
    penalties = (user_l2, playlist_l1, push, offset)
    state = (room[2], heights[0], exponentials[0], scratch[0])
    tried = (room[3], room[4], heights[1], exponentials[1])
    slopes = (room[5], room[6], room[7], scratch[2])
    vectors = (room[8], room[9], scratch[1])
    for u in range(first, last):
        n_rows = _gather(u, layout, n_users, held, user, place)
        for j in range(n_features):
            at[0, j] = step[u, j]
            for k in range(1, n_rows):
                at[k, j] = own[active_starts[u] + k - 1, j]
        values[u] = _minimise(
            n_rows, n_newton, at, user, model, penalties, state, slopes, vectors, solution, tried
        )
        for j in range(n_features):
            step[u, j] = at[0, j]
            for k in range(1, n_rows):
                own[active_starts[u] + k - 1, j] = at[k, j]
        for i in range(user[2][n_rows]):
            exps[place[i]] = exponentials[0, i]
