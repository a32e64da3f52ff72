"""Ctrl-C ends long work soon, and the process says so by its exit code."""

import signal
import subprocess
import sys
from time import perf_counter, sleep

import numpy as np
import pytest

from skmtc.datasets import make_playlists

LIMIT = 2.0  # seconds
N_TRIES = 3  # where other processes slow the machine down, the best of some

SEARCH = """
import sys
import pandas as pd
from sklearn.model_selection import GridSearchCV
from skmtc import MatrixFactorizationRanker
from skmtc.model_selection import ColdSongSplit
ranker = MatrixFactorizationRanker(n_factors=128, n_iterations=1, random_state=0)
cv = ColdSongSplit(released=None, random_state=0)
X = pd.read_csv(sys.argv[1])[["user", "playlist", "song", *"abcdefgh"]]
print("searching", file=sys.stderr, flush=True)
GridSearchCV(ranker, {"confidence": [1.0] * 20}, cv=cv).fit(X)
"""
COMMAND = [sys.executable, "-m", "skmtc"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Make a table on which each of the fits takes far longer than the test waits."""
    X = make_playlists(300, 3000, 6000, 500, random_state=0)[["user", "playlist", "song"]]
    codes = X["song"].factorize()[0]
    values = np.random.default_rng(0).normal(size=(codes.max() + 1, 8))
    for j, name in enumerate("abcdefgh"):  # noise, from which a network learns for long
        X[name] = values[codes, j]
    path = tmp_path_factory.mktemp("interrupt") / "table.csv"
    X.to_csv(path, index=False)
    return str(path)


def _programs(table, folder):
    config = folder / "config.toml"
    config.write_text("[parameters.multitask]\ntol = 1e-12\nmax_iter = 100000\n")
    endless = ["--setting", "cold-playlists", "--rankers", "multitask", "--config", str(config)]
    multitask = ["--ranker", "multitask", "--params", "tol=1e-12", "max_iter=100000"]
    return {
        "compare": (
            [*COMMAND, "compare", table, *endless, "--out", str(folder / "report")],
            "multitask",
        ),
        "fit": (
            [*COMMAND, "fit", table, *multitask, "--out", str(folder / "model.skops")],
            "fitting multitask",
        ),
        "search": ([sys.executable, "-c", SEARCH, table], "searching"),
    }


def _heed_interrupts():
    """Undo what a shell does to programs in the background: they ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _interrupt(arguments, begins):
    """Start a program, interrupt it soon after it begins; return seconds and exit code."""
    with subprocess.Popen(
        arguments, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
    ) as process:
        for line in process.stderr:
            if begins in line:
                break
        sleep(3.0)
        assert process.poll() is None, "the work was done before it could be interrupted"
        process.send_signal(signal.SIGINT)
        start = perf_counter()
        process.stderr.read()
        code = process.wait()
        return perf_counter() - start, code


@pytest.mark.posix
@pytest.mark.parametrize("name", ["compare", "fit", "search"])
def test_an_interrupt_ends_the_work(table, tmp_path, name):
    program = _programs(table, tmp_path)[name]
    seconds = []
    for _ in range(N_TRIES):
        took, code = _interrupt(*program)
        assert code != 0
        seconds.append(took)
        if took < LIMIT:
            break
    assert min(seconds) < LIMIT
