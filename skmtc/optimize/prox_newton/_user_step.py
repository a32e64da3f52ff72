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
from skmtc.optimize.prox_newton._surrogate import BlockSurrogate, SurrogateValue
from skmtc.optimize.prox_newton._two_level import playlist_totals, user_totals

Array = NDArray[np.floating[Any]]


class Users(NamedTuple):
    """The users of a block, whose playlists stand one after the other.

    Attributes
    ----------
    starts, counts : ndarray of shape (n_users,)
        First playlist and number of playlists of each user.
    """

    starts: NDArray[np.intp]
    counts: NDArray[np.intp]

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over the playlists of each user."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat a value of each user for all the user's playlists."""
        return np.repeat(values, self.counts, axis=0)


class Penalties(NamedTuple):
    """The penalties of a sum over playlists."""

    user_l2: float
    playlist_l1: float
    shared_l1: float


class Totals(NamedTuple):
    """Weights of playlists and users, shared weights included.

    Attributes
    ----------
    playlist : ndarray of shape (n_playlists, n_features)
        Shared + user + playlist weights.

    user : ndarray of shape (n_users, n_features)
        Shared + user weights.
    """

    playlist: Array
    user: Array


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


def user_values(
    losses: Array, totals: Totals, shared: Array, users: Users, penalties: Penalties
) -> NDArray[np.float64]:
    """Return each user's part of the objective: losses, playlist l1 and user l2 penalty."""
    distance = np.abs(totals.playlist - users.spread(totals.user)).sum(axis=1, dtype=np.float64)
    off_shared = totals.user - shared
    return np.asarray(
        users.sum(losses.astype(np.float64) + penalties.playlist_l1 * distance)
        + penalties.user_l2 * np.einsum("ud,ud->u", off_shared, off_shared, dtype=np.float64)
    )


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
    value did not fall is moved back towards the start.

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
    curvature = _top_curvature(surrogate, at)
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
    kept = _keep_descent(surrogate, start, end, before, shared, users, penalties, damping)
    return End(*kept, converged)


def _top_curvature(surrogate: BlockSurrogate, at: SurrogateValue) -> Array:
    """Estimate the largest eigenvalue of each Hessian relative to its diagonal."""
    root = np.sqrt(_positive(surrogate.hessian_diagonal(at)))
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
    """Keep metrics away from zero, where a feature is constant or rounding took it all."""
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
    """Take steps until those of every user are short; say whose were."""
    dtype = start.playlist.dtype
    user_l2, playlist_l1 = dtype.type(penalties.user_l2), dtype.type(penalties.playlist_l1)
    playlist, user = start
    point = playlist
    momentum = np.ones(len(users.counts), dtype=dtype)
    metric = np.empty_like(playlist)
    converged = np.zeros(len(users.counts), dtype=bool)
    for step in range(n_steps):
        if step:
            at = surrogate.evaluate(point)
        if step % METRIC_LIFE == 0:
            diagonal = _positive(surrogate.hessian_diagonal(at))
            metric = METRIC_SAFETY * curvature[:, None] * diagonal
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
        length = users.sum(np.einsum("nd,nd,nd->n", metric, slope, slope))
        if step == 0:
            shortest = np.maximum(SHORTEST_STEP * length, shortest)
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
    """Return the momentum of each user and the extrapolation; restart where a user turned."""
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
    """Move users whose value rose back towards the start, and be more new_damping with them."""
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
    new_damping = np.where(users.spread(backtracked), 1.5 * damping, np.maximum(0.8 * damping, 1.0))
    return totals, np.asarray(before - values), new_damping.astype(damping.dtype)


def between(start: Totals, end: Totals, share: Array, users: Users) -> Totals:
    """Go a share of the way from start to end, user by user."""
    return Totals(
        _mix(start.playlist, end.playlist, users.spread(share)[:, None]),
        _mix(start.user, end.user, share[:, None]),
    )


def _mix(start: Array, end: Array, share: Array) -> Array:
    # Shares of 0 and 1 give start and end to the bit, so that weights of zero stay zero, and an
    # end that is not finite can be left.
    mixed = np.where(share > 0, start + share * (end - start), start)
    return np.where(share == 1, end, mixed)
