"""Checkpoints: whole or refused, never lost, and a killed fit goes on."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from attacks import damaged_copies

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.optimize import SolverResult
from skmtc.rankers.fitting import _checkpoint
from skmtc.rankers.fitting._checkpoint import Checkpoint, RefusedCheckpointError, read

PENALTIES = {"user_l2": 0.1, "playlist_l1": 0.2, "shared_l1": 0.001}
SOLVERS = {
    "prox-newton": {"solver": "prox-newton", "tol": 1e-9},
    "owlqn": {"solver": "owlqn", "tol": 1e-5},
}
FINGERPRINT = {"memberships": "a", "features": "b", "parameters": "c"}
SHAPE, TOL = (3, 2), 1e-3
ENTRIES = ("objective", "optimality", "seconds")
STOPPED_EARLY = "ignore:The solver did not converge"


@pytest.fixture(scope="module")
def X():
    return make_playlists(random_state=0).drop(columns="year")


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_checkpoint, "SHORTEST_INTERVAL", 0.0)
    monkeypatch.setattr(_checkpoint, "LARGEST_SHARE", 1.0)


def _ranker(path, solver="prox-newton", **parameters):
    return MultitaskPlaylistRanker(
        **PENALTIES | SOLVERS[solver] | parameters, checkpoint=path, random_state=0
    )


def _result(iteration, converged=False):
    coef = np.full(SHAPE, float(iteration))
    history = {name: [1.0 / (i + 1) for i in range(iteration)] for name in ENTRIES}
    last = history["objective"][-1]
    return SolverResult(coef, last, last, iteration, converged, "", history)


def _state(iteration):
    result = _result(iteration)
    return {"coef": lambda: result.coef, "history": result.history, "iteration": iteration}


def _load(path, fingerprint=FINGERPRINT, tol=TOL, shape=SHAPE):
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        loaded = Checkpoint(path, fingerprint, tol).load(shape)
    return loaded, [str(w.message) for w in reported]


def _saved(path, n_saves, fingerprint=FINGERPRINT):
    checkpoint = Checkpoint(path, fingerprint, TOL)
    for iteration in range(1, n_saves + 1):
        checkpoint.offer(_state(iteration))
    return checkpoint


@pytest.mark.usefixtures("at_once")
def test_what_is_loaded_is_what_was_saved_last(tmp_path):
    path = tmp_path / "fit.npz"
    for n_saves in (1, 2, 3):
        _saved(path, n_saves)
        loaded, reported = _load(path)
        np.testing.assert_array_equal(loaded.coef, np.full(SHAPE, float(n_saves)))
        assert loaded.history == _result(n_saves).history
        assert loaded.n_iter == n_saves
        assert not loaded.converged
        assert len(reported) == 1
        assert f"from iteration {n_saves}" in reported[0]
        assert [f.name for f in tmp_path.iterdir()] == ["fit.npz"]


def test_a_result_that_converged_to_a_larger_tolerance_is_not_the_end(tmp_path):
    path = tmp_path / "fit.npz"
    Checkpoint(path, FINGERPRINT, 1e-3).save(_result(3, converged=True))
    assert _load(path, tol=1e-3)[0].converged
    assert not _load(path, tol=1e-4)[0].converged


def test_there_is_nothing_to_load_at_first(tmp_path):
    assert _load(tmp_path / "new.npz") == (None, [])


@pytest.mark.usefixtures("at_once")
def test_a_checkpoint_is_a_plain_archive_without_pickles(tmp_path):
    _saved(tmp_path / "fit.npz", 1)
    with np.load(tmp_path / "fit.npz", allow_pickle=False) as arrays:
        assert json.loads(str(arrays["about"]))["version"] == 2
        assert arrays["coef"].tolist() == [[1.0, 1.0]] * 3


@pytest.mark.usefixtures("at_once")
def test_a_damaged_file_is_refused_or_the_same(tmp_path, attack):
    path = tmp_path / "fit.npz"
    _saved(path, 3)
    whole = path.read_bytes()
    reported = Counter()
    for content in damaged_copies(whole, attack.times(60, 3000), seed=0):
        path.write_bytes(content)
        loaded, messages = _load(path)
        if loaded is None:
            reported["refused"] += 1
            assert "damaged or no checkpoint" in messages[0]
            assert (tmp_path / "fit.npz.refused").exists()
            (tmp_path / "fit.npz.refused").unlink()
        else:  # a byte that nobody reads, such as a time
            reported["same"] += 1
            assert loaded.coef.tobytes() == _result(3).coef.tobytes()
            assert loaded.history == _result(3).history
    attack.record("checkpoints damaged", reported)
    assert reported["refused"] > reported["same"]


@pytest.mark.parametrize("content", [b"", b"user,playlist,song\n" * 50, b"PK\x03\x04" + b"0" * 99])
def test_another_file_is_moved_away_not_overwritten(tmp_path, content):
    path = tmp_path / "mine.csv"
    for refused in ("mine.csv.refused", "mine.csv.refused-2"):
        path.write_bytes(content)
        loaded, reported = _load(path)
        assert loaded is None
        assert refused in reported[0]
        assert (tmp_path / refused).read_bytes() == content
    assert not path.exists()


def _rewritten(path, **arrays):
    with np.load(path) as old:
        np.savez(path, **dict(old) | arrays)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"coef": np.zeros((4, 2))}, "`coef` must have a side of 3; got 4"),
        ({"coef": np.full(SHAPE, np.nan)}, "`coef` must be finite"),
        ({"coef": np.zeros(SHAPE, dtype=np.float32)}, "`coef` must be an array of float64"),
        ({"coef": np.array([None, {}])}, "Object arrays cannot be loaded"),
        ({"history_seconds": np.array(["a"])}, "`seconds` must be an array of dtype kind"),
        ({"history_large": np.zeros(200_000)}, "bytes of 'history_large.npy'"),
        ({"about": np.array("{}")}, "KeyError"),
    ],
)
def test_a_crafted_file_is_refused(tmp_path, arrays, message):
    path = tmp_path / "fit.npz"
    Checkpoint(path, FINGERPRINT, TOL).save(_result(2))
    _rewritten(path, **arrays)
    loaded, reported = _load(path)
    assert loaded is None
    assert "must be whole" in reported[0]
    assert message in reported[0]


def test_a_file_that_lacks_a_member_is_refused(tmp_path):
    path = tmp_path / "fit.npz"
    Checkpoint(path, FINGERPRINT, TOL).save(_result(2))
    with np.load(path) as old:
        np.savez(path, **{name: old[name] for name in old.files if name != "history_seconds"})
    loaded, reported = _load(path)
    assert loaded is None
    assert "the members ['about', 'coef', 'history_objective', 'history_optimality']" in reported[0]


def test_a_compressed_file_is_refused(tmp_path):
    path = tmp_path / "fit.npz"
    Checkpoint(path, FINGERPRINT, TOL).save(_result(2))
    with np.load(path) as old:
        np.savez_compressed(path, **old)
    assert _load(path)[0] is None


@pytest.mark.usefixtures("at_once")
def test_a_checkpoint_of_another_fit_is_refused_by_what_differs(tmp_path):
    path = tmp_path / "fit.npz"
    _saved(path, 1)
    loaded, reported = _load(path, FINGERPRINT | {"features": "other"})
    assert loaded is None
    assert "of one with other features." in reported[0]
    assert (tmp_path / "fit.npz.refused").exists()


@pytest.mark.usefixtures("at_once")
def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "fit.npz"
    monkeypatch.setattr(_checkpoint, "VERSION", 3)
    _saved(path, 1)
    monkeypatch.undo()
    with pytest.raises(RefusedCheckpointError, match="must be of version 2; got version 3"):
        read(path, FINGERPRINT, SHAPE, TOL)


@pytest.mark.usefixtures("at_once")
def test_two_fits_on_one_path_do_not_take_each_others_file(tmp_path):
    path = tmp_path / "fit.npz"
    first = _saved(path, 1)
    other = FINGERPRINT | {"memberships": "other"}
    second = Checkpoint(path, other, TOL)
    with pytest.warns(UserWarning, match="of one with other memberships"):
        second.load(SHAPE)  # moves the file of the first away
    second.save(_result(5))
    with pytest.warns(RuntimeWarning, match="could not be saved: the file is of another fit"):
        first.save(_result(2))
    first.remove()  # is done, and leaves the file of the second
    assert _load(path, other)[0].n_iter == 5
    second.remove()
    assert not path.exists()


@pytest.mark.usefixtures("at_once")
def test_two_fits_of_one_problem_share_a_file(tmp_path):
    path = tmp_path / "fit.npz"
    first, second = _saved(path, 2), _saved(path, 3)
    first.remove()
    second.remove()  # has nothing left to remove
    assert list(tmp_path.iterdir()) == []


def test_saves_keep_their_distance(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_checkpoint.time, "monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path / "fit.npz", FINGERPRINT, TOL)
    now[0] = 1.9
    checkpoint.offer(_state(1))
    assert list(tmp_path.iterdir()) == []
    now[0] = 2.0
    checkpoint.offer(_state(2))
    assert [f.name for f in tmp_path.iterdir()] == ["fit.npz"]
    checkpoint._cost = 1.0  # a large model: one second in twenty
    now[0] = 20.9
    checkpoint.offer(_state(3))
    assert _load(tmp_path / "fit.npz")[0].n_iter == 2
    now[0] = 21.0
    checkpoint.offer(_state(4))
    assert _load(tmp_path / "fit.npz")[0].n_iter == 4


@pytest.mark.usefixtures("at_once")
def test_a_full_disk_does_not_end_the_fit(X, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("skmtc._utils.atomic_files.os.replace", refuse)
    with pytest.warns(RuntimeWarning, match="could not be saved: No space left") as reported:
        ranker = _ranker(tmp_path / "fit.npz").fit(X)
    assert ranker.n_iter_ > 1
    assert len(reported) == 1


@pytest.mark.filterwarnings(STOPPED_EARLY)
@pytest.mark.parametrize("call", ["unlink", "replace"])
def test_a_folder_that_becomes_read_only_does_not_lose_the_fit(X, tmp_path, monkeypatch, call):
    path = tmp_path / "fit.npz"
    _ranker(path, max_iter=3).fit(X)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    if call == "unlink":
        monkeypatch.setattr(Path, "unlink", refuse)
        message = "could not be removed: .*Permission denied"
    else:
        path.write_bytes(b"of somebody else")
        monkeypatch.setattr("os.replace", refuse)
        message = "could not be (moved away|removed)"
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        ranker = _ranker(path).fit(X)
    monkeypatch.undo()
    assert any(re.search(message, str(w.message)) for w in reported)
    assert path.exists()
    assert ranker.objective_ == pytest.approx(_ranker(None).fit(X).objective_, rel=1e-7)


@pytest.mark.usefixtures("at_once")
def test_a_folder_that_vanishes_does_not_end_the_fit(X, tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    save = Checkpoint.save

    def vanish_and_save(self, result):
        shutil.rmtree(folder, ignore_errors=True)
        save(self, result)

    monkeypatch.setattr(Checkpoint, "save", vanish_and_save)
    with pytest.warns(RuntimeWarning, match="could not be saved: .*No such file or directory"):
        ranker = _ranker(folder / "fit.npz").fit(X)
    assert ranker.n_iter_ > 1


KILLED_IN_SECOND_STAGE = """
import os, signal, sys
import skmtc.rankers._multitask
from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists

X = make_playlists(random_state=0).drop(columns="year")
skmtc.rankers._multitask.fit_history = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
ranker = MultitaskPlaylistRanker(history=("song",), checkpoint=sys.argv[1], random_state=0)
ranker.fit(X)
"""


def test_a_fit_that_is_killed_in_its_second_stage_goes_on_from_the_first(X, tmp_path):
    path = tmp_path / "fit.npz"
    root = Path(_checkpoint.__file__).parents[2]
    killed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED_IN_SECOND_STAGE, str(path)],
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    assert killed.returncode == -signal.SIGKILL
    ranker = MultitaskPlaylistRanker(history=("song",), checkpoint=path, random_state=0)
    with pytest.warns(UserWarning, match="goes on from iteration"):
        ranker.fit(X)
    assert not path.exists()
    whole = MultitaskPlaylistRanker(history=("song",), random_state=0).fit(X)
    for name in ("shared_coef_", "user_coef_", "playlist_coef_"):
        np.testing.assert_array_equal(getattr(ranker, name), getattr(whole, name))
    np.testing.assert_array_equal(ranker.history_.coef_, whole.history_.coef_)
    assert ranker.n_iter_ == whole.n_iter_
    assert ranker.objective_ == whole.objective_


@pytest.mark.parametrize(
    ("path", "error"), [(3, TypeError), ("no/such/place/fit.npz", ValueError), (".", ValueError)]
)
def test_a_path_that_cannot_be_written_is_refused_before_any_work(X, path, error):
    with pytest.raises(error, match="`checkpoint` must be"):
        _ranker(path).fit(X)


@pytest.mark.filterwarnings(STOPPED_EARLY)
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_fit_goes_on_where_another_stopped(X, tmp_path, solver):
    path = str(tmp_path / "fit.npz")
    whole = _ranker(None, solver).fit(X)
    first = _ranker(path, solver, max_iter=4).fit(X)
    assert {f.name for f in tmp_path.iterdir()} == {"fit.npz"}
    ranker = _ranker(path, solver)
    with pytest.warns(UserWarning, match="goes on from iteration 4"):
        ranker.fit(X)
    assert list(tmp_path.iterdir()) == []
    assert ranker.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    for name, values in first.solver_history_.items():
        assert ranker.solver_history_[name][: len(values)] == values
    assert (np.diff(ranker.solver_history_["objective"]) <= 1e-12).all()
    assert (np.diff(ranker.solver_history_["seconds"]) > 0).all()
    assert ranker.n_iter_ == len(ranker.solver_history_["objective"]) - (solver == "prox-newton")


@pytest.mark.filterwarnings(STOPPED_EARLY)
@pytest.mark.usefixtures("at_once")
def test_max_iter_counts_the_iterations_before(X, tmp_path):
    path = tmp_path / "fit.npz"
    first = _ranker(path, max_iter=4).fit(X)
    with pytest.warns(UserWarning, match="goes on from iteration 4"):
        again = _ranker(path, max_iter=4).fit(X)
    assert again.n_iter_ == 4
    assert again.solver_history_ == first.solver_history_


@pytest.mark.filterwarnings(STOPPED_EARLY)
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda X: (X.iloc[:-20], {}), "memberships"),
        (lambda X: (X.assign(x0=X["x0"] * 2), {}), "features"),
        (lambda X: (X, {"user_l2": 0.2}), "parameters"),
        (lambda X: (X, {"push": 2.0}), "parameters"),
    ],
)
def test_another_problem_starts_anew(X, tmp_path, change, part):
    path = tmp_path / "fit.npz"
    _ranker(path, max_iter=2).fit(X)
    table, parameters = change(X)
    with pytest.warns(UserWarning, match=f"with other .*{part}"):
        ranker = _ranker(path, **parameters).fit(table)
    clean = _ranker(None, **parameters).fit(table)
    np.testing.assert_array_equal(ranker.user_coef_, clean.user_coef_)


@pytest.mark.filterwarnings(STOPPED_EARLY)
@pytest.mark.usefixtures("at_once")
def test_another_tolerance_may_go_on(X, tmp_path):
    path = tmp_path / "fit.npz"
    _ranker(path, tol=1e-3, max_iter=1).fit(X)  # in single precision
    with pytest.warns(UserWarning, match="goes on from iteration 1"):
        _ranker(path, tol=1e-9).fit(X)


def test_short_fits_leave_no_trace(X, tmp_path):
    _ranker(tmp_path / "fit.npz").fit(X)
    assert list(tmp_path.iterdir()) == []


# One process forks all fits, so that the package is imported once.
KILLER = """
import json, os, signal, sys, time, warnings
import numpy as np
from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.rankers.fitting import _checkpoint

warnings.simplefilter("ignore")
_checkpoint.SHORTEST_INTERVAL = 0.0
_checkpoint.LARGEST_SHARE = 0.5
folder, parameters, n_kills = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
X = make_playlists(random_state=0).drop(columns="year")
path, log, end = (os.path.join(folder, name) for name in ("fit.npz", "log", "end"))

MultitaskPlaylistRanker(**parameters).fit(X)  # compiles what later fits find compiled
start = time.monotonic()
whole = MultitaskPlaylistRanker(**parameters).fit(X)
length = time.monotonic() - start
rng, kills = np.random.default_rng(0), []

def logged(save):
    def save_and_log(self, result):
        save(self, result)
        with open(log, "a") as stream:
            stream.write(f"{result.n_iter}\\n")
    return save_and_log

def announced(remove):
    def announce_and_remove(self):
        open(end, "w").close()  # from now on the file may be gone because it is not needed
        remove(self)
    return announce_and_remove

while len(kills) < n_kills:
    for file in os.listdir(folder):
        os.unlink(os.path.join(folder, file))
    child = os.fork()
    if child == 0:
        _checkpoint.Checkpoint.save = logged(_checkpoint.Checkpoint.save)
        _checkpoint.Checkpoint.remove = announced(_checkpoint.Checkpoint.remove)
        MultitaskPlaylistRanker(**parameters, checkpoint=path).fit(X)
        os._exit(0)
    time.sleep(rng.uniform(0.1, 1.2) * length)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if os.path.exists(end):
        continue  # it was done before
    saved = [0, *map(int, open(log))] if os.path.exists(log) else [0]
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        ranker = MultitaskPlaylistRanker(**parameters, checkpoint=path).fit(X)
    messages = [str(w.message) for w in reported]
    start = [int(m.split("iteration ")[1].split()[0]) for m in messages if "goes on" in m] or [0]
    kills.append({
        "saved": max(saved), "resumed": start[0], "refused": sum("refused" in m for m in messages),
        "error": ranker.objective_ / whole.objective_ - 1, "n_iter": ranker.n_iter_,
        "entries": len(ranker.solver_history_["objective"]),
    })
print(json.dumps(kills))
"""


@pytest.mark.posix
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_fit_that_is_killed_at_any_moment_goes_on(tmp_path, solver):
    folder = tmp_path / "killed"
    folder.mkdir()
    parameters = PENALTIES | SOLVERS[solver] | {"random_state": 0}
    root = Path(_checkpoint.__file__).parents[2]
    output = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLER, folder, json.dumps(parameters), "10"],
        env=os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout
    kills = json.loads(output)
    assert len(kills) == 10
    assert any(kill["resumed"] > 0 for kill in kills)
    for kill in kills:
        assert kill["resumed"] >= kill["saved"]  # nothing that was saved is lost
        assert kill["refused"] == 0
        assert abs(kill["error"]) <= 1e-6
        assert kill["entries"] == kill["n_iter"] + (solver == "prox-newton")
