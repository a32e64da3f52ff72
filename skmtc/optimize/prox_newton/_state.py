"""What solvers keep between iterations: the problem, the clock and the history."""

from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import Any

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize.prox_newton._certificate import duality_gap, kkt_residual
from skmtc.optimize.prox_newton._problem import Iterate, SortedProblem

HISTORY = (
    "objective",
    "optimality",
    "dual_gap",
    "restricted_gap",
    "kkt_residual",
    "passes",
    "seconds",
)


class SolverState:
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
        Suboptimality of the newest iterate by the last model, for a sum over playlists.

    null_steps : int
        Number of iterations in a row that lowered nothing.
    """

    def __init__(self, objective: MultitaskObjective, tol: float) -> None:
        self.clock = perf_counter()
        self.tol = tol
        self.problem = SortedProblem(objective)
        self.threads = self.problem.objective.tiled_pass.threads
        self.forget_history()

    def forget_history(self) -> None:
        """Start to count anew."""
        self.passes = 0.0
        self.predicted = float("inf")
        self.null_steps = 0
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY}

    def change_penalties(self, point: Iterate, **penalties: float) -> None:
        """Go on from an iterate with other penalties."""
        self.problem.change_penalties(**penalties)
        self.forget_history()
        self.clock = perf_counter()
        self.record(point)

    def go_on(self, history: Mapping[str, list[Any]]) -> None:
        """Take up the history of an earlier run."""
        self.history = {name: list(history[name]) for name in HISTORY}
        self.passes = self.history["passes"][-1]
        self.clock -= self.history["seconds"][-1]

    @property
    def n_iter(self) -> int:
        """Number of iterations; the history starts with an entry for the first iterate."""
        return len(self.history["objective"]) - 1

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
