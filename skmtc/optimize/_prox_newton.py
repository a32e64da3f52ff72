"""The fast solver: few passes over the data, and much work between them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._certificate import duality_gap, kkt_residual
from skmtc.optimize._curvature import Curvature, learn_curvature, tilted_moments
from skmtc.optimize._inner import InnerProblem
from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._pass import TiledPass
from skmtc.optimize._point import Point, SortedProblem
from skmtc.optimize._result import SolverResult
from skmtc.optimize._sample import sampled_pass
from skmtc.optimize._shared import closest_shared
from skmtc.optimize._surrogate import Expansion
from skmtc.optimize._sweep import Totals, between

Array = NDArray[np.floating[Any]]

SAMPLED_ITERATIONS = 2
BACKTRACK = 0.35
MAX_BACKTRACKS = 5
MAX_NULL_STEPS = 8
# A relative decrease below this share of `tol` is not worth a pass: where the surrogate has been
# right about every user, it predicts between a third and all of what is still to be gained.
WORTHWHILE = 0.3
HISTORY = (
    "objective",
    "optimality",
    "dual_gap",
    "restricted_gap",
    "kkt_residual",
    "passes",
    "seconds",
)


def solve_prox_newton(
    objective: MultitaskObjective,
    coef0: NDArray[np.float64] | None = None,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    random_state: int | None = 0,
    callback: Callable[[dict[str, Any]], Any] | None = None,
    history0: Mapping[str, list[Any]] | None = None,
) -> SolverResult:
    """Minimise a multitask objective by proximal Newton steps on a model of log Z.

    Between two passes over the data a convex surrogate is minimised, in which only the sum over
    the songs outside a playlist is modelled. In each iteration:

    1. the shared weights take a step with the user and playlist weights held; then the users are
       swept, independently of each other, with the shared weights held; then the shared weights
       take their best value for the users. This is repeated while it pays;
    2. a pass over the data evaluates the new point, and users whose part of the objective rose go
       back towards where they were;
    3. the two passes teach the curvature of the next surrogate.

    Without a start, the first iterations see a sample of songs that has the moments of the
    catalogue.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise.

    coef0 : ndarray of shape `objective.shape`, default=None
        Where to start.

    tol : float, default=1e-3
        Relative suboptimality to reach: the solver stops when the decrease that the surrogate
        predicts is at most 0.3 * `tol` times the objective. Where the surrogate was wrong about a
        user before, the decrease seen must be as small.

    max_iter : int, default=100
        Most iterations.

    random_state : int or None, default=0
        Seed of the sample of songs.

    callback : callable, default=None
        Called after every iteration with a dict of the newest entries of the history,
        `iteration`, the whole `history`, and `coef`, a function that gives the coefficients. The
        solver stops when it returns True.

    history0 : dict of str to list, default=None
        History of the run that reached `coef0`, which goes on: `max_iter` counts its iterations.

    Returns
    -------
    result : SolverResult
        The coefficients found. `optimality` is the relative decrease that the last surrogate
        predicted; `history["dual_gap"]` bounds the relative suboptimality.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from skmtc.optimize import MultitaskObjective, solve_prox_newton
    >>> membership = csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, 0]]))
    >>> objective = MultitaskObjective([[-1.0], [1.0], [2.0], [0.0]], membership, [0, 0])
    >>> result = solve_prox_newton(objective, tol=1e-6)
    >>> result.converged, bool(result.objective < objective.value(objective.zeros()))
    (True, True)
    """
    solver = ProxNewton(objective, tol, random_state)
    if history0 is not None:
        solver.go_on(history0)
    with solver.threads.one_blas_thread():
        return _run(solver, solver.start(coef0), max_iter, callback)[0]


def prox_newton_path(
    objective: MultitaskObjective,
    penalties: Iterable[Mapping[str, float]],
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    random_state: int | None = 0,
    callback: Callable[[dict[str, Any]], Any] | None = None,
) -> Iterator[SolverResult]:
    """Minimise an objective for one setting of the penalties after the other.

    Each starts where the one before ended, with what was learned of the losses there: they do
    not depend on the penalties, so no pass is needed to go on.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise; its penalties are the first setting's.

    penalties : iterable of dict
        `user_l2`, `playlist_l1` and `shared_l1` of each setting.

    tol, max_iter, random_state, callback
        As in :func:`solve_prox_newton`.

    Yields
    ------
    result : SolverResult
        The result for each setting.
    """
    solver = ProxNewton(objective, tol, random_state)
    with solver.threads.one_blas_thread():
        point = solver.start(None)
    for setting in penalties:
        solver.change_penalties(point, **setting)
        with solver.threads.one_blas_thread():
            result, point = _run(solver, point, max_iter, callback)
        yield result


def _run(
    solver: "ProxNewton",
    point: Point,
    max_iter: int,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> tuple[SolverResult, Point]:
    message = "max_iter was reached"
    iteration = solver.n_iter
    while iteration < max_iter:
        point = solver.iterate(point)
        iteration += 1
        stop = callback is not None and callback(solver.state(point))
        if solver.converged:
            message = "optimality is at most tol"
            break
        if solver.null_steps >= MAX_NULL_STEPS:
            message = "no step lowers the objective any more: rounding limits the accuracy"
            break
        if stop:
            message = "the callback asked to stop"
            break
    result = SolverResult(
        coef=solver.problem.coef_of(point),
        objective=solver.newest()["objective"],
        optimality=solver.newest()["optimality"],
        n_iter=iteration,
        converged=solver.converged,
        message=message,
        history=solver.history,
    )
    return result, point


class ProxNewton:
    """The state of the solver between iterations.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise.

    tol : float
        Relative suboptimality to reach.

    random_state : int or None
        Seed of the sample of songs.
    """

    def __init__(self, objective: MultitaskObjective, tol: float, random_state: int | None) -> None:
        self.clock = perf_counter()
        self.tol = tol
        self.rng = np.random.default_rng(random_state)
        self.problem = SortedProblem(objective)
        self.threads = self.problem.objective.tiled_pass.threads
        ones = np.ones(objective.n_playlists, dtype=self.problem.dtype)
        self.curvature = Curvature(ones, None, None)
        self.caution = ones
        self.covariance = np.eye(objective.n_features)
        self._forget_history()

    def _forget_history(self) -> None:
        self.passes = 0.0
        self.predicted = self.decrease = np.inf
        self.null_steps = self.short_steps = 0
        self.trusted = False
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY}

    def change_penalties(self, point: Point, **penalties: float) -> None:
        """Go on from a point with other penalties."""
        self.problem.change_penalties(**penalties)
        self._forget_history()
        self.clock = perf_counter()
        self._record(point)

    def go_on(self, history: Mapping[str, list[Any]]) -> None:
        """Take up the history of an earlier run."""
        self.history = {name: list(history[name]) for name in HISTORY}
        self.passes = self.history["passes"][-1]
        self.clock -= self.history["seconds"][-1]

    def start(self, coef0: NDArray[np.float64] | None) -> Point:
        """Find the point of the first full pass."""
        problem = self.problem
        if coef0 is None:
            common = self._best_common()
            totals, shared = self._sampled_stage(common)
        else:
            totals, shared = problem.totals_of(coef0)
            common = problem.evaluate_common(shared)
            if not np.isfinite(problem.value(common)):
                common = problem.evaluate_common(np.zeros_like(shared))
        # Whoever is better off with the shared weights alone starts from there.
        point, _ = self._accept(common, totals, shared)
        if not np.isfinite(problem.value(point)):
            point = problem.evaluate(common.totals, common.shared)
            self.passes += 1
        self.curvature = Curvature(self.curvature.scale, None, None)
        self._take_covariance(point.totals)
        if not self.history["objective"]:
            self._record(point)
        return point

    def iterate(self, point: Point) -> Point:
        """Minimise the surrogate, make a pass, accept user by user, learn."""
        value = self.problem.value(point)
        totals, shared = self._minimise_surrogate(point)
        if self.trusted and self.predicted <= WORTHWHILE * self.tol * value:
            self.short_steps = 2
            self._record(point)
            return point
        new, kept_back = self._accept(point, totals, shared)
        self.decrease = value - self.problem.value(new)
        if not self.decrease >= 0:  # the new shared weights cost more than users gained
            self.decrease = 0.0
            self.null_steps += 1
            self._distrust(np.ones(len(kept_back), dtype=bool))
            self._record(point)
            if self.null_steps == 1:  # at the minimum, rounding may turn a step into a null step
                self._count_short(kept_back)
            return point
        self.null_steps = 0
        self._learn(point, new)
        self._distrust(kept_back)
        self._record(new)
        self._count_short(kept_back)
        return new

    def _count_short(self, kept_back: NDArray[np.bool_]) -> None:
        """Count iterations in a row after which nothing more is to be gained.

        A prediction is modest where users were sent back, as their models are made to bend, and
        the model of a ranking loss is less exact: then a second iteration must say the same.
        """
        worth = (
            WORTHWHILE * self.tol * self.history["objective"][-1] * self.problem.given.n_playlists
        )
        is_short = max(self.predicted, self.decrease) <= worth
        sure = self.problem.given.loss == "classification" and not kept_back.any()
        self.short_steps = (self.short_steps + (2 if sure else 1)) if is_short else 0

    @property
    def converged(self) -> bool:
        """Whether neither the predicted nor the last decrease is worth another pass."""
        return self.short_steps >= 2

    @property
    def n_iter(self) -> int:
        """Number of iterations; the history starts with an entry for the first point."""
        return len(self.history["objective"]) - 1

    def state(self, point: Point) -> dict[str, Any]:
        """Give what a callback gets."""
        return self.newest() | {
            "iteration": self.n_iter,
            "history": self.history,
            "coef": partial(self.problem.coef_of, point),
        }

    def newest(self) -> dict[str, Any]:
        """Give the newest entry of the history."""
        return {name: values[-1] for name, values in self.history.items()}

    def _best_common(self) -> Point:
        """Minimise with all playlists at the shared weights, which needs no pass."""
        problem = self.problem
        point = problem.evaluate_common(np.zeros(problem.given.n_features))
        for _ in range(20):
            self._take_covariance(point.totals)
            inner = InnerProblem(problem, self._expansion(point), self.threads)
            _, shared, _ = inner.shift_shared(point.totals, point.shared)
            value, size = problem.value(point), 1.0
            new = problem.evaluate_common(shared)
            while not problem.value(new) <= value and size > 1e-3:
                size *= BACKTRACK
                new = problem.evaluate_common(point.shared + size * (shared - point.shared))
            gain = value - problem.value(new)
            if not gain > 0:
                break
            point = new
            if gain <= 0.1 * self.tol * value:
                break
        return point

    def _sampled_stage(self, common: Point) -> tuple[Totals, NDArray[np.float64]]:
        """Iterate on a sample of songs, unless the catalogue is small."""
        objective = self.problem.objective
        n_sampled = max(objective.n_songs // 16, 30 * objective.n_features)
        if n_sampled > objective.n_songs // 4:
            return common.totals, common.shared
        sample = sampled_pass(
            objective.features,
            objective.membership,
            objective.padded(common.shared[None])[0],
            n_sampled,
            self.rng,
            objective.n_jobs,
        )
        self._take_covariance(common.totals)
        point = self.problem.evaluate(common.totals, common.shared, sample)
        self.passes += sample.n_songs / objective.n_songs
        for _ in range(SAMPLED_ITERATIONS):
            totals, shared = self._minimise_surrogate(point)
            new, kept_back = self._accept(point, totals, shared, sample)
            self._learn(point, new, forget=0.8)
            self._distrust(kept_back)
            point = new
        return point.totals, point.shared

    def _minimise_surrogate(self, point: Point) -> tuple[Totals, NDArray[np.float64]]:
        inner = InnerProblem(self.problem, self._expansion(point), self.threads, tol=self.tol)
        totals, shared, self.predicted, self.caution = inner.minimise(
            point.totals, point.shared, self.caution
        )
        return totals, shared

    def _accept(
        self,
        old: Point,
        totals: Totals,
        shared: NDArray[np.float64],
        tiled_pass: TiledPass | None = None,
    ) -> tuple[Point, NDArray[np.bool_]]:
        """Evaluate new totals; send users back whose part of the objective rose.

        Returns
        -------
        point : Point
            The point reached.

        kept_back : ndarray of bool
            The users that went nowhere.
        """
        problem, users = self.problem, self.problem.users
        new = problem.evaluate(totals, shared, tiled_pass)
        self.passes += 1 if tiled_pass is None else tiled_pass.n_songs / problem.objective.n_songs
        before = problem.user_values(old, shared)
        slack = before * min(1e-5, 1e-2 * self.tol)
        rose = ~(problem.user_values(new, shared) <= before + slack)
        # A ranking loss is modelled less well, and the models of users sent back are made to bend.
        self.trusted = problem.given.loss == "classification" and not rose.any()
        share = np.ones(len(before), dtype=problem.dtype)
        for attempt in range(1, MAX_BACKTRACKS + 2):
            if not rose.any():
                break
            share[rose] = BACKTRACK**attempt if attempt <= MAX_BACKTRACKS else 0.0
            mixed = between(old.totals, totals, share, users)
            new = self._with_rows(new, old, mixed, rose, share, tiled_pass)
            rose &= ~(problem.user_values(new, shared) <= before + slack) & (share > 0)
        return new._replace(shared=self._best_shared(new.totals)), share == 0

    def _best_shared(self, totals: Totals) -> NDArray[np.float64]:
        penalties = self.problem.penalties
        return closest_shared(totals.user, penalties.user_l2, penalties.shared_l1)

    def _with_rows(
        self,
        new: Point,
        old: Point,
        mixed: Totals,
        changed: NDArray[np.bool_],
        share: Array,
        tiled_pass: TiledPass | None,
    ) -> Point:
        """Evaluate the changed users' playlists at their new totals; the others stay."""
        problem = self.problem
        rows = np.flatnonzero(problem.users.spread(changed))
        back = problem.users.spread(share)[rows] == 0
        some = Totals(mixed.playlist[rows], mixed.user)
        if back.all():
            fresh = [array[rows] for array in old[2:]]
        else:
            fresh = list(problem.evaluate_rows(some, rows, tiled_pass)[2:])
            self.passes += (
                len(rows)
                / problem.given.n_playlists
                * (1 if tiled_pass is None else tiled_pass.n_songs / problem.objective.n_songs)
            )
        arrays = []
        for array, values in zip(new[2:], fresh, strict=True):
            array = array.copy()
            array[rows] = values
            arrays.append(array)
        return Point(mixed, new.shared, *arrays)

    def _learn(self, old: Point, new: Point, forget: float = 0.0) -> None:
        step = new.totals.playlist - old.totals.playlist
        with np.errstate(over="ignore", invalid="ignore"):
            self.curvature = learn_curvature(
                self.curvature, step, new.mean - old.mean, self.covariance, forget=forget
            )

    def _distrust(self, users: NDArray[np.bool_]) -> None:
        """Let the model of some users' playlists bend more, which shortens their steps."""
        rows = self.problem.users.spread(users)
        if rows.any():
            scale, removed, added = self.curvature
            scale = np.where(rows, 4 * scale, scale).astype(scale.dtype)
            if removed is not None and added is not None:
                removed = np.where(rows[:, None], 0, removed)
                added = np.where(rows[:, None], 0, added)
            self.curvature = Curvature(scale, removed, added)

    def _take_covariance(self, totals: Totals) -> None:
        """Take the covariance of songs, weighted by their scores for the mean playlist."""
        mean = totals.playlist.mean(axis=0, dtype=np.float64)
        scores = np.asarray(self.problem.features @ mean)
        covariance = tilted_moments(self.problem.features, scores).covariance
        self.covariance = covariance.astype(self.problem.dtype)

    def _expansion(self, point: Point) -> Expansion:
        return Expansion(
            point.totals.playlist,
            point.log_negative.astype(self.problem.dtype),
            point.mean,
            *self.curvature,
            self.covariance,
        )

    def _record(self, point: Point) -> None:
        """Add an entry to the history; values are those of the objective, gaps are relative."""
        problem = self.problem
        value = problem.value(point)
        gap = duality_gap(
            value,
            point.losses,
            point.gradients,
            point.totals.playlist,
            point.shared,
            problem.users,
            problem.penalties,
        )
        entry = {
            "objective": value / problem.given.n_playlists,
            "optimality": self.predicted / value,
            "dual_gap": gap.full / value,
            "restricted_gap": gap.restricted / value,
            "kkt_residual": kkt_residual(
                point.gradients, point.totals, point.shared, problem.users, problem.penalties
            ),
            "passes": self.passes,
            "seconds": perf_counter() - self.clock,
        }
        for name, number in entry.items():
            self.history[name].append(number)
