r"""Newton steps with exact Hessians, for problems that are small enough.

With coefficients mu (shared), a_u (user), b_i (playlist) and weights w_i = mu + a_u + b_i, a step
minimises the exact second-order model with all penalties,

.. math:: Q(d) = \sum_i \big( g_i \cdot d_i + \tfrac12 d_i^\top H_i d_i \big)
          + L_1 \sum_u \|a_u\|^2 + L_2 \sum_i \|b_i\|_1 + L_3 \|\mu\|_1,
          \qquad d_i = d\mu + da_u + db_i

The decrease of Q, the Newton decrement, is the suboptimality of the iterate to second order. The
losses are sums of exponentials of scores; if a step changes no exponent by more than rho,
e^t - 1 - t >= theta(rho) t^2 / 2, so that no point within that distance is lower by more than
decrease / theta(rho). The solver stops by this bound.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._penalty import pseudo_gradient
from skmtc.optimize.prox_newton._exact_losses import ExactLosses, Expansion2
from skmtc.optimize.prox_newton._problem import Iterate, Penalties, SortedProblem, Totals, Users
from skmtc.optimize.prox_newton._state import SolverState

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Largest number of multiplications for the Hessians of all playlists and the linear systems of one
# step, and largest number of weights: below them, exact Hessians are cheap.
MOST_MULTIPLICATIONS = 1e9
MOST_WEIGHTS = 100_000
# Collinear features have no curvature along their difference: this share of the diagonal is added.
RIDGE = 1e-9
TINY = 1e-30  # keeps divisions by losses or curvatures of zero finite
# The l1 norms are smoothed within this distance of zero, in units of a weight that changes scores
# by one, and at each for at most so many Newton steps.
SMOOTHINGS = 10.0 ** np.arange(0, -12, -1)
STEPS_PER_SMOOTHING = 8
# Dual variables stay inside their bounds by this factor. A weight of zero whose dual variable is
# at most that close to its bound is kept this far from zero, at the last smoothing.
INSIDE, ZERO_BELOW = 1 - 1e-6, 1e-7
# 0.4^16 = 4e-7: a step that lowers nothing at this size is at the limit of rounding.
MAX_BACKTRACKS = 16
BACKTRACK = 0.4
# Share of the decrease of the model that the objective must show.
SUFFICIENT_DECREASE = 0.1
# The bound on the suboptimality is exact to second order; half of `tol` leaves room for the rest.
SAFETY = 0.5
# A step that changes an exponent by more than this bounds nothing.
LARGEST_CHANGE = 1.0


def is_small(objective: MultitaskObjective) -> bool:
    """Check whether exact Hessians of all playlists are cheap."""
    n, d = objective.n_playlists, objective.n_features
    n_systems = len(SMOOTHINGS) * STEPS_PER_SMOOTHING
    multiplications = float(n) * d * d * (objective.n_songs + n_systems * d)
    return bool(n * d < MOST_WEIGHTS and multiplications <= MOST_MULTIPLICATIONS)


class Coefficients(NamedTuple):
    """Shared, user and playlist weights, or a step of them."""

    shared: Array
    user: Array
    playlist: Array


class Move(NamedTuple):
    """A Newton step that was taken.

    Attributes
    ----------
    at : Coefficients
        Where it ended.

    losses : ndarray of shape (n_playlists,)
        Losses there.

    decreases : ndarray of shape (n_users,)
        How much lower the objective is there, by user.

    bounds : ndarray of shape (n_users,)
        Suboptimality before the step, by user; the whole one in all entries where users are not
        problems of their own.
    """

    at: Coefficients
    losses: Array
    decreases: Array
    bounds: Array


class ExactModel:
    """The second-order model Q of the objective around some coefficients.

    Parameters
    ----------
    expansion : Expansion2
        Losses at the coefficients.

    at : Coefficients
        The coefficients.

    users : Users
        Which playlists belong to each user.

    penalties : Penalties
        Penalties for a sum over playlists.

    fixed_shared : bool
        Whether users are problems of their own, because the shared weights do not move.
    """

    def __init__(
        self,
        expansion: Expansion2,
        at: Coefficients,
        users: Users,
        penalties: Penalties,
        *,
        fixed_shared: bool,
    ) -> None:
        self.at, self.users, self.penalties = at, users, penalties
        self.fixed_shared = fixed_shared
        self.gradients, self.hessians = expansion.gradients, expansion.hessians
        diagonal = np.einsum("ndd->nd", self.hessians)
        floor = 1e-3 * diagonal.max(axis=1, keepdims=True, initial=TINY)
        self.diagonal = np.maximum(diagonal, floor)
        self._ridged = self.hessians + _diagonal(RIDGE * self.diagonal)
        self._user_ridge = _diagonal(2 * penalties.user_l2 + RIDGE * users.sum(self.diagonal))
        # A weight of this size changes scores by about one.
        curvature = np.maximum(diagonal.sum(axis=0), TINY) / np.maximum(
            expansion.losses.sum(), TINY
        )
        self.unit = 1 / np.sqrt(np.maximum(curvature, 1e-8 * curvature.max(initial=TINY)))

    def minimise(self) -> tuple[Coefficients, Array]:
        """Minimise the model by Newton steps on a smoothed l1 norm, less and less smooth.

        The slope of l1 |y| becomes v = l1 y / (delta + r), r = sqrt(delta^2 + y^2). As in
        primal-dual interior-point methods, v is a variable of its own and v (delta + r) = l1 y
        is what is linearised, so that few steps suffice for every delta.

        Returns
        -------
        step : Coefficients
            The minimiser.

        gains : ndarray of shape (n_users,)
            Decrease of the model, by user, and what steps of single coefficients would add to it;
            the part of the shared weights is spread over all users.
        """
        step = Coefficients(*(np.zeros_like(part) for part in self.at))
        dual = Coefficients(*(np.zeros_like(part) for part in self.at))
        for smoothing in SMOOTHINGS:
            for _ in range(STEPS_PER_SMOOTHING):
                move, dual = self._newton(step, dual, smoothing * self.unit)
                step = Coefficients(*(x + y for x, y in zip(step, move, strict=True)))
                largest = max(np.max(np.abs(part / self.unit), initial=0.0) for part in move)
                if not largest > smoothing:
                    break
        step = self._with_zeros(step)
        start = self._values(Coefficients(*(np.zeros_like(part) for part in self.at)))
        return step, start - self._values(step) + self._left(step)

    def _left(self, step: Coefficients) -> Array:
        """Return the decrease that steps of single coefficients still bring: slope^2 / (2 h)."""
        user_l2, playlist_l1, shared_l1 = self.penalties
        slopes = self.gradients + np.einsum("nij,nj->ni", self.hessians, self.moves(step))
        playlist = pseudo_gradient(self.at.playlist + step.playlist, slopes, playlist_l1)
        by_user = self.users.sum(np.sum(playlist**2 / self.diagonal, axis=1))
        curvature = self.users.sum(self.diagonal)
        user = self.users.sum(slopes) + 2 * user_l2 * (self.at.user + step.user)
        by_user = by_user + np.sum(user**2 / (2 * user_l2 + curvature), axis=1)
        if not self.fixed_shared:
            shared = pseudo_gradient(self.at.shared + step.shared, slopes.sum(axis=0), shared_l1)
            by_user = by_user + np.sum(shared**2 / curvature.sum(axis=0)) / len(by_user)
        return np.asarray(0.5 * by_user)

    def _newton(
        self, step: Coefficients, dual: Coefficients, smoothing: Array
    ) -> tuple[Coefficients, Coefficients]:
        """Solve for one Newton step of the smoothed model, and move the dual variables.

        Users are independent given the shared weights, playlists given their user, so the system
        is solved by elimination: playlists first, then users, then the shared weights.
        """
        user_l2, playlist_l1, shared_l1 = self.penalties
        eye = np.eye(len(self.unit))
        slopes = self.gradients + np.einsum("nij,nj->ni", self.hessians, self.moves(step))
        b_slope, b_curve = _smoothed(
            self.at.playlist + step.playlist, dual.playlist, playlist_l1, smoothing
        )
        mu_slope, mu_curve = _smoothed(
            self.at.shared + step.shared, dual.shared, shared_l1, smoothing
        )
        # 1. db = -(H + V)^-1 (r + v + H (dmu + da)) leaves K = H - H (H + V)^-1 H = V (H + V)^-1 H
        #    for the user, and the force k = r - H (H + V)^-1 (r + v).
        right = np.concatenate([self.hessians, (slopes + b_slope)[:, :, None]], axis=2)
        solved = np.linalg.solve(self._ridged + b_curve[:, :, None] * eye, right)
        reduced = b_curve[:, :, None] * solved[:, :, :-1]
        reduced = 0.5 * (reduced + np.swapaxes(reduced, 1, 2))
        force = slopes - (self.hessians @ solved[:, :, -1:])[:, :, 0]
        # 2. da = -(K + 2 L1)^-1 (k + 2 L1 a + K dmu), sums over the playlists of the user.
        stiff, force = self.users.sum(reduced), self.users.sum(force)
        pull = force + 2 * user_l2 * (self.at.user + step.user)
        right = np.concatenate([stiff, pull[:, :, None]], axis=2)
        answer = np.linalg.solve(stiff + self._user_ridge, right)
        # 3. dmu = -(S + V)^-1 (k_u - K (K + 2 L1)^-1 (k_u + 2 L1 a) + v), summed over users, with
        #    S = sum_u K - K (K + 2 L1)^-1 K.
        dmu = np.zeros(len(self.unit))
        if not self.fixed_shared:
            schur = (stiff - stiff @ answer[:, :, :-1]).sum(axis=0)
            left = (force - (stiff @ answer[:, :, -1:])[:, :, 0]).sum(axis=0)
            schur[np.diag_indices(len(dmu))] += mu_curve + RIDGE * self.diagonal.sum(axis=0)
            dmu = -np.linalg.solve(schur, left + mu_slope)
        # 4. Substitute back: users given dmu, playlists given both. v <- slope + curvature * step.
        da = -answer[:, :, -1] - answer[:, :, :-1] @ dmu
        moved = dmu + self.users.spread(da)
        db = -solved[:, :, -1] - np.einsum("nij,nj->ni", solved[:, :, :-1], moved)
        new_dual = Coefficients(
            np.clip(mu_slope + mu_curve * dmu, -INSIDE * shared_l1, INSIDE * shared_l1),
            dual.user,
            np.clip(b_slope + b_curve * db, -INSIDE * playlist_l1, INSIDE * playlist_l1),
        )
        return Coefficients(dmu, da, db), new_dual

    def _with_zeros(self, step: Coefficients) -> Coefficients:
        """Set coefficients to zero that only the smoothing keeps away from it."""

        def cut(at: Array, move: Array, l1: float) -> Array:
            is_zero = (np.abs(at + move) <= ZERO_BELOW * self.unit) & (l1 > 0)
            return np.where(is_zero, -at, move)

        _, playlist_l1, shared_l1 = self.penalties
        shared = step.shared if self.fixed_shared else cut(self.at.shared, step.shared, shared_l1)
        playlist = cut(self.at.playlist, step.playlist, playlist_l1)
        return Coefficients(shared, step.user, playlist)

    def _values(self, step: Coefficients) -> Array:
        """Return the model at a step, by user; the shared penalty is spread over users."""
        moves = self.moves(step)
        images = np.einsum("nij,nj->ni", self.hessians, moves)
        losses = np.einsum("nd,nd->n", self.gradients + 0.5 * images, moves)
        mu, a, b = (part + move for part, move in zip(self.at, step, strict=True))
        user_l2, playlist_l1, shared_l1 = self.penalties
        by_user = self.users.sum(losses + playlist_l1 * np.abs(b).sum(axis=1))
        by_user += user_l2 * np.einsum("ud,ud->u", a, a)
        return np.asarray(by_user + shared_l1 * np.abs(mu).sum() / len(a))

    def moves(self, step: Coefficients) -> Array:
        """Return the steps of the playlists' weights."""
        return np.asarray(step.shared + self.users.spread(step.user) + step.playlist)


def _smoothed(values: Array, dual: Array, l1: float, smoothing: Array) -> tuple[Array, Array]:
    """Return slope and curvature of a smoothed l1 norm, the latter by the dual variables."""
    root = np.sqrt(smoothing**2 + values**2)
    return l1 * values / (smoothing + root), (l1 - dual * values / root) / (smoothing + root)


def _diagonal(values: Any) -> Array:
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))


def _choose(mask: Mask, new: Coefficients, old: Coefficients, users: Users) -> Coefficients:
    """Take the new rows of some users, and the new shared weights if all agree."""
    return Coefficients(
        new.shared if mask.all() else old.shared,
        np.where(mask[:, None], new.user, old.user),
        np.where(users.spread(mask)[:, None], new.playlist, old.playlist),
    )


def suboptimality(gains: Array, change: Array) -> Array:
    """Bound the suboptimality by the Newton decrement: gain / theta(rho), inf for long steps."""
    rho = np.maximum(change, 1e-4)
    theta = 2 * (np.exp(-rho) - 1 + rho) / rho**2
    return np.where(change <= LARGEST_CHANGE, gains / theta, np.inf)


class ExactNewton:
    """Newton steps on the objective, with a bound on the suboptimality.

    Parameters
    ----------
    losses : ExactLosses
        Losses of the playlists.

    users : Users
        Which playlists belong to each user.

    penalties : Penalties
        Penalties for a sum over playlists.

    fixed_shared : bool
        Whether users are problems of their own.
    """

    def __init__(
        self, losses: ExactLosses, users: Users, penalties: Penalties, *, fixed_shared: bool
    ) -> None:
        self.losses, self.users, self.penalties = losses, users, penalties
        self.fixed_shared = fixed_shared

    def values(self, at: Coefficients, losses: Array) -> Array:
        """Return the objective by user; the shared penalty is spread over users."""
        user_l2, playlist_l1, shared_l1 = self.penalties
        by_user = self.users.sum(losses + playlist_l1 * np.abs(at.playlist).sum(axis=1))
        by_user = by_user + user_l2 * np.einsum("ud,ud->u", at.user, at.user)
        return np.asarray(by_user + shared_l1 * np.abs(at.shared).sum() / len(at.user))

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def step(self, at: Coefficients, expansion: Expansion2) -> Move:
        """Take one Newton step with a line search.

        Parameters
        ----------
        at : Coefficients
            Where to start.

        expansion : Expansion2
            Losses there.

        Returns
        -------
        move : Move
            Where it ended.
        """
        # Minimise the model, bound by its decrement, and search along the step.
        model = ExactModel(
            expansion, at, self.users, self.penalties, fixed_shared=self.fixed_shared
        )
        step, gains = model.minimise()
        by_playlist = self.losses.largest_change(model.moves(step))
        change = np.maximum.reduceat(by_playlist, self.users.starts)
        if not self.fixed_shared:
            gains, change = np.full(len(gains), gains.sum()), np.full(len(gains), change.max())
        before = self.values(at, expansion.losses)
        new, losses, after = self._line_search(at, step, gains, before, expansion.losses)
        return Move(new, losses, before - after, suboptimality(gains, change))

    def _line_search(
        self, at: Coefficients, step: Coefficients, gains: Array, before: Array, losses: Array
    ) -> tuple[Coefficients, Array, Array]:
        """Backtrack, user by user or all together, until the objective falls enough."""
        best, best_losses, best_values = at, losses, before
        searching, sizes = np.ones(len(before), dtype=bool), np.ones(len(before))
        for _ in range(MAX_BACKTRACKS):
            tried = Coefficients(
                at.shared + sizes[0] * step.shared,
                at.user + sizes[:, None] * step.user,
                at.playlist + self.users.spread(sizes)[:, None] * step.playlist,
            )
            losses = self.losses.losses(self.weights(tried))
            values = self.values(tried, losses)
            fell = before - values
            if not self.fixed_shared:
                fell = np.full(len(fell), fell.sum())
            lower = searching & (fell >= SUFFICIENT_DECREASE * sizes * gains) & (fell > 0)
            best = _choose(lower, tried, best, self.users)
            best_losses = np.where(self.users.spread(lower), losses, best_losses)
            best_values = np.where(lower, values, best_values)
            searching &= ~lower
            if not searching.any():
                break
            sizes = np.where(searching, BACKTRACK * sizes, sizes)
        return best, best_losses, best_values

    def weights(self, at: Coefficients) -> Array:
        """Return the weights of the playlists."""
        return np.asarray(at.shared + self.users.spread(at.user) + at.playlist)


class ExactSolver(SolverState):
    """The solver for small problems: Newton steps with exact Hessians.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise, small enough for exact Hessians.

    tol : float
        Relative suboptimality to reach.
    """

    stalled = False

    def __init__(self, objective: MultitaskObjective, tol: float) -> None:
        super().__init__(objective, tol)
        self.losses = ExactLosses(self.problem.objective, self.problem.features)

    def forget_history(self) -> None:
        """Reset the history and all counts of iterations."""
        super().forget_history()
        self._certified = False

    @property
    def converged(self) -> bool:
        """Whether the last step certified the suboptimality, by its decrement or the gap."""
        return self._certified

    def start(self, coef0: Array | None) -> Iterate:
        """Evaluate `coef0` and zeros; return the one with the lower objective."""
        shape = (self.problem.given.shape[0], self.problem.given.n_features)
        point = self._evaluate(coefficients_of(self.problem, np.zeros(shape)))
        if coef0 is not None:
            given = self._evaluate(coefficients_of(self.problem, coef0))
            if self.problem.value(given) < self.problem.value(point):
                point = given
        if not self.history["objective"]:
            self.record(point)
        return point

    def iterate(self, point: Iterate) -> Iterate:
        """Take a Newton step; the decrement of its model bounds the suboptimality before it."""
        newton = ExactNewton(
            self.losses, self.problem.users, self.problem.penalties, fixed_shared=False
        )
        at = Coefficients(*split_totals(self.problem, point))
        expansion = self.losses.expand(newton.weights(at))
        move = newton.step(at, expansion)
        self.passes += 1
        self.predicted = float(move.bounds[0])
        fell = bool(move.decreases.sum() > 0)
        self.null_steps = 0 if fell else self.null_steps + 1
        new = self._evaluate(move.at) if fell else point
        # The suboptimality before the step bounds the one after it.
        self.record(new)
        newest = self.newest()
        small_decrement = newest["optimality"] <= SAFETY * self.tol
        self._certified = small_decrement or newest["dual_gap"] <= self.tol
        return new

    def _evaluate(self, at: Coefficients) -> Iterate:
        """Evaluate coefficients, with gradients."""
        user = at.user + at.shared
        weights = self.problem.users.spread(user) + at.playlist
        with np.errstate(over="ignore", invalid="ignore"):
            losses, gradients = self.losses.gradients(weights)
        nothing = np.empty((len(losses), 0))
        return Iterate(Totals(weights, user), at.shared, nothing, nothing, losses, gradients)


def coefficients_of(problem: SortedProblem, coef: Array) -> Coefficients:
    """Return coefficients with the playlists of each user side by side."""
    shared, user, playlist = problem.given.split(coef[:, : problem.given.n_features])
    return Coefficients(shared, user, playlist[problem.order])


def split_totals(problem: SortedProblem, point: Iterate) -> tuple[Array, Array, Array]:
    """Return the shared, user and playlist weights of an iterate, in double precision."""
    playlist, user = (np.asarray(part, dtype=np.float64) for part in point.totals)
    return point.shared, user - point.shared, playlist - problem.users.spread(user)
