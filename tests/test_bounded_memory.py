"""Fit, recommend and evaluate without playlists x songs; make features in little memory."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse

from skmtc.features import (
    ArtistEmbedding,
    BlockScaler,
    IdentityEncoder,
    SongEmbedding,
    TagEncoder,
    make_song_features,
)

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


N_CATALOGUE = 20_000


@pytest.fixture(scope="module")
def catalogue():
    """Songs with artists, tags and numbers; 10 playlists hold each, of 40 songs each."""
    rng = np.random.default_rng(0)
    n_artists = N_CATALOGUE // 10
    tags = np.array([f"tag {i}" for i in range(1000)])
    songs = pd.DataFrame({"song": [f"song {i}" for i in range(N_CATALOGUE)]})
    songs["artist"] = [f"artist {i}" for i in rng.integers(n_artists, size=N_CATALOGUE)]
    songs["tags"] = ["|".join(row) for row in rng.choice(tags, size=(N_CATALOGUE, 5))]
    songs["energy"] = rng.random(N_CATALOGUE)
    order = np.concatenate([rng.permutation(N_CATALOGUE) for _ in range(10)])
    playlists = np.repeat(np.arange(len(order) // 40), 40)
    positions = np.tile(np.arange(1, 41), len(order) // 40)
    return songs, csr_array((positions, (order, playlists)))


def _peak(fit_transform, *data):
    """Return the largest memory of arrays and objects that a call allocates, and its result."""
    tracemalloc.start()
    try:
        features = fit_transform(*data)
        return tracemalloc.get_traced_memory()[1], features
    finally:
        tracemalloc.stop()


def _n_bytes(features):
    if issparse(features):
        return sum(part.nbytes for part in (features.data, features.indices, features.indptr))
    return features.nbytes


@pytest.mark.parametrize(
    ("encoder", "column", "most_bytes"),
    [
        (TagEncoder(), "tags", 700),
        (TagEncoder(n_components=64, random_state=0), "tags", 900),
        (IdentityEncoder(), "artist", 300),
        (ArtistEmbedding(random_state=0), "artist", 1300),
        # 64 MB of pairs of songs that share playlists are kept.
        (SongEmbedding(random_state=0), "song", 2700 + 2**26 // N_CATALOGUE),
    ],
    ids=["tags", "reduced tags", "identities", "artists", "songs"],
)
def test_encoders_take_little_memory_for_a_song(catalogue, encoder, column, most_bytes):
    songs, membership = catalogue
    peak, features = _peak(encoder.fit_transform, songs[[column]], membership)
    assert _n_bytes(features) < peak < most_bytes * N_CATALOGUE


def test_a_block_is_scaled_with_one_copy():
    block = np.random.default_rng(0).random((N_CATALOGUE, 128))
    assert _peak(BlockScaler().fit_transform, block)[0] < 1.2 * block.nbytes


def test_song_features_take_a_few_times_their_memory(catalogue):
    songs, membership = catalogue
    features = make_song_features(songs, random_state=0)
    features.set_params(identity="drop", tag_identity="drop")  # as most rankers do
    peak, made = _peak(features.fit_transform, songs, membership)
    assert peak < 2.3 * _n_bytes(made) + 2**26


def test_indices_of_sparse_features_have_32_bits(catalogue):
    songs, membership = catalogue
    made = make_song_features(songs.head(100), random_state=0).fit_transform(
        songs.head(100), membership[:100]
    )
    assert made.indices.dtype == np.int32
