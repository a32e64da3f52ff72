"""The state of estimators: its version, and that `fit` changes all of it or nothing."""

import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning

import skmtc
from skmtc import MultitaskPlaylistRanker
from skmtc._utils.estimator_state import VERSION_KEY
from skmtc.persistence import load, save
from tests.test_estimator_checks import ESTIMATORS
from tests.test_ranker_checks import QUERIES, SONG_FEATURES, X_ALL, X_TRAIN, each_ranker


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_pickle_tells_its_version(estimator, monkeypatch, tmp_path):
    assert estimator.__getstate__()[VERSION_KEY] == skmtc.__version__
    assert VERSION_KEY not in vars(pickle.loads(pickle.dumps(estimator)))  # and warns of nothing
    monkeypatch.setattr("skmtc._utils.estimator_state.__version__", "0.0.7")
    stored = pickle.dumps(estimator)
    save(estimator, tmp_path / "model.skops")
    monkeypatch.undo()
    for again in (lambda: pickle.loads(stored), lambda: load(tmp_path / "model.skops")):
        with pytest.warns(InconsistentVersionWarning, match=r"0\.0\.7 \(of skmtc\)") as caught:
            assert repr(again()) == repr(estimator)
        assert {w.message.estimator_name for w in caught} >= {type(estimator).__name__}


def test_a_state_without_a_version_warns():
    ranker = MultitaskPlaylistRanker()
    with pytest.warns(InconsistentVersionWarning, match="an unknown version"):
        ranker.__setstate__({"tol": 0.5})
    assert ranker.tol == 0.5


def _interrupt(*_args, **_parameters):
    raise KeyboardInterrupt


@each_ranker
@pytest.mark.parametrize("step", ["_fit", "store_table"])  # the first step, and the last
def test_an_interrupt_leaves_a_ranker_as_it_was(ranker, step, monkeypatch):
    ranker = clone(ranker)
    unfitted = vars(ranker).copy()
    monkeypatch.setattr(type(ranker), step, _interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X_TRAIN)
    assert vars(ranker) == unfitted
    monkeypatch.undo()
    expected = ranker.fit(X_TRAIN).predict(X_ALL)  # which may fit a model of new songs
    fitted = vars(ranker).copy()
    monkeypatch.setattr(type(ranker), step, _interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X_ALL)
    assert vars(ranker).keys() == fitted.keys()
    assert all(vars(ranker)[name] is fitted[name] for name in fitted)
    np.testing.assert_array_equal(ranker.predict(X_ALL), expected)


@pytest.mark.parametrize("name", ["prox-newton", "owlqn"])
def test_an_interrupted_solver_leaves_the_ranker_as_it_was(name, monkeypatch):
    ranker = MultitaskPlaylistRanker(
        solver=name, song_features=SONG_FEATURES, warm_start=True, tol=1.0, random_state=0
    )
    X = X_TRAIN
    ranker.fit(X)
    before = pickle.dumps(ranker)
    monkeypatch.setattr("skmtc.rankers.multitask._ranker_objective._print_iteration", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.set_params(verbose=1, tol=1e-9).fit(X)  # where it stands it may not stay
    assert pickle.dumps(ranker.set_params(verbose=0, tol=1.0)) == before


@pytest.mark.parametrize("encoder", [e for e in ESTIMATORS if hasattr(e, "_fit_column")])
def test_an_interrupted_encoder_is_as_it_was(encoder, monkeypatch):
    encoder = clone(encoder).fit(X_TRAIN[["artist"]])
    fitted = vars(encoder).copy()
    monkeypatch.setattr(type(encoder), "_fit_column", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        encoder.fit(X_ALL[["artist", "song"]])
    assert vars(encoder) == fitted


INTERRUPTED = """
import os, signal, threading
from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists

X = make_playlists(300, 3000, 900, 15, random_state=0).drop(columns="year")
ranker = MultitaskPlaylistRanker(tol=1e-14, max_iter=100_000, random_state=0, verbose=1)
before = vars(ranker).copy()
print("ready", flush=True)
try:
    ranker.fit(X)
except KeyboardInterrupt:
    print("interrupted", vars(ranker) == before)
"""


def _heed_interrupts():
    """Undo what a shell does to jobs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.posix
def test_a_real_signal_leaves_the_ranker_as_it_was():
    command = [sys.executable, "-u", "-c", INTERRUPTED]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
    ) as process:
        for line in process.stdout:
            if line.startswith("iteration"):  # in the middle of fit
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert rest.splitlines()[-1] == "interrupted True"


@each_ranker
def test_threads_share_a_ranker(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    expected, recommended = ranker.predict(X_ALL), ranker.recommend(QUERIES)
    stored = pickle.dumps(ranker)
    for _ in range(3):
        fresh = pickle.loads(stored)  # its lookups are not made yet
        n_threads, results = 8, []
        barrier = threading.Barrier(n_threads)

        def ask(fresh=fresh, barrier=barrier, results=results):
            barrier.wait()
            results.append((fresh.predict(X_ALL), *fresh.recommend(QUERIES)))

        threads = [threading.Thread(target=ask) for _ in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == n_threads
        for scores, songs, best in results:
            np.testing.assert_array_equal(scores, expected)
            np.testing.assert_array_equal(songs, recommended[0])
            np.testing.assert_array_equal(best, recommended[1])
