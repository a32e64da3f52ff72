"""The solver for small problems: Newton steps with exact Hessians, certified by their decrement."""

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize.prox_newton._exact import Coefficients, ExactLosses, ExactNewton
from skmtc.optimize.prox_newton._problem import Iterate, SortedProblem
from skmtc.optimize.prox_newton._state import SolverState
from skmtc.optimize.prox_newton._user_step import Totals

Array = NDArray[np.float64]

# The bound on the suboptimality is exact to second order; half of `tol` leaves room for the rest.
SAFETY = 0.5


class ExactSolver(SolverState):
    """The state of the solver between iterations.

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
        self.converged = False

    def forget_history(self) -> None:
        """Start to count anew."""
        super().forget_history()
        self.converged = False

    def start(self, coef0: Array | None) -> Iterate:
        """Start at the coefficients given, or at zero if the objective is lower there."""
        shape = (self.problem.given.shape[0], self.problem.given.n_features)
        point = self._iterate(coefficients_of(self.problem, np.zeros(shape)))
        if coef0 is not None:
            given = self._iterate(coefficients_of(self.problem, coef0))
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
        expansion = newton.expand(at)
        move = newton.step(at, expansion)
        self.passes += 1
        self.predicted = float(move.bounds[0])
        fell = bool(move.decreases.sum() > 0)
        self.null_steps = 0 if fell else self.null_steps + 1
        new = self._iterate(move.at) if fell else point
        # What was left before the step bounds what is left after it.
        self.record(new)
        newest = self.newest()
        certified = newest["optimality"] <= SAFETY * self.tol
        self.converged = certified or newest["dual_gap"] <= self.tol
        return new

    def _iterate(self, at: Coefficients) -> Iterate:
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
