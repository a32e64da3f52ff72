"""The sweep over users, one user at a time; import only where numba is installed.

The formulas are those of `_user_step` and `_surrogate`. There, whole blocks of
users take each step together; here, a user takes all steps alone, so that everything that a step
needs stays in the fastest cache, and a user who has converged stops.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from skmtc._kernels.step_rules import (
    BACKTRACK,
    MAX_BACKTRACKS,
    METRIC_LIFE,
    METRIC_SAFETY,
    POWER_STEPS,
    SHORTEST_STEP,
)

# NaN and infinity keep their meaning: a step that overflows is found by its value.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}
# Only `sweep` is called from Python; the others have no Python entry point. They are inlined, as
# otherwise a process that has just compiled them would run other code than one that loads `sweep`
# from the cache, and round differently.
compile_part: Any = njit(
    **OPTIONS | {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
)


@compile_part
def _dot(left: Any, right: Any) -> Any:
    total = left.dtype.type(0)
    for d in range(left.size):
        total += left[d] * right[d]
    return total


@compile_part
def _copy(source: Any, out: Any) -> None:
    # Assigning to a slice would do the same, and take numba seconds to compile.
    for i in range(len(source)):
        for d in range(source.shape[1]):
            out[i, d] = source[i, d]


@compile_part
def _multiply_log_hessian(expansion: Any, i: int, direction: Any, out: Any) -> None:
    """Multiply a direction by the modelled Hessian A of log Z of playlist i."""
    _, _, _, scale, removed, added, covariance, _ = expansion
    n_features = direction.size
    # C d
    for b in range(n_features):
        out[b] = 0
    whole = n_features - n_features % 4
    for a in range(0, whole, 4):  # four rows at a time: fewer loads and stores of `out`
        s0, s1, s2, s3 = direction[a], direction[a + 1], direction[a + 2], direction[a + 3]
        for b in range(n_features):
            out[b] += (
                s0 * covariance[a, b]
                + s1 * covariance[a + 1, b]
                + s2 * covariance[a + 2, b]
                + s3 * covariance[a + 3, b]
            )
    for a in range(whole, n_features):
        for b in range(n_features):
            out[b] += direction[a] * covariance[a, b]
    # A d = tau C d - p (p.d) + q (q.d); without a pair, tau C d
    lost, gained = out.dtype.type(0), out.dtype.type(0)
    if len(removed):
        lost, gained = _dot(removed[i], direction), _dot(added[i], direction)
        for b in range(n_features):
            out[b] = scale[i] * out[b] - lost * removed[i, b] + gained * added[i, b]
    else:
        for b in range(n_features):
            out[b] *= scale[i]


@compile_part
def _soft_minimum(
    songs: Any, features: Any, weights: Any, push: Any, shares: Any, mean: Any
) -> Any:
    """Weight the songs of a playlist by exp(-push * score); return the logarithm of the sum."""
    # log sum_k exp(-push w.x_k), shifted by its largest term
    highest = -np.inf
    for k in range(songs.size):
        shares[k] = -push * _dot(weights, features[songs[k]])
        highest = max(highest, shares[k])
    total = shares.dtype.type(0)
    for k in range(songs.size):
        shares[k] = np.exp(shares[k] - shares.dtype.type(highest))
        total += shares[k]
    for d in range(mean.size):
        mean[d] = 0
    for k in range(songs.size):
        shares[k] /= total
        row = features[songs[k]]
        for d in range(mean.size):
            mean[d] += shares[k] * row[d]
    return highest + np.log(total)


@compile_part
def _evaluate(
    problem: Any, expansion: Any, i: int, weights: Any, gradient: Any, shares: Any, vectors: Any
) -> Any:
    """Evaluate the surrogate of playlist i at some weights.

    `gradient`, `shares` and `vectors` (slope of log Z, or of the whole logarithm of a ranking
    loss; mean of the songs; scratch) are filled. Returns the value, and the factors of the Hessian.
    """
    features, indptr, indices, push, is_ranking = problem
    centre, log_negative, mean, log_weight = expansion[0], expansion[1], expansion[2], expansion[7]
    slope, inside, step = vectors[0], vectors[1], vectors[2]
    songs = indices[indptr[i] : indptr[i + 1]]
    # log Z = log Z_0 + m.d + d'Ad / 2, with the gradient m + A d
    half = gradient.dtype.type(0.5)
    for d in range(step.size):
        step[d] = weights[d] - centre[i, d]
    _multiply_log_hessian(expansion, i, step, slope)
    rise = gradient.dtype.type(0)
    for d in range(step.size):
        rise += (half * slope[d] + mean[i, d]) * step[d]
        slope[d] += mean[i, d]
    log_sum = _soft_minimum(songs, features, weights, push, shares, inside)
    log_outside = log_negative[i] + rise
    kind = gradient.dtype.type
    if is_ranking:
        # phi = exp(log Z + log(sum_k exp(-push w.x_k)) / push), grad phi = phi (slope - mean(x))
        loss = np.exp(log_outside + log_sum / push)
        factor = kind(loss)
        for d in range(step.size):
            slope[d] -= inside[d]
            gradient[d] = factor * slope[d]
        return loss, factor, push * factor
    # phi = Z + v / (push M+) sum_k exp(-push w.x_k) = Z + P / push, grad phi = Z slope - P mean(x)
    negative, positive = np.exp(log_outside), np.exp(log_sum + log_weight[i] - np.log(songs.size))
    outer, inner = kind(negative), kind(positive)
    for d in range(step.size):
        gradient[d] = outer * slope[d] - inner * inside[d]
    return negative + positive / push, outer, push * inner


@compile_part
def _diagonal(
    problem: Any,
    expansion: Any,
    i: int,
    outer: Any,
    inner: Any,
    shares: Any,
    vectors: Any,
    diagonal: Any,
) -> None:
    """Fill the diagonal of playlist i's Hessian, bounded away from zero."""
    features, indptr, indices, _, is_ranking = problem
    _, _, _, scale, removed, added, covariance, _ = expansion
    slope, inside = vectors[0], vectors[1]
    songs = indices[indptr[i] : indptr[i + 1]]
    # outer (tau diag(C) - p^2 + q^2 + slope^2) + inner (mean(x^2) - mean(x)^2 if ranking)
    for d in range(diagonal.size):
        diagonal[d] = scale[i] * covariance[d, d] + slope[d] * slope[d]
    if len(removed):
        for d in range(diagonal.size):
            diagonal[d] += added[i, d] * added[i, d] - removed[i, d] * removed[i, d]
    for d in range(diagonal.size):
        diagonal[d] *= outer
        if is_ranking:
            diagonal[d] -= inner * inside[d] * inside[d]
    for k in range(songs.size):
        row, weight = features[songs[k]], inner * shares[k]
        for d in range(diagonal.size):
            diagonal[d] += weight * row[d] * row[d]
    # The diagonal is 0 where a feature is constant, or where rounding cancels it.
    largest = diagonal.dtype.type(1e-30)
    for d in range(diagonal.size):
        largest = max(largest, diagonal[d])
    floor = diagonal.dtype.type(1e-7) * largest
    for d in range(diagonal.size):
        diagonal[d] = max(diagonal[d], floor)


@compile_part
def _top_curvature(
    problem: Any,
    expansion: Any,
    i: int,
    outer: Any,
    inner: Any,
    shares: Any,
    vectors: Any,
    diagonal: Any,
) -> Any:
    """Estimate the largest eigenvalue of playlist i's Hessian relative to its diagonal."""
    features, indptr, indices, _, is_ranking = problem
    slope, inside, along, direction, product = (
        vectors[0],
        vectors[1],
        vectors[2],
        vectors[3],
        vectors[4],
    )
    songs = indices[indptr[i] : indptr[i + 1]]
    kind = diagonal.dtype.type
    # Power iterations on D^-1/2 H D^-1/2, started near the slope of the largest rank-one part.
    for d in range(direction.size):
        direction[d] = slope[d] / np.sqrt(diagonal[d]) + kind(1)
    top = kind(1)
    for _ in range(POWER_STEPS):
        length = max(np.sqrt(_dot(direction, direction)), kind(1e-30))
        for d in range(direction.size):
            direction[d] /= length
            along[d] = direction[d] / np.sqrt(diagonal[d])
        _multiply_log_hessian(expansion, i, along, product)
        # H a = outer (A a + slope (slope.a)) + inner mean(x (x.a)), and for a ranking loss
        # - inner mean(x) (mean(x).a)
        on_slope, on_inside = outer * _dot(slope, along), kind(0)
        if is_ranking:
            on_inside = inner * _dot(inside, along)
        for d in range(direction.size):
            product[d] = outer * product[d] + on_slope * slope[d] - on_inside * inside[d]
        for k in range(songs.size):
            row = features[songs[k]]
            weight = inner * shares[k] * _dot(along, row)
            for d in range(direction.size):
                product[d] += weight * row[d]
        for d in range(direction.size):
            product[d] /= np.sqrt(diagonal[d])
        top = _dot(product, direction)
        for d in range(direction.size):
            direction[d] = product[d]
    return max(top, kind(1)) if np.isfinite(top) else kind(1)


@compile_part
def _move_user(user: Any, target: Any, metric: Any, penalties: Any, forces: Any) -> None:
    """Take one Newton step of the user's totals in the proximal step."""
    shared, user_l2, playlist_l1 = penalties
    force, stiffness = forces[0], forces[1]
    kind = user.dtype.type
    two, third = kind(2), kind(1) / kind(3)
    # h(v) = 2 user_l2 (v - shared) - sum_i clip(T_i (target_i - v), +-l1), whose root is wanted
    for d in range(user.size):
        force[d] = two * user_l2 * (user[d] - shared[d])
        stiffness[d] = two * user_l2
    for i in range(len(target)):
        for d in range(user.size):
            pull = (target[i, d] - user[d]) * metric[i, d]
            size = abs(pull)
            force[d] -= min(max(pull, -playlist_l1), playlist_l1)
            # Two thirds of a majoriser's slope and one of h's: see `user_totals` in `_user_step`.
            held = playlist_l1 / max(size, playlist_l1) if playlist_l1 > 0 else kind(0)
            newton = kind(1) if size <= playlist_l1 else kind(0)
            stiffness[d] += third * (two * held + newton) * metric[i, d]
    for d in range(user.size):
        user[d] -= force[d] / max(stiffness[d], kind(1e-30))


@compile_part
def _move_playlists(
    user: Any, target: Any, metric: Any, playlist_l1: Any, point: Any, playlists: Any, new: Any
) -> Any:
    """Fill the playlists' part of a proximal step in `new`.

    Returns its squared length without momentum, and a number above 0 if it points against the last
    step, so that momentum restarts.
    """
    length, turned = user.dtype.type(0), user.dtype.type(0)
    for i in range(len(target)):
        for d in range(user.size):
            # w = v + soft_threshold(target - v, l1 / T)
            threshold = playlist_l1 / metric[i, d]
            away = target[i, d] - user[d]
            new[i, d] = user[d] + (away - min(max(away, -threshold), threshold))
            slope = point[i, d] - new[i, d]
            length += metric[i, d] * slope * slope
            turned += metric[i, d] * slope * (new[i, d] - playlists[i, d])
    return length, turned


@compile_part
def _penalty(playlists: Any, user: Any, penalties: Any) -> Any:
    # l1 sum_i |w_i - v|_1 + user_l2 |v - shared|^2
    shared, user_l2, playlist_l1 = penalties
    distance, square = 0.0, 0.0
    for i in range(len(playlists)):
        for d in range(user.size):
            distance += abs(playlists[i, d] - user[d])
    for d in range(user.size):
        square += (user[d] - shared[d]) ** 2
    return playlist_l1 * distance + user_l2 * square


@compile_part
def _sweep_user(
    problem: Any,
    expansion: Any,
    first: int,
    start: Any,
    start_user: Any,
    penalties: Any,
    damping: Any,
    n_steps: int,
    negligible: float,
    room: Any,
    vectors: Any,
    shares: Any,
    curvature: Any,
) -> Any:
    """Minimise the surrogate of one user, in place.

    1. Evaluate the surrogate where momentum led, and make a target for each playlist.
    2. Take the proximal step: the user's totals, then the playlists' given these.
    3. Move on by momentum, which restarts where the path turns.
    4. Stop when steps are short.
    5. Backtrack if the value rose.

    Returns how much lower it is, and whether steps had become short when they ended.
    """
    n, n_features = start.shape
    point, playlists, new, metric = room[0, :n], room[1, :n], room[2, :n], room[3, :n]
    gradient = room[4, :n]
    user = vectors[5]
    kind = start.dtype.type
    _copy(start, playlists)
    _copy(start, point)
    for d in range(n_features):
        user[d] = start_user[d]
    before = _penalty(start, start_user, penalties)
    momentum, first_length = kind(1), kind(0)
    converged = False
    for step in range(n_steps):
        # 1. target = point - gradient / T, T = safety * curvature * damping * diag(H)
        for i in range(n):
            value, outer, inner = _evaluate(
                problem, expansion, first + i, point[i], gradient[i], shares, vectors
            )
            if step == 0:
                before += value
            if step % METRIC_LIFE == 0:
                _diagonal(problem, expansion, first + i, outer, inner, shares, vectors, metric[i])
                if step == 0:
                    curvature[i] = damping[i] * _top_curvature(
                        problem, expansion, first + i, outer, inner, shares, vectors, metric[i]
                    )
                for d in range(n_features):
                    metric[i, d] *= kind(METRIC_SAFETY) * curvature[i]
            for d in range(n_features):  # the gradient becomes the target
                gradient[i, d] = point[i, d] - gradient[i, d] / metric[i, d]
        # 2. min over v and w_i of sum_i |w_i - target_i|^2_T / 2 plus the penalties: l1 |w_i - v|_1
        #    and user_l2 |v - shared|^2
        for _ in range(1 if step else 3):  # the first step starts farther from the root
            _move_user(user, gradient, metric, penalties, vectors[6:8])
        length, turned = _move_playlists(
            user, gradient, metric, penalties[2], point, playlists, new
        )
        if step == 0:
            first_length = length
        # 3. t_next = (1 + sqrt(1 + 4 t^2)) / 2, point = new + (t - 1) / t_next (new - old)
        if turned > 0:
            momentum = kind(1)
        grown = kind(0.5) * (kind(1) + np.sqrt(kind(1) + kind(4) * momentum * momentum))
        push_on = (momentum - kind(1)) / grown
        momentum = grown
        for i in range(n):
            for d in range(n_features):
                point[i, d] = new[i, d] + push_on * (new[i, d] - playlists[i, d])
                playlists[i, d] = new[i, d]
        # 4. A step gains about half its squared length.
        converged = length <= max(kind(SHORTEST_STEP) * first_length, negligible * before)
        if converged:
            break
    # 5. Accelerated steps may raise the value.
    end, room = (playlists, user), (point, gradient, vectors, shares)
    gain = _keep_descent(
        problem, expansion, first, start, start_user, end, before, penalties, damping, room
    )
    return gain, converged


@compile_part
def _keep_descent(
    problem: Any,
    expansion: Any,
    first: int,
    start: Any,
    start_user: Any,
    end: Any,
    before: float,
    penalties: Any,
    damping: Any,
    room: Any,
) -> Any:
    """Backtrack a user whose value rose, and damp it more in the next sweep."""
    end_playlists, end_user = end
    tried, gradient, vectors, shares = room
    n = len(start)
    kind = start.dtype.type
    tried_user = vectors[8]
    _copy(end_playlists, tried)
    for d in range(tried_user.size):
        tried_user[d] = end_user[d]
    share = kind(1)
    gain, backtracked = 0.0, False
    for _ in range(MAX_BACKTRACKS + 1):
        value = _penalty(tried, tried_user, penalties)
        for i in range(n):
            value += _evaluate(
                problem, expansion, first + i, tried[i], gradient[i], shares, vectors
            )[0]
        if value <= before:
            gain = before - value
            _copy(tried, start)
            for d in range(tried_user.size):
                start_user[d] = tried_user[d]
            break
        backtracked = True
        share *= kind(BACKTRACK)
        for i in range(n):
            for d in range(tried_user.size):
                tried[i, d] = start[i, d] + share * (end_playlists[i, d] - start[i, d])
        for d in range(tried_user.size):
            tried_user[d] = start_user[d] + share * (end_user[d] - start_user[d])
    # Shorter steps next time for a user that was backtracked; others return to the estimate.
    for i in range(n):
        damping[i] = kind(1.5) * damping[i] if backtracked else max(kind(0.8) * damping[i], kind(1))
    return gain


@njit(cache=True, **OPTIONS)
def sweep(
    problem: Any,
    expansion: Any,
    starts: NDArray[np.intp],
    counts: NDArray[np.intp],
    playlists: Any,
    users: Any,
    penalties: Any,
    damping: Any,
    n_steps: int,
    negligible: float,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Minimise the surrogate over the totals of each user of a block, in place.

    Parameters
    ----------
    problem : tuple
        Song features, row pointers and songs of the block's playlists, the push, and whether the
        loss is a ranking loss.

    expansion : tuple
        The fields of :class:`Expansion`; arrays without rows stand for pairs not yet learned.

    starts, counts : ndarray of shape (n_users,)
        First playlist and number of playlists of each user.

    playlists, users : ndarray
        Totals, which are changed.

    penalties : tuple
        Shared weights, `user_l2` and `playlist_l1`.

    damping : ndarray of shape (n_playlists,)
        Factors of the metric, which are changed.

    n_steps : int
        Most steps of each user.

    negligible : float
        Squared length, relative to the value, of steps that are not worth going on.

    Returns
    -------
    gains : ndarray of shape (n_users,)
        How much lower the surrogate of each user is.

    converged : ndarray of shape (n_users,)
        Whether the user's steps had become short when they ended.
    """
    n_features = users.shape[1]
    indptr = problem[1]
    longest = 0
    for i in range(len(playlists)):
        longest = max(longest, indptr[i + 1] - indptr[i])
    most = 0
    for u in range(len(counts)):
        most = max(most, counts[u])
    room = np.empty((5, most, n_features), playlists.dtype)
    vectors = np.empty((9, n_features), playlists.dtype)
    shares = np.empty(longest, playlists.dtype)
    curvature = np.empty(most, playlists.dtype)
    gains, converged = np.empty(len(counts)), np.empty(len(counts), np.bool_)
    for u in range(len(counts)):
        rows = slice(starts[u], starts[u] + counts[u])
        gains[u], converged[u] = _sweep_user(
            problem,
            expansion,
            starts[u],
            playlists[rows],
            users[u],
            penalties,
            damping[rows],
            n_steps,
            negligible,
            room,
            vectors,
            shares,
            curvature,
        )
    return gains, converged
