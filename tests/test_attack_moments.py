"""Interrupts at any moment, and threads that ask a ranker while others change it."""

import pickle
import signal
import threading
import time
from collections import Counter
from copy import copy

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from skmtc import MultitaskPlaylistRanker, RidgeRanker, StackingRanker
from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.fitted_state import check_fitted_state
from skmtc.datasets import make_playlists
from skmtc.rankers.history import TERMS

X = make_playlists(20, 80, 60, 15, n_features=3, repeat=0.3, random_state=0).drop(columns="year")
IS_OLD = X["playlist"].isin(X["playlist"].unique()[::2])
OLD, NEW = X[IS_OLD], X[~IS_OLD]
MULTITASK = MultitaskPlaylistRanker(history=TERMS, tol=0.1, random_state=0)
RANKERS = {
    "multitask": MULTITASK,
    "stack": StackingRanker([("one", MULTITASK), ("two", MULTITASK)], cv=[], random_state=0),
    "ridge": RidgeRanker(),
}
CHANGES = {
    "fit": lambda ranker: ranker.fit(X),
    "partial_fit": lambda ranker: ranker.partial_fit(NEW),
    "forget": lambda ranker: ranker.forget(ranker.users_[:5]),
}


class _Alarm:
    """Raises KeyboardInterrupt after some seconds, as a key does."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def _values(part):
    """Return all values that make a ranker, without what is derived and without times."""
    if issparse(part):
        return part.shape, _values(part.data), _values(part.indices), _values(part.indptr)
    if isinstance(part, np.ndarray):
        return part.tolist() if part.dtype == object else (part.dtype.str, part.tobytes())
    if isinstance(part, BaseEstimator):
        if isinstance(part, VersionedState):
            check_fitted_state(part)
        derived = getattr(part, "_derived", ())
        state = {name: value for name, value in vars(part).items() if name not in derived}
        return type(part).__name__, _values(state)
    if isinstance(part, dict):
        return {str(key): _values(value) for key, value in part.items() if key != "seconds"}
    if isinstance(part, list | tuple):
        return [_values(value) for value in part]
    return repr(part)


# An interrupt that comes while threadpoolctl lists libraries is lost, and reported by Python.
@pytest.mark.posix
@pytest.mark.filterwarnings("ignore:Exception ignored on calling ctypes callback")
# An interrupt may arrive within a callback of the garbage collector, which passes none on.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*gc_callback")
@pytest.mark.parametrize(
    ("name", "change"),
    [(n, c) for n in RANKERS for c in CHANGES if (n, c) != ("ridge", "partial_fit")],
)
def test_an_interrupt_leaves_the_old_ranker_or_the_new_one(name, change, attack):
    fitted = copy(RANKERS[name]).fit(OLD)
    stored = pickle.dumps(fitted)
    before = _values(pickle.loads(stored))
    changed = pickle.loads(stored)
    start = time.perf_counter()
    after = _values(CHANGES[change](changed))
    length = time.perf_counter() - start
    reported, rng = Counter(), np.random.default_rng(0)
    for _ in range(attack.times(4, 60)):
        ranker = pickle.loads(stored)
        try:
            with _Alarm(max(1e-6, rng.uniform(0.0, 1.1) * length)):
                CHANGES[change](ranker)
            reported["done"] += 1
        except KeyboardInterrupt:
            reported["interrupted"] += 1
        state = _values(ranker)
        assert state in (before, after)
        reported["new"] += state == after
    attack.record(f"interrupts of {change}: {name}", reported)
    assert reported["done"] + reported["interrupted"] == attack.times(4, 60)


def _batches(n_batches):
    """Split the new rows by playlist."""
    codes = NEW["playlist"].factorize()[0]
    return [NEW[codes % n_batches == k] for k in range(n_batches)]


def test_threads_ask_a_ranker_while_others_extend_it(attack):
    fitted = copy(MULTITASK).fit(OLD)
    stored = pickle.dumps(fitted)
    batches = _batches(6)
    # Playlists that nobody extends, of users who are not named: their scores never change but for
    # the history terms, which count songs of the catalogue, so these are left out.
    plain = pickle.loads(stored)
    plain.history_.gain = 0.0
    users = sorted(set(OLD["user"]) - set(NEW["user"]))
    asked = OLD[OLD["user"].isin(users)] if users else OLD
    reported, errors = Counter(), []
    end = time.monotonic() + attack.times(1.5, 60.0)

    def predict(ranker):
        assert np.isfinite(ranker.predict(asked)).all()

    def recommend(ranker):
        songs, scores = ranker.recommend(OLD[["playlist"]].drop_duplicates(), n_recommendations=5)
        assert np.isfinite(scores).all()
        assert (np.diff(scores, axis=1) <= 0).all()
        assert all(len(set(row)) == 5 for row in songs.tolist())

    def extend(ranker, batch):
        ranker.partial_fit(batch)

    while time.monotonic() < end and not errors:
        ranker = pickle.loads(pickle.dumps(plain))
        tasks = [lambda b=b, r=ranker: extend(r, b) for b in batches]
        tasks += [lambda r=ranker: predict(r), lambda r=ranker: recommend(r)] * 4
        _run_in_threads(tasks, 8, reported, errors)
        # Whatever the order, all rows are there.
        assert len(ranker.playlists_) == X["playlist"].nunique()
        assert ranker.membership_.nnz == len(X.drop_duplicates(["playlist", "song"]))
        check_fitted_state(ranker)
    assert not errors, errors[0]
    attack.record("calls by 8 threads", reported)
    assert reported["calls"] >= 14


def _run_in_threads(tasks, n_threads, reported, errors):
    """Run tasks, in the order of the list, in threads; collect the errors."""
    waiting, lock = list(tasks)[::-1], threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                task = waiting.pop()
            try:
                task()
                reported["calls"] += 1
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_snapshot_does_not_wait_for_a_change():
    ranker = copy(MULTITASK).fit(OLD)
    ranker.predict(OLD)
    started, may_end = threading.Event(), threading.Event()

    class Slow(MultitaskPlaylistRanker):
        def _appended_table(self, appended):
            started.set()
            may_end.wait(30)
            return super()._appended_table(appended)

    ranker.__class__ = Slow
    thread = threading.Thread(target=ranker.partial_fit, args=(NEW,))
    thread.start()
    started.wait(30)
    assert np.isfinite(ranker.predict(OLD)).all()  # while the other thread holds the lock
    assert len(ranker.playlists_) == OLD["playlist"].nunique()
    may_end.set()
    thread.join()
    assert len(ranker.playlists_) == X["playlist"].nunique()


def test_two_threads_that_extend_a_ranker_lose_nothing():
    ranker = copy(MULTITASK).fit(OLD)
    reported, errors = Counter(), []
    _run_in_threads([lambda b=b: ranker.partial_fit(b) for b in _batches(4)], 4, reported, errors)
    assert not errors
    assert set(ranker.playlists_) == set(X["playlist"])
    users = pd.Index(ranker.users_)
    owners = X.drop_duplicates("playlist").set_index("playlist")["user"]
    assert users[ranker.user_of_playlist_].tolist() == owners[ranker.playlists_].tolist()
