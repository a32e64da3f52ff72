"""One sweep over a block of whole users: the surrogate's minimum with the shared weights fixed."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skmtc._kernels.step_rules import (
    BACKTRACK,
    MAX_BACKTRACKS,
    METRIC_LIFE,
    METRIC_SAFETY,
    POWER_STEPS,
    SHORTEST_STEP,
)
from skmtc.optimize._arrays import row_dots
from skmtc.optimize.prox_newton._problem import Penalties, Totals, Users, between, user_values
from skmtc.optimize.prox_newton._surrogate import BlockSurrogate, SurrogateValue

Array = NDArray[np.floating[Any]]


class End(NamedTuple):
    """Where a sweep over some users ended.

    Attributes
    ----------
    totals : Totals
        The users' weights.

    gains : ndarray of shape (n_users,)
        How much lower the surrogate of each user is.

    damping : ndarray of shape (n_playlists,)
        Factors of the metric for the next time.

    converged : ndarray of shape (n_users,)
        Whether steps had become short when they ended. Otherwise there was more to gain.
    """

    totals: Totals
    gains: NDArray[np.float64]
    damping: Array
    converged: NDArray[np.bool_]


def sweep_users(
    surrogate: BlockSurrogate,
    start: Totals,
    shared: Array,
    users: Users,
    penalties: Penalties,
    damping: Array,
    *,
    n_steps: int,
    negligible: float = 0.0,
) -> "End":
    """Minimise the surrogate over the totals of all users of a block.

    Accelerated proximal gradient steps in the diagonal metric of each playlist's Hessian, with the
    exact proximal step of both penalties and restarts of the momentum user by user. A user whose
    value did not fall is backtracked towards the start.

    1. Estimate how much larger curvature is along some direction than along the features.
    2. Take accelerated proximal gradient steps.
    3. Backtrack users whose value rose.

    Parameters
    ----------
    surrogate : BlockSurrogate
        What to minimise.

    start : Totals
        Where to start.

    shared : ndarray of shape (n_features,)
        Shared weights.

    users : Users
        The users of the block.

    penalties : Penalties
        Penalties.

    damping : ndarray of shape (n_playlists,)
        Factors of the metric, larger where earlier sweeps went too far.

    n_steps : int
        Most steps.

    negligible : float, default=0.0
        Squared length, relative to the value, of steps that are not worth going on.

    Returns
    -------
    end : End
        Where it ended.
    """
    at = surrogate.evaluate(start.playlist)
    before = user_values(at.value, start, shared, users, penalties)
    # 1. The metric must bound the Hessian: D^-1/2 H D^-1/2 <= curvature, D the diagonal of H.
    curvature = _top_curvature(surrogate, at)
    # 2. Steps in the metric curvature * damping * D.
    end, converged = _accelerate(
        surrogate,
        start,
        at,
        shared,
        users,
        penalties,
        curvature * damping,
        n_steps=n_steps,
        shortest=negligible * before,
    )
    # 3. Keep what lowers the surrogate.
    kept = _keep_descent(surrogate, start, end, before, shared, users, penalties, damping)
    return End(*kept, converged)


def _top_curvature(surrogate: BlockSurrogate, at: SurrogateValue) -> Array:
    """Estimate the largest eigenvalue of each Hessian relative to its diagonal."""
    root = np.sqrt(_positive(surrogate.hessian_diagonal(at)))
    # Power iterations on D^-1/2 H D^-1/2, started near the slope of the largest rank-one part.
    factor, vectors = at.slopes[0]
    direction = vectors / root
    direction += 1.0
    top = np.ones(len(factor), dtype=root.dtype)
    for _ in range(POWER_STEPS):
        direction /= np.maximum(np.sqrt(row_dots(direction, direction)), 1e-30)[:, None]
        product = surrogate.hessian_product(at, direction / root) / root
        top = row_dots(product, direction)
        direction = product
    return np.asarray(np.nan_to_num(np.maximum(top, 1.0), nan=1.0, posinf=1.0))


def _positive(diagonal: Array) -> Array:
    """Bound the diagonal away from zero, where a feature is constant or rounding cancels it."""
    floor = 1e-7 * np.max(diagonal, axis=1, keepdims=True, initial=1e-30)
    return np.asarray(np.maximum(diagonal, floor))


def _accelerate(
    surrogate: BlockSurrogate,
    start: Totals,
    at: SurrogateValue,
    shared: Array,
    users: Users,
    penalties: Penalties,
    curvature: Array,
    *,
    n_steps: int,
    shortest: NDArray[np.float64],
) -> tuple[Totals, NDArray[np.bool_]]:
    """Take steps until those of every user are short; also return whose are."""
    dtype = start.playlist.dtype
    user_l2, playlist_l1 = dtype.type(penalties.user_l2), dtype.type(penalties.playlist_l1)
    playlist, user = start
    point = playlist  # where the gradient is taken: the playlist weights, moved on by momentum
    momentum = np.ones(len(users.counts), dtype=dtype)
    metric = np.empty_like(playlist)
    converged = np.zeros(len(users.counts), dtype=bool)
    for step in range(n_steps):
        if step:
            at = surrogate.evaluate(point)
        # T = safety * curvature * diag(H), the weights of squared distances
        if step % METRIC_LIFE == 0:
            diagonal = _positive(surrogate.hessian_diagonal(at))
            metric = METRIC_SAFETY * curvature[:, None] * diagonal
        # min over v, w of sum_i |w_i - target_i|^2_T / 2 + l1 |w_i - v|_1 + user_l2 |v - shared|^2:
        # first the user's v, by Newton steps from the last one, then the playlists' w_i given v
        target = point - at.gradient / metric
        user = user_totals(
            user,
            target,
            metric,
            shared,
            users.starts,
            users.counts,
            user_l2=user_l2,
            playlist_l1=playlist_l1,
            n_steps=1 if step else 3,
        )
        new = playlist_totals(user, target, metric, users.counts, playlist_l1=playlist_l1)
        moved = new - playlist
        slope = point - new
        # |point - new|^2_T, about twice the decrease of the step
        length = users.sum(np.einsum("nd,nd,nd->n", metric, slope, slope))
        if step == 0:
            shortest = np.maximum(SHORTEST_STEP * length, shortest)
        # point = new + (t - 1) / t_next (new - old)
        momentum, push_on = _momentum(momentum, slope, moved, metric, users)
        point = new + users.spread(push_on)[:, None] * moved
        playlist = new
        converged = length <= shortest
        if converged.all():
            break
    return Totals(playlist, user), converged


def _momentum(
    momentum: Array, slope: Array, moved: Array, metric: Array, users: Users
) -> tuple[Array, Array]:
    """Return the momentum of each user and the factor of its extrapolation.

    Momentum restarts for a user whose last step points against the gradient step.
    """
    # t_next = (1 + sqrt(1 + 4 t^2)) / 2, as in FISTA; t restarts at 1
    turned = np.einsum("nd,nd,nd->n", metric, slope, moved)
    kept = np.where(users.sum(turned) > 0, 1.0, momentum).astype(momentum.dtype)
    grown = (0.5 * (1.0 + np.sqrt(1.0 + 4.0 * kept**2))).astype(momentum.dtype)
    return grown, (kept - 1.0) / grown


def _keep_descent(
    surrogate: BlockSurrogate,
    start: Totals,
    end: Totals,
    before: NDArray[np.float64],
    shared: Array,
    users: Users,
    penalties: Penalties,
    damping: Array,
) -> tuple[Totals, NDArray[np.float64], Array]:
    """Backtrack users whose value rose, and damp them more in the next sweep."""
    share = np.ones(len(before), dtype=start.user.dtype)
    backtracked = np.zeros(len(before), dtype=bool)
    totals = end
    for attempt in range(MAX_BACKTRACKS + 1):
        values = user_values(
            surrogate.evaluate(totals.playlist).value, totals, shared, users, penalties
        )
        rose = ~(values <= before)  # NaN rose, too
        if not rose.any():
            break
        backtracked |= rose
        share[rose] = share[rose] * BACKTRACK if attempt < MAX_BACKTRACKS else 0.0
        totals = between(start, end, share, users)
    else:
        values = np.where(rose, before, values)
    # A user that was backtracked takes shorter steps next time; others return to the estimate.
    new_damping = np.where(users.spread(backtracked), 1.5 * damping, np.maximum(0.8 * damping, 1.0))
    return totals, np.asarray(before - values), new_damping.astype(damping.dtype)


def user_totals(
    totals: Array,
    targets: Array,
    metric: Array,
    shared: Array,
    starts: NDArray[np.intp],
    counts: NDArray[np.intp],
    *,
    user_l2: np.floating[Any],
    playlist_l1: np.floating[Any],
    n_steps: int,
) -> Array:
    """Improve the user totals of a proximal step by safeguarded semismooth Newton steps.

    The root is that of h(v) = 2 user_l2 (v - shared) - sum_i clip(T_i (target_i - v), +-l1). The
    slope is one third of its generalised derivative and two thirds of that of a quadratic
    majoriser: near the root these are Newton steps, and never more than 1.5 times a step that
    is safe; 2 times could cycle.

    Parameters
    ----------
    totals : ndarray of shape (n_users, n_features)
        Where to start.

    targets, metric : ndarray of shape (n_playlists, n_features)
        Targets of the playlists and the weights of their squared distances.

    shared : ndarray of shape (n_features,)
        Shared weights.

    starts, counts : ndarray of shape (n_users,)
        First playlist and number of playlists of each user.

    user_l2, playlist_l1 : float
        Penalties.

    n_steps : int
        Number of Newton steps.

    Returns
    -------
    totals : ndarray of shape (n_users, n_features)
        Better totals.
    """
    for _ in range(n_steps):
        pull = targets - np.repeat(totals, counts, axis=0)
        pull *= metric
        clipped = np.clip(pull, -playlist_l1, playlist_l1)
        # T where the pull is not clipped; l1 / |target - v|, the majoriser's slope, where it is.
        inside = np.abs(pull, out=pull) <= playlist_l1
        np.maximum(pull, playlist_l1, out=pull)
        majoriser = np.divide(playlist_l1, pull, out=pull) * metric if playlist_l1 > 0 else pull * 0
        slope = (2 * majoriser + inside * metric) / 3
        force = 2 * user_l2 * (totals - shared) - np.add.reduceat(clipped, starts, axis=0)
        stiffness = 2 * user_l2 + np.add.reduceat(slope, starts, axis=0)
        # Without penalties force and stiffness are 0, and totals do not change.
        totals = totals - force / np.maximum(stiffness, 1e-30)
    return totals


def playlist_totals(
    totals: Array,
    targets: Array,
    metric: Array,
    counts: NDArray[np.intp],
    *,
    playlist_l1: np.floating[Any],
) -> Array:
    """Return the playlists' part of the step for given user totals."""
    # w = v + soft_threshold(target - v, l1 / T)
    spread = np.repeat(totals, counts, axis=0)
    threshold = playlist_l1 / metric
    away = targets - spread
    away -= np.clip(away, -threshold, threshold)
    return np.asarray(spread + away)
