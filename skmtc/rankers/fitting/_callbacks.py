"""Watching a fit by scikit-learn's callbacks, which there are from version 1.9 on."""

import numpy as np

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ImportError:  # scikit-learn below 1.9
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's class: there are no callbacks."""

    def with_callbacks(method):
        """Stand in for scikit-learn's decorator: there are no callbacks."""
        return method


class FitCallbacks:
    """Reports to the callbacks of a ranker about the iterations of its solver.

    Parameters
    ----------
    ranker : estimator
        The ranker that is being fitted.

    X : DataFrame or array
        The table that it is fitted on.

    attributes_at : callable
        Returns the fitted attributes for an objective and the coefficients of an iteration.
    """

    def __init__(self, ranker, X, attributes_at):
        self.attributes_at = attributes_at
        self.stopped = False
        # `ScoringMonitor` gives no score without y. All rows are positives; rankers ignore it.
        self._data = {"estimator": ranker, "X": X, "y": np.ones(len(X))}
        self._context = None
        if HAS_CALLBACKS:
            self._context = ranker._init_callback_context(max_subtasks=ranker.max_iter)
            self._context.call_on_fit_task_begin(**self._data)

    def iteration_ends(self, objective, state):
        """Report that an iteration ended; give whether a callback wants the fit to stop."""
        if self._context is None:
            return False
        context = self._context.subcontext(task_name=f"iteration {state['iteration']}")
        context.call_on_fit_task_begin(**self._data)
        self.stopped = context.call_on_fit_task_end(
            **self._data,
            # Called only if a callback asks for the ranker as it is by now.
            reconstruction_attributes=lambda: self.attributes_at(objective, state["coef"]()),
        )
        return self.stopped

    def fit_ends(self):
        """Report that the ranker is fitted."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._data, reconstruction_attributes={})
