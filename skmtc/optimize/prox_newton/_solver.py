"""The proximal Newton solver: choose the method for the size of a problem, and iterate."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._result import SolverResult
from skmtc.optimize.prox_newton._exact import ExactSolver, is_small
from skmtc.optimize.prox_newton._prox_newton import ProxNewton


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

    Z is the mean of exp(score) over the songs outside a playlist. Between two passes over the data
    a convex surrogate is minimised, in which only log Z is modelled. In each iteration:

    1. minimise the surrogate: steps of the shared weights, in which users respond, alternate with
       steps of each user, with the shared weights fixed, while they lower it enough;
    2. evaluate the new point by a pass over the data, except for users with little to gain, who
       keep their weights;
    3. backtrack the users whose part of the objective rose;
    4. learn the curvature of the next surrogate from the two passes;
    5. bound the suboptimality.

    Without `coef0`, the first iterations use a sample of songs with the mean and the covariance of
    the catalogue. Problems that are small enough for exact Hessians are solved by Newton steps with
    these instead.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise.

    coef0 : ndarray of shape `objective.shape`, default=None
        Where to start.

    tol : float, default=1e-3
        Relative suboptimality to reach. Small problems end by the Newton decrement of exact
        Hessians; large ones when the decrease that the surrogate predicts, the last decrease and
        the geometric series of decreases are at most 0.3 * `tol` times the objective, unless the
        duality gap contradicts them. A duality gap of at most `tol` ends both.

    max_iter : int, default=100
        Most iterations.

    random_state : int or None, default=0
        Seed of the sample of songs.

    callback : callable, default=None
        Called after every iteration with a dict of the newest entries of the history,
        `iteration`, the whole `history`, and `coef`, a function that returns the coefficients. The
        solver stops when it returns True.

    history0 : dict of str to list, default=None
        History of the run that reached `coef0`, to resume it: `max_iter` counts its iterations.

    Returns
    -------
    result : SolverResult
        The coefficients found. `optimality` is the relative decrease that the last model
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
    solver = make_solver(objective, tol, random_state)
    if history0 is not None:
        solver.go_on(history0)
    with solver.threads.one_blas_thread():
        point = solver.start(coef0)
        while solver.n_iter < max_iter and not solver.stopped:
            point = solver.iterate(point)  # steps 1 to 5
            solver.check_progress(point, callback)
    return solver.result(point)


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

    Each setting starts at the minimum of the one before, with the losses and the curvature known
    there: they do not depend on the penalties, so changing these takes no pass.

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
    solver = make_solver(objective, tol, random_state)
    with solver.threads.one_blas_thread():
        point = solver.start(None)
    for setting in penalties:
        solver.change_penalties(point, **setting)
        with solver.threads.one_blas_thread():
            while solver.n_iter < max_iter and not solver.stopped:
                point = solver.iterate(point)
                solver.check_progress(point, callback)
        yield solver.result(point)


def make_solver(
    objective: MultitaskObjective, tol: float, random_state: int | None
) -> ProxNewton | ExactSolver:
    """Return the solver for the size of a problem."""
    if is_small(objective):
        return ExactSolver(objective, tol)
    return ProxNewton(objective, tol, random_state)
