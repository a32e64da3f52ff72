"""The state of an estimator: stored with a version, and changed by `fit` as a whole or not."""

import warnings
from contextlib import contextmanager
from threading import RLock

from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from skmtc._utils.fitted_state import Labels, Plain, check_fitted_state
from skmtc._utils.packed_texts import pack_state, unpack_state
from skmtc._version import __version__

VERSION_KEY = "_skmtc_version"

# Lock for changes of fitted estimators. One for all, as a stack changes its rankers.
change_lock = RLock()


class VersionedState:
    """Mixin of estimators whose stored state has the version that wrote it, and is checked.

    It comes before `BaseEstimator`, which does the same for estimators of scikit-learn only.
    Subclasses list in `_derived` the attributes that are computed again when needed, and are not
    stored.
    """

    _derived: tuple[str, ...] = ()
    _fitted_state = {
        "n_features_in_": Plain.count("columns", optional=True),
        "feature_names_in_": Labels("columns", optional=True),
    }

    def __getstate__(self):
        stored = super().__getstate__() | {VERSION_KEY: __version__}
        return pack_state(_without_derived(self, stored))

    def __copy__(self):
        # Without the check of `__setstate__`, as rankers are also copied during a fit.
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__getstate__())
        del made.__dict__[VERSION_KEY]
        return made

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
        super().__setstate__(unpack_state(_without_derived(self, state)))
        check_fitted_state(self)

    def lasting_attributes(self):
        """Return parameters and fitted attributes by name, without those derived from them.

        :meta private:
        """
        return _without_derived(self, vars(self))


def _without_derived(estimator, state):
    return {n: value for n, value in state.items() if n not in estimator._derived}


@contextmanager
def all_or_nothing(estimator):
    """Restore an estimator if a change fails or is interrupted.

    References to the attributes are restored: attributes are replaced, never changed in place.
    """
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:  # an interrupt from the keyboard is no Exception
        estimator.__dict__ = before  # in one step, so that interrupts are safe
        raise


def replace_state(estimator, state):
    """Replace fitted attributes in one step, and drop those that are derived from others.

    Parameters
    ----------
    estimator : VersionedState
        A fitted estimator.

    state : dict
        New values by name.
    """
    estimator.__dict__ = estimator.lasting_attributes() | state


def snapshot(estimator):
    """Return a copy with the current attributes, which other threads do not change.

    The copy has all derived attributes. The estimator keeps those that it lacked, unless another
    thread changes it in the meantime.

    Parameters
    ----------
    estimator : VersionedState
        A fitted estimator with a method `make_derived`; an error is raised if it is not fitted.

    Returns
    -------
    made : VersionedState
        The copy, which shares its attributes with the estimator.
    """
    check_is_fitted(estimator)
    state = vars(estimator).copy()  # in one step
    made = type(estimator).__new__(type(estimator))
    made.__dict__ = state.copy()
    made.make_derived()
    new = {n: v for n, v in vars(made).items() if n in made._derived and n not in state}
    if new and change_lock.acquire(blocking=False):
        try:
            if all(vars(estimator).get(name) is value for name, value in state.items()):
                vars(estimator).update(new)
        finally:
            change_lock.release()
    return made
