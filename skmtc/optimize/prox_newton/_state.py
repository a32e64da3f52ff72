"""The state of a solver between iterations: its history, with bounds on the suboptimality."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._penalty import pseudo_gradient
from skmtc.optimize._result import SolverResult
from skmtc.optimize.prox_newton._problem import Iterate, Penalties, SortedProblem, Totals, Users

Array = NDArray[np.floating[Any]]

HISTORY = (
    "objective",
    "optimality",
    "dual_gap",
    "restricted_gap",
    "kkt_residual",
    "passes",
    "seconds",
)
# Iterations in a row that do not lower the objective, before rounding is taken for the reason:
# more cost passes, fewer may stop while a larger curvature would still have helped.
MAX_NULL_STEPS = 8


class SolverState(ABC):
    """The problem, and the history of the iterates.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise.

    tol : float
        Relative suboptimality to reach.

    Attributes
    ----------
    predicted : float
        Suboptimality of the newest iterate as the last model predicts it, for a sum over playlists.

    null_steps : int
        Number of iterations in a row that did not lower the objective.

    stopped : str
        Why no more iterations should follow; empty as long as they should.
    """

    def __init__(self, objective: MultitaskObjective, tol: float) -> None:
        self.clock = perf_counter()
        self.tol = tol
        self.problem = SortedProblem(objective)
        self.threads = self.problem.objective.tiled_pass.threads
        self.forget_history()

    def forget_history(self) -> None:
        """Reset the history and all counts."""
        self.passes = 0.0
        self.predicted = float("inf")
        self.null_steps = 0
        self.stopped = ""
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY}

    def change_penalties(self, point: Iterate, **penalties: float) -> None:
        """Set other penalties, and record the iterate under them."""
        self.problem.change_penalties(**penalties)
        self.forget_history()
        self.clock = perf_counter()
        self.record(point)

    def go_on(self, history: Mapping[str, list[Any]]) -> None:
        """Resume the history of an earlier run."""
        self.history = {name: list(history[name]) for name in HISTORY}
        self.passes = self.history["passes"][-1]
        self.clock -= self.history["seconds"][-1]

    @property
    @abstractmethod
    def converged(self) -> bool:
        """Whether the newest iterate is optimal to `tol`."""

    @property
    @abstractmethod
    def stalled(self) -> bool:
        """Whether steps are short although the duality gap is loose."""

    @property
    def n_iter(self) -> int:
        """Number of iterations; the history starts with an entry for the first iterate."""
        return len(self.history["objective"]) - 1

    def check_progress(
        self, point: Iterate, callback: Callable[[dict[str, Any]], Any] | None
    ) -> None:
        """Call the callback after an iteration, and set `stopped` if there is a reason to stop."""
        asked = callback is not None and callback(self.state(point))
        if self.converged:
            self.stopped = "optimality is at most tol"
        elif self.null_steps >= MAX_NULL_STEPS:
            self.stopped = "no step lowers the objective any more: rounding limits the accuracy"
        elif self.stalled:
            self.stopped = "steps are small, but the duality gap does not confirm the suboptimality"
        elif asked:
            self.stopped = "the callback asked to stop"

    def result(self, point: Iterate) -> SolverResult:
        """Return the result, if the last iterate is `point`."""
        newest = self.newest()
        return SolverResult(
            coef=self.problem.coef_of(point),
            objective=newest["objective"],
            optimality=newest["optimality"],
            n_iter=self.n_iter,
            converged=self.converged,
            message=self.stopped or "max_iter was reached",
            history=self.history,
        )

    def state(self, point: Iterate) -> dict[str, Any]:
        """Return what a callback gets."""
        return self.newest() | {
            "iteration": self.n_iter,
            "history": self.history,
            "coef": partial(self.problem.coef_of, point),
        }

    def newest(self) -> dict[str, Any]:
        """Return the newest entry of the history."""
        return {name: values[-1] for name, values in self.history.items()}

    def record(self, point: Iterate) -> None:
        """Append an entry to the history; values are those of the objective, gaps are relative."""
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
            "optimality": min(self.predicted, gap.full) / value,
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


class Gap(NamedTuple):
    """Bounds on the distance of the objective to its minimum, for a sum over playlists.

    Attributes
    ----------
    full : float
        No coefficients have an objective that is lower by more.

    restricted : float
        None with shared weights of l1 norm at most 2 ||shared||_1 + 1 do. Much tighter.
    """

    full: float
    restricted: float


def duality_gap(
    value: float,
    losses: Array,
    gradients: Array,
    weights: Array,
    shared: Array,
    users: Users,
    penalties: Penalties,
) -> Gap:
    """Bound the distance to the minimum by Fenchel duality.

    The gradients of the losses, scaled down to where the penalties allow, are a feasible point of
    the dual problem. Because the losses are log-convex, the conjugate at a scaled gradient kappa g
    is at most kappa (w.g + (log kappa - 1) loss).

    Parameters
    ----------
    value : float
        Objective, as a sum over playlists.

    losses : ndarray of shape (n_playlists,)
        Losses of the playlists.

    gradients, weights : ndarray of shape (n_playlists, n_features)
        Their gradients, and the weights where they are.

    shared : ndarray of shape (n_features,)
        Shared weights.

    users : Users
        Which playlists belong to each user.

    penalties : Penalties
        Penalties for a sum over playlists.

    Returns
    -------
    gap : Gap
        The bounds.
    """
    # The dual constraint of own weights: |kappa_i g_i| <= playlist_l1 in every feature.
    largest = np.abs(gradients).max(axis=1).astype(np.float64)
    scale = np.minimum(1.0, penalties.playlist_l1 / np.maximum(largest, 1e-300))
    products = np.einsum("nd,nd->n", weights, gradients, dtype=np.float64)
    by_user = users.sum(scale[:, None] * gradients)
    # That of the shared weights: |sum_i kappa_i g_i| <= shared_l1.
    total = np.abs(by_user.sum(axis=0, dtype=np.float64)).max()

    def dual(factor: float) -> float:
        # sum_i kappa_i (loss_i (1 - log kappa_i) - w_i.g_i) - sum_u |sum_i kappa_i g_i|^2 / (4 L)
        scaled = factor * scale
        entropy = losses * (1 - np.log(np.maximum(scaled, 1e-300)))
        conjugate = np.sum(scaled * (entropy - products))
        norms = factor**2 * np.sum(np.square(by_user, dtype=np.float64))
        if norms > 0:
            conjugate -= norms / (4 * max(penalties.user_l2, 1e-300))
        return float(conjugate)

    # Full: scale down until the constraint of the shared weights holds. Restricted: subtract
    # from the dual what a violated constraint can cost within the radius.
    fits = min(1.0, penalties.shared_l1 / max(total, 1e-300))
    radius = 2 * float(np.abs(shared).sum()) + 1
    excess = radius * max(0.0, total - penalties.shared_l1)
    # Losses are positive, so zero bounds the objective, too.
    return Gap(value - max(dual(fits), 0.0), value - max(dual(1.0) - excess, 0.0))


def kkt_residual(
    gradients: Array,
    totals: Totals,
    shared: NDArray[np.float64],
    users: Users,
    penalties: Penalties,
) -> float:
    """Return :meth:`MultitaskObjective.kkt_residual`, from the gradients of playlists.

    Parameters
    ----------
    gradients : ndarray of shape (n_playlists, n_features)
        Gradients of the losses of playlists.

    totals : Totals
        Weights of playlists and users.

    shared : ndarray of shape (n_features,)
        Shared weights.

    users : Users
        Which playlists belong to each user.

    penalties : Penalties
        Penalties for a sum over playlists.

    Returns
    -------
    residual : float
        The distance to optimality.
    """
    own = totals.playlist - users.spread(totals.user)
    is_zero = ~own.any(axis=1)
    # A gradient violates the conditions of own weights of zero by what exceeds the penalty.
    excess = np.abs(gradients[is_zero]).max(initial=0.0) - penalties.playlist_l1
    slopes = pseudo_gradient(
        own[~is_zero].astype(np.float64),
        gradients[~is_zero].astype(np.float64),
        penalties.playlist_l1,
    )
    playlist = max(excess, np.abs(slopes).max(initial=0.0))
    # grad_u = sum_i g_i + 2 user_l2 a_u over the user's playlists; the shared weights sum over all
    by_user = users.sum(gradients).astype(np.float64)
    user = by_user + 2 * penalties.user_l2 * (totals.user - shared)
    total = pseudo_gradient(shared, by_user.sum(axis=0), penalties.shared_l1)
    return float(
        max(
            playlist,
            np.max(np.abs(user) / users.counts[:, None]),
            np.abs(total).max() / len(gradients),
        )
    )


def user_gaps(
    values: Array,
    losses: Array,
    gradients: Array,
    weights: Array,
    shared: Array,
    users: Users,
    penalties: Penalties,
) -> NDArray[np.float64]:
    """Bound the distance of each user to its minimum, with the shared weights fixed.

    As in :func:`duality_gap`, but the sum of a user's gradients has no constraint, and enters the
    dual by the l2 penalty alone.

    Parameters
    ----------
    values : ndarray of shape (n_users,)
        Each user's part of the objective, as a sum over playlists.

    losses, gradients, weights, shared, users, penalties
        As in :func:`duality_gap`.

    Returns
    -------
    gaps : ndarray of shape (n_users,)
        No weights of the user and of the user's playlists lower its part by more.
    """
    largest = np.abs(gradients).max(axis=1).astype(np.float64)
    scale = np.minimum(1.0, penalties.playlist_l1 / np.maximum(largest, 1e-300))
    scaled = scale[:, None] * gradients
    products = np.einsum("nd,nd->n", weights, scaled, dtype=np.float64)
    entropy = scale * losses * (1 - np.log(np.maximum(scale, 1e-300)))
    by_user = users.sum(scaled)
    norms = np.einsum("ud,ud->u", by_user, by_user)
    charge = np.where(norms > 0, norms / (4 * max(penalties.user_l2, 1e-300)), 0.0)
    dual = users.sum(entropy - products) + by_user @ shared - charge
    # Losses are positive, so zero bounds the objective, too.
    return np.asarray(values - np.maximum(np.nan_to_num(dual, nan=0.0), 0.0))
