"""The state of an estimator: stored with a version, and changed by `fit` as a whole or not."""

import warnings
from contextlib import contextmanager

from sklearn.exceptions import InconsistentVersionWarning

from skmtc._version import __version__

VERSION_KEY = "_skmtc_version"


class VersionedState:
    """Mixin of estimators whose stored state tells the version that made it.

    It stands before `BaseEstimator`, which does the same for estimators of scikit-learn only.
    """

    def __getstate__(self):
        return super().__getstate__() | {VERSION_KEY: __version__}

    def __setstate__(self, state):
        state = dict(state)
        made_by = state.pop(VERSION_KEY, "an unknown version")
        if made_by != __version__:
            warnings.warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"{__version__} (of skmtc)",
                    original_sklearn_version=f"{made_by} (of skmtc)",
                ),
                stacklevel=2,
            )
        super().__setstate__(state)


@contextmanager
def all_or_nothing(estimator):
    """Put an estimator back as it was if it cannot be changed to the end.

    What is put back are the attributes themselves: they are replaced, never changed in place.
    """
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:  # an interrupt from the keyboard is no Exception
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
