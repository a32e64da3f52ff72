"""Solve for users with fixed shared weights: each user is a problem of its own."""

from collections.abc import Callable
from copy import copy
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._result import SolverResult
from skmtc.optimize.prox_newton._curvature import Curvature
from skmtc.optimize.prox_newton._exact import (
    SAFETY,
    Coefficients,
    ExactNewton,
    is_small,
    split_totals,
)
from skmtc.optimize.prox_newton._exact_losses import ExactLosses
from skmtc.optimize.prox_newton._inner import SWEEP_STEPS, InnerProblem
from skmtc.optimize.prox_newton._problem import Iterate, SortedProblem, Totals
from skmtc.optimize.prox_newton._prox_newton import (
    LOOSE_GAP,
    MOST_SHORT_STEPS,
    NEGLIGIBLE_DECREASE,
    SWEEP_TOL,
    ProxNewton,
)
from skmtc.optimize.prox_newton._state import MAX_NULL_STEPS, user_gaps

Array = NDArray[np.float64]

HISTORY = ("objective", "optimality", "users", "seconds")
# An iteration should bring at least this share of the predicted decrease.
MIN_GAIN_RATIO = 0.25
LARGE_L1 = 1e9  # a penalty that no playlist's weights outweigh
PER_USER = (
    "chosen",
    "done",
    "optimality",
    "converged_users",
    "short",
    "rejections",
    "gains",
    "unsure",
    "overshot",
    "step_converged",
    "gaps",
)
# If the duality gap is at most this many times `tol`, a short sweep ends the search. Otherwise
# steps may be short because directions are flat: sweeps go on to `SWEEP_TOL`, as the last ones of
# a fit do.
SMALL_GAP = 10.0
# After this many iterations, each one doubles the number of steps in a sweep: few users are left,
# and passes over the data do not help if the surrogate is far from its minimum.
FIXED_STEPS_ITERATIONS = 4
MOST_STEPS = 128
# Short steps in a row that end the search, weighted by confidence: one whose model was right counts
# for all of them, one whose model was wrong for half, one after a sweep that overshot for a sixth.
SHORT_STEP_BUDGET = 12


class FixedShared(MultitaskObjective):
    """The multitask objective of some users, as a function of user and playlist weights only.

    Coefficients have the layout of :class:`MultitaskObjective`; no solver moves row 0. The l1
    penalty of the shared weights, which is constant, is left out.

    Parameters
    ----------
    features, membership, user_of_playlist
        As in :class:`MultitaskObjective`.

    shared : array of shape (n_features,)
        Shared weights.

    **parameters
        Penalties and the rest, as in :class:`MultitaskObjective`.
    """

    def __init__(
        self,
        features: ArrayLike | csr_array,
        membership: ArrayLike | csr_array,
        user_of_playlist: ArrayLike,
        *,
        shared: ArrayLike,
        **parameters: Any,
    ) -> None:
        super().__init__(features, membership, user_of_playlist, **parameters | {"shared_l1": 0.0})
        self.shared = np.array(shared, dtype=np.float64)

    def zeros(self) -> Array:
        """Return user and playlist weights of zero, beside the shared ones."""
        coef = super().zeros()
        coef[0] = self.shared
        return coef

    def coef_gradient(self, playlist_gradients: Array, coef: Array) -> Array:
        """Add up playlist gradients; the shared weights have none."""
        gradient = super().coef_gradient(playlist_gradients, coef)
        gradient[0] = 0.0
        return gradient

    def without_intercept(self) -> "FixedShared":
        """Return the same problem without weights of the constant feature."""
        other = cast(FixedShared, super().without_intercept())
        other.shared = self.shared[:-1]
        return other

    def take(self, rows: NDArray[np.intp]) -> "FixedShared":
        """Return the problem of some users, by all their playlists."""
        other = copy(self)
        other.__dict__.pop("tiled_pass", None)
        other.membership = self.membership[rows]
        other.sample_weight = self.sample_weight[rows]
        owners, other.user_of_playlist = np.unique(self.user_of_playlist[rows], return_inverse=True)
        other.n_playlists, other.n_users = len(rows), len(owners)
        other.shape = (1 + other.n_users + other.n_playlists, self.n_features)
        other._derive()
        return other


def solve_users(
    objective: FixedShared,
    coef0: Array | None = None,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    random_state: int | None = 0,
    callback: Callable[[dict[str, Any]], Any] | None = None,
) -> SolverResult:
    """Minimise each user's own part of a multitask objective, the shared weights fixed.

    The steps are those of :func:`solve_prox_newton`, without the ones of the shared weights. Users
    are independent: each is done when its own problem is solved to `tol`, by its duality gap or by
    short steps, and the others go on without it. In each iteration:

    1. minimise the surrogate of each user; drop the users whose predicted decrease is negligible;
    2. evaluate the new point by a pass over the data, backtrack user by user, learn the curvature;
    3. drop the users that are done.

    Parameters
    ----------
    objective : FixedShared
        What to minimise.

    coef0 : ndarray of shape `objective.shape`, default=None
        Where to start; None starts all users at the shared weights.

    tol : float, default=1e-3
        Relative suboptimality of each user's part of the objective to reach.

    max_iter : int, default=100
        Most iterations.

    random_state : int or None, default=0
        Ignored: nothing here is random. All solvers have it.

    callback : callable, default=None
        Called after every iteration with a dict of `iteration` and the newest `objective`,
        `optimality`, `seconds` and number of `users` that go on. The solver stops when it returns
        True.

    Returns
    -------
    result : SolverResult
        The coefficients found. `optimality` is the largest of all users.
    """
    solver = FixedSharedSolver(objective, tol, random_state)
    results = _Results(solver)
    with solver.threads.one_blas_thread():
        point = solver.start(coef0)
        results.append(solver, point)
        iteration, message = 0, "max_iter was reached"
        while not solver.done.all() and iteration < max_iter:
            solver, point = solver.without_done(point)  # 3.
            if is_small(solver.objective):
                point = solver.newton_step(point)
            else:
                solver.sweep(point)  # 1.
                results.write(solver, point)
                solver, point = solver.without_done(point)
                if not solver.done.all():
                    point = solver.step(point)  # 2.
            iteration += 1
            newest = results.append(solver, point)
            if callback is not None and callback(newest | {"iteration": iteration}):
                message = "the callback asked to stop"
                break
    return results.result(iteration, message)


class FixedSharedSolver(ProxNewton):
    """The state of the solver between iterations.

    Attributes
    ----------
    chosen : ndarray of shape (n_users,)
        Which users of the first problem these are.

    done : ndarray of shape (n_users,)
        Whether to leave each user as it is.

    optimality : ndarray of shape (n_users,)
        Relative distance of each user to its minimum, bounded or predicted.
    """

    problem: SortedProblem

    def __init__(self, objective: FixedShared, tol: float, random_state: int | None) -> None:
        super().__init__(objective, tol, random_state)
        self.objective = objective
        n_users = objective.n_users
        self.chosen = np.arange(n_users)
        self.done = np.zeros(n_users, dtype=bool)
        self.optimality = np.full(n_users, np.inf)
        self.converged_users = np.zeros(n_users, dtype=bool)
        self.short, self.rejections = np.zeros(n_users, dtype=int), np.zeros(n_users, dtype=int)
        self.gains = np.full(n_users, np.inf)
        # Whether the model mispredicted the last step, whether the last sweep had to backtrack, and
        # whether its steps became short.
        self.unsure, self.overshot = np.ones(n_users, dtype=bool), np.zeros(n_users, dtype=bool)
        self.step_converged, self.gaps = np.zeros(n_users, dtype=bool), np.full(n_users, np.inf)
        self.n_iterations = 0
        self.users_first = False

    @property
    def shared(self) -> Array:
        """The shared weights, as many as the problem has features."""
        return cast(FixedShared, self.problem.given).shared

    def start(self, coef0: Array | None) -> Iterate:
        """Find the first point; new users need no pass for it."""
        common = self._at_shared()
        point = common
        # Playlists without weights of their own share a row of the pass: new users move first.
        self.users_first = True
        if coef0 is not None and np.any(coef0[1:]):
            self.users_first = False
            totals, _ = self.problem.totals_of(coef0)
            point, _ = self._backtrack(common, self.problem.evaluate(totals, self.shared))
        self.curvature = Curvature(self.curvature.scale, None, None)
        self._take_covariance(point.totals)
        self.swept = point.totals
        self._check_users(point)
        return point

    def _at_shared(self) -> Iterate:
        """Evaluate the shared weights alone, or no weights where those overflow."""
        shared = self.shared
        common = self.problem.evaluate_common(shared)._replace(shared=shared)
        if np.isfinite(self.problem.value(common)):
            return common
        return self.problem.evaluate_common(np.zeros_like(shared))._replace(shared=shared)

    def sweep(self, point: Iterate) -> None:
        """Minimise the surrogate; a user whose predicted decrease is not worth a pass is done."""
        before, damping = self.problem.user_values(point, point.shared), self.damping
        self.swept = self._sweep_all(point)
        # A user overshot if its sweep had to backtrack, which raises its damping.
        self.overshot = self.problem.users.sum(self.damping > damping) > 0
        self.step_converged |= self.gaps <= SMALL_GAP * self.tol * before
        sure = self.step_converged & ~self.overshot & ~self.unsure & (not self.users_first)
        sure &= self._gap_is_tight_for(before)
        finished = sure & (self.gains <= NEGLIGIBLE_DECREASE * self.tol * before)
        self.optimality = np.where(finished, self.gains / before, self.optimality)
        self.converged_users |= finished
        self.done |= finished

    def step(self, point: Iterate) -> Iterate:
        """Evaluate the end of the sweep by a pass, backtrack user by user, learn the curvature."""
        self.n_iterations += 1
        before = self.problem.user_values(point, point.shared)
        new = self.problem.evaluate(self.swept, point.shared)
        new, rejected = self._backtrack(point, new)
        fell = before - self.problem.user_values(new, new.shared)
        self._learn(point, new)
        # Short steps teach no curvature: inflate it where the predicted decrease was too large.
        wrong = rejected | (fell < MIN_GAIN_RATIO * self.gains)
        self._inflate_curvature(wrong)
        # What a short step still gains bounds what is left, whether predicted or found.
        self.gains = np.maximum(self.gains, fell)
        # As in `ProxNewton`, a second short step must confirm the first if the model was wrong; if
        # the sweep overshot, several with more damping must.
        self.unsure = wrong | (self.problem.given.loss == "ranking")
        weight = np.where(
            self.overshot,
            SHORT_STEP_BUDGET // 6,
            np.where(self.unsure, SHORT_STEP_BUDGET // 2, SHORT_STEP_BUDGET),
        )
        is_short = self.step_converged & (self.gains <= NEGLIGIBLE_DECREASE * self.tol * before)
        is_short &= not self.users_first
        self.users_first = False
        self.short = np.where(is_short, self.short + weight, 0)
        self.rejections = np.where(rejected, self.rejections + 1, 0)
        self._check_users(new)
        return new

    def newton_step(self, point: Iterate) -> Iterate:
        """Take a Newton step with exact Hessians, whose decrement bounds each suboptimality."""
        problem = self.problem
        losses = ExactLosses(problem.objective, problem.features)
        newton = ExactNewton(losses, problem.users, problem.penalties, fixed_shared=True)
        at = Coefficients(*split_totals(problem, point))
        move = newton.step(at, losses.expand(newton.weights(at)))
        values = newton.values(move.at, move.losses)
        self.optimality = move.bounds / values
        self.converged_users = self.converged_users | (self.optimality <= SAFETY * self.tol)
        self.rejections = np.where(move.decreases > 0, 0, self.rejections + 1)
        self.done = self.converged_users | (self.rejections >= MAX_NULL_STEPS)
        user = move.at.user + point.shared
        totals = Totals(problem.users.spread(user) + move.at.playlist, user)
        nothing = np.empty((len(move.losses), 0))
        return Iterate(totals, point.shared, nothing, nothing, move.losses, nothing)

    def _check_users(self, point: Iterate) -> None:
        """Decide which users are done, by the duality gap or by short steps."""
        values = self.problem.user_values(point, point.shared)
        self.gaps = user_gaps(
            values,
            point.losses,
            point.gradients,
            point.totals.playlist,
            point.shared,
            self.problem.users,
            self.problem.penalties,
        )
        self.optimality = np.minimum(self.gaps, self.gains) / values
        is_short = (self.short >= SHORT_STEP_BUDGET) & self._gap_is_tight_for(values)
        self.converged_users = (self.gaps <= self.tol * values) | is_short
        stalled = (self.rejections >= MAX_NULL_STEPS) | (
            self.short >= MOST_SHORT_STEPS * SHORT_STEP_BUDGET
        )
        self.done = self.converged_users | stalled

    def _gap_is_tight_for(self, values: Array) -> NDArray[np.bool_]:
        """Check for which users the duality gap does not contradict a suboptimality of `tol`."""
        return np.asarray(self.gaps <= LOOSE_GAP * np.sqrt(self.tol) * values)

    def without_done(self, point: Iterate) -> tuple["FixedSharedSolver", Iterate]:
        """Return the solver and the iterate of the users that are not done.

        They are the same objects until a tenth of the playlists belong to users that are done.
        """
        rows = np.flatnonzero(self.problem.users.spread(~self.done))
        if len(rows) == 0 or len(rows) > 0.9 * len(self.problem.order):
            return self, point
        users = np.flatnonzero(~self.done)
        other = copy(self)
        # Playlists stand in the order of their users already; and compiled loops, which are loaded
        # by now, serve few users as well.
        other.objective = self.objective.take(self.problem.order[rows])
        other.problem = SortedProblem(other.objective, compiled=self.problem.compiled)
        other.threads = other.problem.objective.tiled_pass.threads
        for name in PER_USER:
            setattr(other, name, getattr(self, name)[users])
        scale, *pair = self.curvature
        other.curvature = Curvature(scale[rows], *(None if p is None else p[rows] for p in pair))
        other.damping = self.damping[rows]
        other._take_log_weight()
        other.swept = Totals(self.swept.playlist[rows], self.swept.user[users])
        totals = Totals(point.totals.playlist[rows], point.totals.user[users])
        return other, Iterate(totals, point.shared, *(part[rows] for part in point[2:]))

    def _best_shared(self, totals: Totals) -> Array:
        return self.shared

    def _sweep_all(self, point: Iterate) -> Totals:
        """Sweep over all blocks of users, which are independent of each other."""
        problem = self.problem
        penalties = problem.penalties
        if self.users_first:
            penalties = penalties._replace(playlist_l1=LARGE_L1)
        inner = InnerProblem(
            problem,
            self._expansion(point),
            self.threads,
            penalties=penalties,
            tol=SWEEP_TOL * self.tol,
        )
        # One sweep per pass: without steps of the shared weights, more do not pay.
        totals, self.gains, self.damping, self.step_converged = inner.sweep(
            point.totals, point.shared, self.damping, n_steps=self._n_steps()
        )
        return totals

    def _n_steps(self) -> int:
        doublings = max(0, self.n_iterations - FIXED_STEPS_ITERATIONS)
        return int(min(SWEEP_STEPS * 2**doublings, MOST_STEPS))


class _Results:
    """The newest totals of all users, also of those that are done."""

    def __init__(self, solver: FixedSharedSolver) -> None:
        self.problem = solver.problem
        shape = (solver.objective.n_playlists, solver.problem.given.n_features)
        users = (solver.objective.n_users, shape[1])
        dtype = np.float64 if is_small(solver.objective) else solver.problem.dtype
        self.totals = Totals(np.empty(shape, dtype), np.empty(users, dtype))
        self.values, self.optimality = np.empty(users[0]), np.empty(users[0])
        self.step_converged = np.zeros(users[0], dtype=bool)
        self.history: dict[str, list[Any]] = {name: [] for name in HISTORY}

    def write(self, solver: FixedSharedSolver, point: Iterate) -> None:
        """Store the weights and values of the users that go on."""
        going_on = np.zeros(len(self.values), dtype=bool)
        going_on[solver.chosen] = True
        self.totals.playlist[self.problem.users.spread(going_on)] = point.totals.playlist
        self.totals.user[going_on] = point.totals.user
        self.values[going_on] = solver.problem.user_values(point, point.shared)
        self.optimality[going_on] = solver.optimality
        self.step_converged[going_on] = solver.converged_users
        self.shared = point.shared

    def append(self, solver: FixedSharedSolver, point: Iterate) -> dict[str, Any]:
        """Store the weights and values of users; return the newest entry of the history."""
        self.write(solver, point)
        entry = {
            "objective": float(self.values.sum()) / len(self.totals.playlist),
            "optimality": float(self.optimality.max()),
            "users": int(np.sum(~solver.done)),
            "seconds": perf_counter() - solver.clock,
        }
        for name, value in entry.items():
            self.history[name].append(value)
        return entry

    def result(self, n_iter: int, message: str) -> SolverResult:
        """Return the result for all users."""
        nothing = np.zeros(0)
        point = Iterate(self.totals, self.shared, nothing, nothing, nothing, nothing)
        converged = bool(self.step_converged.all())
        if not converged and self.history["users"][-1] == 0:
            message = "no step lowers the objective any more: rounding limits the accuracy"
        return SolverResult(
            coef=self.problem.coef_of(point),
            objective=self.history["objective"][-1],
            optimality=self.history["optimality"][-1],
            n_iter=n_iter,
            converged=converged,
            message="optimality is at most tol" if converged else message,
            history=self.history,
        )
