"""Checkpoints: whole or refused, never lost, and a killed fit goes on."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.rankers import _checkpoint
from skmtc.rankers._checkpoint import Checkpoint, RefusedCheckpointError, read

PENALTIES = {"user_l2": 0.1, "playlist_l1": 0.2, "shared_l1": 0.001}
SOLVERS = {
    "prox-newton": {"solver": "prox-newton", "tol": 1e-9},
    "owlqn": {"solver": "owlqn", "tol": 1e-5},
}
FINGERPRINT = {"memberships": "a", "features": "b", "parameters": "c"}
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


def _state(iteration):
    coef = np.full((3, 2), float(iteration))
    history = {"objective": list(range(iteration, 0, -1)), "seconds": [0.5] * iteration}
    return {"coef": lambda: coef, "history": history, "iteration": iteration}


def _load(path, fingerprint=FINGERPRINT):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        checkpoint = Checkpoint(path, fingerprint)
        loaded = checkpoint.load()
    return loaded, [str(w.message) for w in told], checkpoint


def _saved(path, n_saves):
    checkpoint = Checkpoint(path, FINGERPRINT)
    for iteration in range(1, n_saves + 1):
        checkpoint.offer(_state(iteration))
    return checkpoint


@pytest.mark.usefixtures("at_once")
def test_what_is_loaded_is_what_was_saved_last(tmp_path):
    for n_saves in (1, 2, 3):
        path = tmp_path / f"{n_saves}.npz"
        _saved(path, n_saves)
        (coef, history), told, _ = _load(path)
        np.testing.assert_array_equal(coef, np.full((3, 2), float(n_saves)))
        assert history == _state(n_saves)["history"]
        assert len(told) == 1
        assert f"from iteration {n_saves}" in told[0]


def test_there_is_nothing_to_load_at_first(tmp_path):
    assert _load(tmp_path / "new.npz")[:2] == (None, [])


@pytest.mark.usefixtures("at_once")
def test_a_checkpoint_is_a_plain_archive_without_pickles(tmp_path):
    _saved(tmp_path / "fit.npz", 1)
    with np.load(tmp_path / "fit.npz", allow_pickle=False) as arrays:
        assert json.loads(str(arrays["about"]))["version"] == 1
        assert arrays["coef"].tolist() == [[1.0, 1.0]] * 3


@pytest.mark.usefixtures("at_once")
def test_a_file_with_any_damage_is_refused_and_the_one_before_is_taken(tmp_path):
    path = tmp_path / "fit.npz"
    rng = np.random.default_rng(0)
    for trial in range(60):
        for file in tmp_path.iterdir():
            file.unlink()
        newest = _saved(path, 3).files[1]
        content = bytearray(newest.read_bytes())
        if trial % 2:
            newest.write_bytes(content[: rng.integers(len(content))])
        else:
            content[rng.integers(len(content))] ^= 1 << rng.integers(8)
            newest.write_bytes(content)
        (coef, _), told, _ = _load(path)
        assert coef[0, 0] == 2.0
        assert "damaged or no checkpoint" in told[0]
        assert (tmp_path / (newest.name + ".refused")).exists()


@pytest.mark.parametrize("content", [b"", b"user,playlist,song\n" * 50, b"PK\x03\x04" + b"0" * 99])
def test_another_file_is_moved_away_not_overwritten(tmp_path, content):
    path = tmp_path / "mine.csv"
    for refused in ("mine.csv.refused", "mine.csv.refused-2"):
        path.write_bytes(content)
        loaded, told, _ = _load(path)
        assert loaded is None
        assert refused in told[0]
        assert (tmp_path / refused).read_bytes() == content
    assert not path.exists()


@pytest.mark.usefixtures("at_once")
def test_a_checkpoint_of_another_fit_is_refused_by_what_differs(tmp_path):
    path = tmp_path / "fit.npz"
    _saved(path, 1)
    loaded, told, _ = _load(path, FINGERPRINT | {"features": "other"})
    assert loaded is None
    assert "of one with other features." in told[0]
    assert (tmp_path / "fit.npz.refused").exists()


@pytest.mark.usefixtures("at_once")
def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "fit.npz"
    monkeypatch.setattr(_checkpoint, "VERSION", 2)
    _saved(path, 1)
    monkeypatch.setattr(_checkpoint, "VERSION", 1)
    with pytest.raises(RefusedCheckpointError, match="must be of version 1; got version 2"):
        read(path, FINGERPRINT)


def test_saves_keep_their_distance(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_checkpoint.time, "monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path / "fit.npz", FINGERPRINT)
    now[0] = 1.9
    checkpoint.offer(_state(1))
    assert list(tmp_path.iterdir()) == []
    now[0] = 2.0
    checkpoint.offer(_state(2))
    assert [f.name for f in tmp_path.iterdir()] == ["fit.npz"]
    checkpoint._cost = 1.0  # a large model: one second in twenty
    now[0] = 20.9
    checkpoint.offer(_state(3))
    assert len(list(tmp_path.iterdir())) == 1
    now[0] = 21.0
    checkpoint.offer(_state(4))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("at_once")
def test_a_full_disk_does_not_end_the_fit(X, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(_checkpoint.os, "replace", refuse)
    with pytest.warns(RuntimeWarning, match="could not be saved: No space left") as told:
        ranker = _ranker(tmp_path / "fit.npz").fit(X)
    assert ranker.n_iter_ > 1
    assert len(told) == 1


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
    assert {f.name for f in tmp_path.iterdir()} == {"fit.npz", "fit.npz.other"}
    ranker = _ranker(path, solver)
    with pytest.warns(UserWarning, match="goes on from iteration 4"):
        ranker.fit(X)
    assert list(tmp_path.iterdir()) == []
    assert ranker.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    for name, values in first.history_.items():
        assert ranker.history_[name][: len(values)] == values
    assert (np.diff(ranker.history_["objective"]) <= 1e-12).all()
    assert (np.diff(ranker.history_["seconds"]) > 0).all()
    assert ranker.n_iter_ == len(ranker.history_["objective"]) - (solver == "prox-newton")


@pytest.mark.filterwarnings(STOPPED_EARLY)
@pytest.mark.usefixtures("at_once")
def test_max_iter_counts_the_iterations_before(X, tmp_path):
    path = tmp_path / "fit.npz"
    first = _ranker(path, max_iter=4).fit(X)
    with pytest.warns(UserWarning, match="goes on from iteration 4"):
        again = _ranker(path, max_iter=4).fit(X)
    assert again.n_iter_ == 4
    assert again.history_ == first.history_


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
from skmtc.rankers import _checkpoint

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
    def save_and_log(self, coef, history, iteration):
        save(self, coef, history, iteration)
        with open(log, "a") as stream:
            stream.write(f"{iteration}\\n")
    return save_and_log

def announced(close):
    def announce_and_close(self, result):
        open(end, "w").close()  # from now on the file may be gone because it is not needed
        close(self, result)
    return announce_and_close

while len(kills) < n_kills:
    for file in os.listdir(folder):
        os.unlink(os.path.join(folder, file))
    child = os.fork()
    if child == 0:
        _checkpoint.Checkpoint._save = logged(_checkpoint.Checkpoint._save)
        _checkpoint.Checkpoint.close = announced(_checkpoint.Checkpoint.close)
        MultitaskPlaylistRanker(**parameters, checkpoint=path).fit(X)
        os._exit(0)
    time.sleep(rng.uniform(0.1, 1.2) * length)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if os.path.exists(end):
        continue  # it was done before
    saved = [0, *map(int, open(log))] if os.path.exists(log) else [0]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ranker = MultitaskPlaylistRanker(**parameters, checkpoint=path).fit(X)
    messages = [str(w.message) for w in told]
    start = [int(m.split("iteration ")[1].split()[0]) for m in messages if "goes on" in m] or [0]
    kills.append({
        "saved": max(saved), "resumed": start[0], "refused": sum("refused" in m for m in messages),
        "error": ranker.objective_ / whole.objective_ - 1, "n_iter": ranker.n_iter_,
        "entries": len(ranker.history_["objective"]),
    })
print(json.dumps(kills))
"""


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
