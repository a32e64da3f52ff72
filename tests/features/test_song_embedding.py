"""SongEmbedding: songs of the same playlists are close, by every method."""

import pickle
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from scipy.sparse import csr_array

from skmtc.features import SongEmbedding

# gensim, which word2vec needs, has no wheels for Python 3.14 and later.
METHODS = ["svd", "als"] + ["word2vec"] * (find_spec("gensim") is not None)
IDS = [f"s{i}" for i in range(20)]


def two_circles():
    """Songs 0 to 99 and 100 to 199 share no playlist; each song is in about 16."""
    rng = np.random.RandomState(0)
    membership = np.zeros((200, 400), dtype=int)
    for playlist in range(400):
        songs = rng.choice(100, size=8, replace=False) + 100 * (playlist % 2)
        membership[songs, playlist] = np.arange(1, 9)
    return pd.DataFrame({"song": rng.permutation(200)}), csr_array(membership)


def fitted(method, **parameters):
    membership = csr_array(np.random.RandomState(0).randint(6, size=(20, 30)))
    embedding = SongEmbedding(method=method, vector_size=5, **{"random_state": 3} | parameters)
    return embedding.fit(pd.DataFrame({"song": IDS}), membership)


@pytest.mark.parametrize("method", METHODS)
def test_songs_of_the_same_playlists_are_closer_by_a_margin(method):
    embedding = SongEmbedding(method=method, vector_size=8, length=1, random_state=0)
    vectors = embedding.fit_transform(*two_circles())
    cosine = vectors @ vectors.T
    same = np.arange(200)[:, None] // 100 == np.arange(200) // 100
    other_song = ~np.eye(200, dtype=bool)
    assert cosine[same & other_song].mean() > cosine[~same].mean() + 0.15


@pytest.mark.parametrize("method", METHODS)
def test_vectors_have_their_length_and_new_songs_none(method):
    embedding = fitted(method, length=2.5)
    np.testing.assert_allclose(np.linalg.norm(embedding.vectors_[0], axis=1), 2.5, rtol=1e-6)
    new = embedding.transform(pd.DataFrame({"song": ["new", None]}))
    np.testing.assert_array_equal(new, np.zeros((2, 5)))


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_vectors_whatever_the_number_of_workers(method):
    alone = fitted(method).vectors_[0]
    for backend in ("threading", "loky"):
        both = Parallel(n_jobs=2, backend=backend)(delayed(fitted)(method) for _ in range(2))
        for other in both:
            np.testing.assert_array_equal(alone, other.vectors_[0])


@pytest.mark.parametrize("method", METHODS)
def test_vectors_do_not_depend_on_the_order_of_songs(method):
    order = np.random.RandomState(1).permutation(20)
    songs = pd.DataFrame({"song": IDS})
    membership = csr_array((30 * np.arange(20)[:, None] + np.arange(1, 31)) % 97)
    embedding = SongEmbedding(method=method, vector_size=5, random_state=3)
    in_order = embedding.fit(songs, membership).transform(songs)
    shuffled = embedding.fit(songs.iloc[order], membership[order]).transform(songs)
    np.testing.assert_array_equal(shuffled, in_order)


@pytest.mark.parametrize("method", ["svd", "als"])
def test_the_order_within_playlists_does_not_matter(method):
    songs, membership = two_circles()
    turned = membership.copy()
    turned.data = 9 - turned.data
    embedding = SongEmbedding(method=method, vector_size=5, random_state=3)
    one, other = (embedding.fit_transform(songs, m) for m in (membership, turned))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
def test_rare_songs_and_songs_in_no_playlist_are_unknown(method):
    membership = csr_array([[1, 1, 1], [2, 2, 0], [3, 0, 0], [0, 0, 0]])
    songs = pd.DataFrame({"song": ["often", "twice", "once", "never"]})
    embedding = SongEmbedding(method=method, min_count=2, vector_size=4, random_state=0)
    assert embedding.fit(songs, membership).vocabulary_[0].tolist() == ["often", "twice"]
    np.testing.assert_array_equal(embedding.transform(songs)[2:], 0)
    empty = embedding.fit_transform(songs, csr_array((4, 0)))
    np.testing.assert_array_equal(empty, np.zeros((4, 4)))


def test_a_fitted_als_embedding_is_used_without_implicit():
    script = (
        "import pickle, sys, pandas as pd\n"
        "embedding = pickle.loads(sys.stdin.buffer.read())\n"
        "embedding.transform(pd.DataFrame({'song': ['s1', 'new']}))\n"
        "assert 'implicit' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], input=pickle.dumps(fitted("als")), check=True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "magic"}, r"one of \['als', .* 'svd', 'word2vec'\]; got 'magic'"),
        ({"method": "svd", "shift": 0}, "`shift` must be a number above 0; got 0"),
        ({"method": "svd", "length": 0}, "`length` must be a number above 0; got 0"),
        ({"method": "als", "confidence": -1}, "`confidence` must be a number of 0 or more"),
        ({"method": "als", "factor_l2": -1}, "`factor_l2` must be a number of 0 or more"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)
