"""The solvers of the multitask objective, by name: one record each."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from skmtc.optimize._owlqn import solve_owlqn
from skmtc.optimize._result import SolverResult
from skmtc.optimize.prox_newton import prox_newton_path, solve_prox_newton, solve_users


class Solver(NamedTuple):
    """A solver as `fit`, `partial_fit` and `regularization_path` call it.

    Attributes
    ----------
    solve : callable
        Minimises a `MultitaskObjective`: ``solve(objective, coef0=None, *, tol, max_iter,
        random_state, callback, history0)`` returns a `SolverResult`.

    solve_users : callable
        The same for users alone, with the shared weights fixed: the objective is a `FixedShared`.

    takes_single_precision : bool
        Whether features in single precision are exact enough for a tolerance of 1e-5 or more.

    solve_path : callable or None
        Minimises for one setting of the penalties after the other, ``solve_path(objective,
        penalties, *, tol, max_iter, random_state, callback)``, for `regularization_path`.
    """

    solve: Callable[..., SolverResult]
    solve_users: Callable[..., SolverResult]
    takes_single_precision: bool = False
    solve_path: Callable[..., Iterator[SolverResult]] | None = None


SOLVERS = {
    "prox-newton": Solver(solve_prox_newton, solve_users, True, prox_newton_path),
    "owlqn": Solver(solve_owlqn, solve_owlqn),
}
