"""Callbacks of scikit-learn 1.9 and later during a fit."""

from contextlib import contextmanager

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


@contextmanager
def fit_callbacks(ranker, X):
    """Report the beginning and the end of a fit to the callbacks of a ranker.

    Parameters
    ----------
    ranker : estimator
        The ranker that is being fitted.

    X : DataFrame or array
        The table that it is fitted on.

    Yields
    ------
    callbacks : FitCallbacks
        Reports the iterations of the solver.
    """
    try:
        callbacks = FitCallbacks(ranker, X)
        yield callbacks
        callbacks.fit_ends()
    finally:
        _tear_down(ranker)


@with_callbacks
def _tear_down(ranker):
    """Do nothing: scikit-learn tears callbacks down at the end of a decorated method."""


class FitCallbacks:
    """Report the iterations of a solver to the callbacks of a ranker.

    Parameters
    ----------
    ranker : estimator
        The ranker that is being fitted.

    X : DataFrame or array
        The table that it is fitted on.

    Attributes
    ----------
    stopped : bool
        Whether a callback stopped the fit.
    """

    def __init__(self, ranker, X):
        self.stopped = False
        # `ScoringMonitor` gives no score without y. All rows are positives; rankers ignore it.
        self._data = {"estimator": ranker, "X": X, "y": np.broadcast_to(1.0, len(X))}
        self._context = None
        if HAS_CALLBACKS:
            self._context = ranker._init_callback_context(max_subtasks=ranker.max_iter)
            self._context.call_on_fit_task_begin(**self._data)

    def iteration_ends(self, state, attributes):
        """Report the end of an iteration; return whether a callback stops the fit.

        Parameters
        ----------
        state : dict
            State of the solver.

        attributes : callable
            Returns the fitted attributes of the ranker if the solver stopped now. It is called
            only if a callback asks for them.

        Returns
        -------
        stopped : bool
            Whether to stop.
        """
        if self._context is None:
            return False
        context = self._context.subcontext(task_name=f"iteration {state['iteration']}")
        context.call_on_fit_task_begin(**self._data)
        self.stopped = context.call_on_fit_task_end(
            **self._data, reconstruction_attributes=attributes
        )
        return self.stopped

    def fit_ends(self):
        """Report that the ranker is fitted."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._data, reconstruction_attributes={})
