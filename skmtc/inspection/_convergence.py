"""Display of the convergence of solvers."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from skmtc._utils.validation import check_choice
from skmtc.inspection._figure_style import axes_and_figure, check_names, curve_style, finish_curves
from skmtc.inspection._score_decomposition import last_step

XLABELS = {"seconds": "seconds", "passes": "passes over the data", "iterations": "iterations"}
YLABELS = {
    "suboptimality": "relative suboptimality of the objective",
    "optimality": "measure of optimality of the solver",
    "objective": "objective",
}


class ConvergenceDisplay:
    """Curves of the distance of solvers to the optimum, against time or work.

    Make it with `from_estimator` or `from_histories`.

    Parameters
    ----------
    histories : dict of str to dict
        What solvers recorded, by name: `solver_history_` of a ranker, or `history` of a
        `SolverResult`.

    minimum : float or None, default=None
        The optimum, for the suboptimality. None: the smallest objective in any of the histories.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves are.

    figure_ : matplotlib Figure
        The figure of these axes.

    lines_ : list of matplotlib Line2D
        The curves.

    See Also
    --------
    skmtc.optimize.SolverResult : What solvers record.

    Examples
    --------
    The optimum is taken to be 1, the smallest objective of both. The last point of the second
    curve has reached it, which a logarithmic axis cannot show:

    >>> from skmtc.inspection import ConvergenceDisplay
    >>> histories = {
    ...     "slow": {"objective": [3.0, 2.0], "seconds": [1.0, 2.0]},
    ...     "fast": {"objective": [3.0, 1.0], "seconds": [1.0, 2.0]},
    ... }
    >>> display = ConvergenceDisplay.from_histories(histories)
    >>> [line.get_ydata().tolist() for line in display.lines_]
    [[2.0, 1.0], [2.0]]
    """

    def __init__(
        self, histories: Mapping[str, Mapping[str, Any]], *, minimum: float | None = None
    ) -> None:
        if not isinstance(histories, dict) or not histories:
            raise TypeError(
                f"`histories` must be a dict of histories by name; got {histories!r}. Pass e.g. "
                "{'prox-newton': ranker.solver_history_}."
            )
        self.histories = histories
        self.minimum = minimum

    def plot(
        self,
        ax: Any = None,
        *,
        x: str = "seconds",
        y: str = "suboptimality",
        name: str | Sequence[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curves.

        Points at which the quantity is not positive and finite cannot be drawn on a logarithmic
        axis and are left out: the smallest objective itself if it serves as optimum, and
        iterations for which a solver has no measure.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        x : {"seconds", "passes", "iterations"}, default="seconds"
            Time or work. Only "prox-newton" records passes over the data.

        y : {"suboptimality", "optimality", "objective"}, default="suboptimality"
            How close. The measures of optimality of different solvers do not compare; the
            suboptimality, (objective - minimum) / abs(minimum), does.

        name : str, list of str or None, default=None
            Names of the curves in the legend. None: those of the display.

        **kwargs : dict
            Passed on to matplotlib's `plot`, for every curve.

        Returns
        -------
        display : ConvergenceDisplay
            This display, with `ax_`, `figure_` and `lines_`.
        """
        check_choice("x", x, XLABELS)
        check_choice("y", y, YLABELS)
        labels = check_names(name, self.histories)
        points = [self._points(history, x, y) for history in self.histories.values()]
        self.ax_, self.figure_ = axes_and_figure(ax)
        self.lines_ = []
        for (across, up), label in zip(points, labels, strict=True):
            style = curve_style(self.ax_, kwargs)
            # In long histories, markers would cover the curve.
            style.setdefault("markevery", max(1, len(up) // 15))
            self.lines_ += self.ax_.plot(across, up, label=label, **style)
        self.ax_.set_yscale("log")
        finish_curves(self.ax_, self.lines_, xlabel=XLABELS[x], ylabel=YLABELS[y])
        return self

    @classmethod
    def from_estimator(
        cls,
        ranker: Any,
        *,
        minimum: float | None = None,
        x: str = "seconds",
        y: str = "suboptimality",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot how the solver of a fitted ranker converged.

        Parameters
        ----------
        ranker : estimator
            Fitted ranker with a `solver_history_`, such as `MultitaskPlaylistRanker`, or Pipeline
            or search that ends in one.

        minimum : float or None, default=None
            The optimum, if it is known from a fit with a smaller `tol`. None: the smallest
            objective in the history.

        x : {"seconds", "passes", "iterations"}, default="seconds"
            Time or work.

        y : {"suboptimality", "optimality", "objective"}, default="suboptimality"
            How close; as for `plot`.

        name : str or None, default=None
            Name of the curve. None: that of the ranker's solver.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `plot`.

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.
        """
        ranker = last_step(ranker)
        history = getattr(ranker, "solver_history_", None)
        if not history:
            raise TypeError(
                "The ranker must be fitted and have the history of its solver in "
                f"`solver_history_`, as MultitaskPlaylistRanker has; got {ranker!r}. Fit it, or "
                "use `from_histories`."
            )
        name = ranker.solver if name is None else name
        display = cls({name: history}, minimum=minimum)
        return display.plot(ax, x=x, y=y, **kwargs)

    @classmethod
    def from_histories(
        cls,
        histories: Mapping[str, Mapping[str, Any]],
        *,
        minimum: float | None = None,
        x: str = "seconds",
        y: str = "suboptimality",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot how several solvers converged.

        Parameters
        ----------
        histories : dict of str to dict
            What solvers of one and the same problem recorded, by name.

        minimum : float or None, default=None
            The optimum. None: the smallest objective in any of the histories.

        x : {"seconds", "passes", "iterations"}, default="seconds"
            Time or work.

        y : {"suboptimality", "optimality", "objective"}, default="suboptimality"
            How close; as for `plot`.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `plot`, for every curve.

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.
        """
        return cls(histories, minimum=minimum).plot(ax, x=x, y=y, **kwargs)

    def _points(self, history, x, y):
        """Return the points of a curve that a logarithmic axis can show."""
        for key in ({x} - {"iterations"}) | {"objective" if y == "suboptimality" else y}:
            if key not in history:
                raise ValueError(
                    f"Every history must have {key!r}; got one with {list(history)}. Choose "
                    "another `x` or `y`."
                )
        up = self._suboptimality(history) if y == "suboptimality" else np.asarray(history[y])
        across = np.arange(len(up)) if x == "iterations" else np.asarray(history[x])
        shown = np.isfinite(up) & (up > 0)
        return across[shown], up[shown]

    def _suboptimality(self, history):
        best = self.minimum
        if best is None:
            best = min(min(other["objective"]) for other in self.histories.values())
        return (np.asarray(history["objective"]) - best) / (abs(best) or 1.0)
