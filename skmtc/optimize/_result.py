"""What a solver returns, and the warning when it stopped too early."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning


@dataclass
class SolverResult:
    """The outcome of a solver.

    Parameters
    ----------
    coef : ndarray of shape (1 + n_users + n_playlists, n_features)
        Coefficients in the layout of :class:`MultitaskObjective`.

    objective : float
        Value of the objective at `coef`.

    optimality : float
        The measure of optimality that the solver compares with `tol`.

    n_iter : int
        Number of iterations.

    converged : bool
        Whether the solver's stopping rule was met.

    message : str
        Why the solver stopped, in words.

    history : dict of str to list
        One value per iteration of each quantity that the solver records: `objective`,
        `optimality` and `seconds`; "prox-newton" also `passes` over the data, and `dual_gap` and
        `restricted_gap`, bounds on the relative suboptimality, and starts with an entry for
        the first point.

    Examples
    --------
    >>> import numpy as np
    >>> from skmtc.optimize import SolverResult
    >>> result = SolverResult(np.zeros((3, 2)), 2.0, 0.5, n_iter=10, converged=False,
    ...                       message="max_iter was reached")
    >>> result.converged
    False
    """

    coef: NDArray[np.float64]
    objective: float
    optimality: float
    n_iter: int
    converged: bool
    message: str
    history: dict[str, list[Any]] = field(default_factory=dict)


def warn_not_converged(result: SolverResult, *, tol: float, max_iter: int, hint: str = "") -> None:
    """Warn that a solver stopped early, with the optimality reached and what to change."""
    advice = hint or (
        "Increase `max_iter`, or `tol` if this is close enough, or the penalties; standardised "
        "features converge fastest."
    )
    # Steps can be small far from the minimum; then the message says what contradicts them.
    verdict = "did not converge" if result.optimality > tol else "may not have converged"
    warnings.warn(
        f"The solver {verdict} to tol={tol:g}: it reached an optimality of "
        f"{result.optimality:.2e} after {result.n_iter} iterations of max_iter={max_iter} "
        f"({result.message}). {advice}",
        ConvergenceWarning,
        stacklevel=3,
    )
