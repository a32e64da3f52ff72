"""Fit, recommend and evaluate in an address space too small for playlists x songs."""

import json
import subprocess
import sys

import pytest

# A process that may ask for so much memory and no more, beyond what its imports have taken.
PROGRAM = """
import json, resource, sys, threading
import numpy as np
import pandas as pd
import sklearn
from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc._kernels import loading

n_playlists, n_songs, working_mib, allowed_mib = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
playlists = np.repeat(np.arange(n_playlists), 4)
X = pd.DataFrame({"user": playlists // 3, "playlist": playlists})
X["song"] = np.r_[np.arange(n_songs), rng.integers(n_songs, size=len(X) - n_songs)]
X = X.drop_duplicates(["playlist", "song"])
X["x"] = rng.normal(size=n_songs)[X["song"]]
ranker = MultitaskPlaylistRanker(tol=0.1, n_jobs=2, random_state=0)
# Libraries take their share of addresses before the limit is set, and so do compiled loops; so
# does the linear algebra, for each thread that calls it while others do.
loading.WORTHWHILE_EXPONENTIALS = loading.WORTHWHILE_WEIGHTS = 0
ranker.fit(X.head(40)).score(X.head(40))
barrier, square = threading.Barrier(2), rng.normal(size=(300, 300))

def multiply():
    barrier.wait()
    for _ in range(30):
        square @ square

threads = [threading.Thread(target=multiply) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
pages = int(open("/proc/self/statm").read().split()[0])
taken = pages * resource.getpagesize()
limit = taken + allowed_mib * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
with sklearn.config_context(working_memory=working_mib):
    if "whole" in sys.argv:
        np.ones((n_playlists, n_songs), dtype=np.float32)
    ranker.fit(X)
    ranker.recommend(X.drop_duplicates("playlist")[["user", "playlist"]], n_recommendations=5)
    evaluate(ranker, X)
    print(json.dumps(ranker.score(X.head(4000))))  # other blocks than those of evaluate
"""

N_PLAYLISTS, N_SONGS = 9000, 15_000
WORKING_MIB = 8
# Blocks of scores are counted in full; features, weights and sparse tables take the rest.
ALLOWED_MIB = 12 * WORKING_MIB


def _run(*extra):
    sizes = json.dumps([N_PLAYLISTS, N_SONGS, WORKING_MIB, ALLOWED_MIB])
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, sizes, *extra]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.linux
def test_memory_is_bounded_by_the_working_memory():
    whole_mib = 4 * N_PLAYLISTS * N_SONGS / 2**20  # in single precision
    assert whole_mib > 5 * ALLOWED_MIB
    bounded = _run()
    assert bounded.returncode == 0, bounded.stderr
    assert 0.0 <= float(bounded.stdout) <= 1.0


@pytest.mark.linux
def test_the_limit_is_a_limit():
    whole = _run("whole")
    assert whole.returncode != 0
    assert "MemoryError" in whole.stderr
