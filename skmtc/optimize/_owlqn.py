"""OWL-QN: L-BFGS for objectives with l1 penalties, the solver that the paper used."""

from collections import deque
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._penalty import l1_value, pseudo_gradient
from skmtc.optimize._result import SolverResult

Array = NDArray[np.float64]
Pairs = deque[tuple[Array, Array, float]]

# Share of the predicted decrease that a step must bring (Armijo's rule).
SUFFICIENT_DECREASE = 1e-4
MAX_HALVINGS = 40
HISTORY = ("objective", "optimality", "seconds")


def solve_owlqn(
    objective: MultitaskObjective,
    coef0: Array | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    memory: int = 10,
    random_state: int | None = None,
    callback: Callable[[dict[str, Any]], Any] | None = None,
    history0: Mapping[str, list[Any]] | None = None,
) -> SolverResult:
    """Minimise a multitask objective by orthant-wise limited-memory quasi-Newton steps.

    In each iteration:

    1. the pseudo-gradient, the subgradient of smallest norm, takes the place of the gradient;
    2. L-BFGS turns it into a direction, in which entries that point uphill are set to zero;
    3. a line search follows the direction within the orthant of the current point, or, for
       coefficients at zero, the orthant that the pseudo-gradient points to: coefficients that
       would change sign become zero;
    4. the change of the smooth gradient updates the L-BFGS memory.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise.

    coef0 : ndarray of shape `objective.shape`, default=None
        Where to start; None starts at zero.

    tol : float, default=1e-4
        Stop when `objective.kkt_residual` is at most this.

    max_iter : int, default=1000
        Most iterations.

    memory : int, default=10
        Number of L-BFGS corrections.

    random_state : int or None, default=None
        Ignored: nothing here is random. All solvers have it.

    callback : callable, default=None
        Called after every iteration with a dict of the newest entries of the history,
        `iteration`, the whole `history`, and `coef`, a function that returns the coefficients. The
        solver stops when it returns True.

    history0 : dict of str to list, default=None
        History of the run that reached `coef0`, to resume it: `max_iter` counts its iterations.

    Returns
    -------
    result : SolverResult
        The coefficients found, and how good they are. `optimality` is the KKT residual.

    References
    ----------
    G. Andrew, J. Gao. Scalable training of L1-regularized log-linear models. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from skmtc.optimize import MultitaskObjective, solve_owlqn
    >>> membership = csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, 0]]))
    >>> objective = MultitaskObjective([[-1.0], [1.0], [2.0], [0.0]], membership, [0, 0])
    >>> result = solve_owlqn(objective, tol=1e-6)
    >>> result.converged, bool(result.objective < objective.value(objective.zeros()))
    (True, True)
    """
    start = perf_counter()
    coef = objective.zeros() if coef0 is None else np.array(coef0, dtype=np.float64)
    l1, scale = objective.l1, coefficient_scale(objective)
    smooth, gradient = objective.value_and_gradient(coef)
    if not np.isfinite(smooth):  # scores overflow at `coef0`: start at zero
        coef = objective.zeros()
        smooth, gradient = objective.value_and_gradient(coef)
    value = smooth + l1_value(coef, l1)
    pairs: Pairs = deque(maxlen=memory)
    history: dict[str, list[Any]] = {name: list((history0 or {}).get(name, [])) for name in HISTORY}
    start -= history["seconds"][-1] if history0 else 0.0
    optimality = objective.kkt_residual(coef, gradient)
    iteration, message = len(history["objective"]), "max_iter was reached"

    while optimality > tol and iteration < max_iter:
        # 1. The pseudo-gradient. 2. and 3. The L-BFGS direction, and a line search along it.
        slope = pseudo_gradient(coef, gradient, l1)
        step = _line_search(
            objective, coef, value, slope, _direction(slope, pairs, l1, scale), l1, pairs
        )
        if step is None and pairs:
            pairs.clear()  # the memory may be misleading: try plain descent before giving up
            step = _line_search(
                objective, coef, value, slope, _direction(slope, pairs, l1, scale), l1, pairs
            )
        if step is None:
            message = "no step lowers the objective any more: rounding limits the accuracy"
            break
        new_coef, value, new_gradient = step
        # 4. Update the memory.
        _remember(pairs, new_coef - coef, new_gradient - gradient)
        coef, gradient = new_coef, new_gradient
        optimality = objective.kkt_residual(coef, gradient)
        iteration += 1
        history["objective"].append(value)
        history["optimality"].append(optimality)
        history["seconds"].append(perf_counter() - start)
        if callback is not None and callback(
            {name: values[-1] for name, values in history.items()}
            | {"iteration": iteration, "history": history, "coef": coef.copy}
        ):
            message = "the callback asked to stop"
            break

    converged = bool(np.isfinite(value)) and optimality <= tol
    return SolverResult(
        coef=coef,
        objective=value,
        optimality=optimality,
        n_iter=iteration,
        converged=converged,
        message="optimality is at most tol" if converged else message,
        history=history,
    )


def coefficient_scale(objective: MultitaskObjective) -> Array:
    """Return the order of magnitude of the second derivative by each coefficient.

    That of a playlist's loss is taken for the mean square of the feature, its value at zero.
    """
    squares = objective.features * objective.features
    mean_squares = np.asarray(squares.mean(axis=0), dtype=np.float64)[: objective.n_features]
    mean_squares[mean_squares == 0] = 1.0
    weight = objective.sample_weight
    of_user = np.bincount(objective.user_of_playlist, weight)
    scale = np.outer(np.concatenate([[weight.sum()], of_user, weight]), mean_squares)
    objective.split(scale)[1][:] += 2 * objective.user_l2
    return np.asarray(scale / objective.n_playlists)


def _direction(slope: Array, pairs: Pairs, l1: Array, scale: Array) -> Array:
    """Return the L-BFGS direction, without the entries that point uphill.

    Rows without an l1 penalty have no orthants and keep theirs.
    """
    direction = _two_loop(slope, pairs, scale)
    uphill = (direction * slope >= 0) & (l1 > 0)
    direction[uphill] = 0.0
    return direction


def _two_loop(slope: Array, pairs: Pairs, scale: Array) -> Array:
    """Multiply minus the slope by the inverse Hessian of the L-BFGS memory.

    Without memory the Hessian is taken for a multiple of `scale`.
    """
    direction = -slope
    factors = []
    for step, change, inverse in reversed(pairs):
        factor = inverse * np.vdot(step, direction)
        direction -= factor * change
        factors.append(factor)
    direction /= scale
    if pairs:
        step, change, _ = pairs[-1]
        direction *= np.vdot(step, change) / np.vdot(change, change / scale)
    for (step, change, inverse), factor in zip(pairs, reversed(factors), strict=True):
        direction += step * (factor - inverse * np.vdot(change, direction))
    return direction


def _line_search(
    objective: MultitaskObjective,
    coef: Array,
    value: float,
    slope: Array,
    direction: Array,
    l1: Array,
    pairs: Pairs,
) -> tuple[Array, float, Array] | None:
    """Halve the step until the objective falls enough; return None if it never does."""
    orthant = np.where(coef != 0, np.sign(coef), -np.sign(slope))
    # Without memory the direction has no scale: start with a step of length 1.
    size = 1.0 if pairs else 1.0 / max(float(np.linalg.norm(direction)), 1e-300)
    for _ in range(MAX_HALVINGS):
        new = coef + size * direction
        np.copyto(new, 0.0, where=(new * orthant < 0) & (l1 > 0))
        predicted = float(np.vdot(slope, new - coef))
        smooth, gradient = objective.value_and_gradient(new)
        new_value = smooth + l1_value(new, l1)
        if predicted < 0 and new_value <= value + SUFFICIENT_DECREASE * predicted:
            return new, new_value, gradient
        size *= 0.5
    return None


def _remember(pairs: Pairs, step: Array, change: Array) -> None:
    """Keep a correction unless its curvature is lost in rounding."""
    curvature = float(np.vdot(step, change))
    if curvature > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        pairs.append((step, change, 1.0 / curvature))
