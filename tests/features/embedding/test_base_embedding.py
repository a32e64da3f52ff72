"""What both embeddings share; the classes have their own laws in their own files."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from scipy.sparse import csr_array
from sklearn.base import clone

from skmtc.features import ArtistEmbedding, SongEmbedding

TOKENS = [f"t{i}" for i in range(20)]

# In a process of its own, with strings that hash differently.
PRINT_VECTORS = """
import numpy as np, pandas as pd
from scipy.sparse import csr_array
from skmtc.features import ArtistEmbedding
membership = csr_array(np.random.RandomState(0).randint(6, size=(20, 30)))
embedding = ArtistEmbedding(vector_size=5, random_state=3)
songs = pd.DataFrame({"artist": [f"t{i}" for i in range(20)]})
print(embedding.fit(songs, membership).vectors_[0].tobytes().hex())
"""


def sample_membership(seed=0):
    return csr_array(np.random.RandomState(seed).randint(6, size=(20, 30)))


def fitted(cls=ArtistEmbedding, **parameters):
    parameters = {"vector_size": 5, "random_state": 3} | parameters
    return cls(**parameters).fit(pd.DataFrame({"artist": TOKENS}), sample_membership())


def test_same_vectors_whatever_the_number_of_workers():
    seeds = [3, 4, 5, 3]
    alone = [fitted(random_state=seed).vectors_[0] for seed in seeds]
    for backend in ("threading", "loky"):
        together = Parallel(n_jobs=2, backend=backend)(
            delayed(fitted)(random_state=seed) for seed in seeds
        )
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other.vectors_[0])


def test_same_vectors_in_any_process():
    expected = fitted().vectors_[0].tobytes().hex()
    hash_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    printed = subprocess.run(
        [sys.executable, "-c", PRINT_VECTORS],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.strip() == expected


def test_vectors_do_not_depend_on_the_order_of_songs():
    order = np.random.RandomState(1).permutation(20)
    songs = pd.DataFrame({"artist": TOKENS}).iloc[order]
    membership = csr_array((30 * np.arange(20)[:, None] + np.arange(1, 31)) % 97)
    shuffled = clone(fitted()).fit(songs, membership[order])
    in_order = clone(fitted()).fit(songs.sort_index(), membership)
    np.testing.assert_array_equal(shuffled.vectors_[0], in_order.vectors_[0])


def test_new_and_missing_ids_get_zeros_and_the_indicator():
    new = pd.DataFrame({"artist": ["t1", "new", None]})
    vectors = fitted().transform(new)
    np.testing.assert_array_equal(vectors[1:], 0)
    embedding = fitted(add_indicator=True)
    np.testing.assert_array_equal(embedding.transform(new)[:, :-1], vectors)
    np.testing.assert_array_equal(embedding.transform(new)[:, -1], [0, 1, 1])
    assert embedding.get_feature_names_out()[[0, 4, 5]].tolist() == [
        "artist_vector0",
        "artist_vector4",
        "artist_unknown",
    ]


def test_rare_ids_stay_unknown():
    membership = csr_array([[1, 1, 1], [2, 2, 0], [3, 0, 0]])
    songs = pd.DataFrame({"song": ["often", "twice", "once"]})
    embedding = SongEmbedding(min_count=2, vector_size=4, random_state=0).fit(songs, membership)
    assert embedding.vocabulary_[0].tolist() == ["often", "twice"]
    np.testing.assert_array_equal(embedding.transform(songs)[2], 0)


def test_songs_in_no_playlist_are_unknown():
    songs = pd.DataFrame({"song": ["s1", "s2"]})
    embedding = SongEmbedding(vector_size=3, add_indicator=True)
    features = embedding.fit_transform(songs, csr_array((2, 0)))
    np.testing.assert_array_equal(features, [[0, 0, 0, 1], [0, 0, 0, 1]])


def test_pickles_small_and_loads_without_gensim():
    embedding = fitted()
    pickled = pickle.dumps(embedding)
    assert len(pickled) < 20 * 5 * 4 + 2000  # single precision vectors, names and parameters
    script = (
        "import pickle, sys, pandas as pd\n"
        "embedding = pickle.loads(sys.stdin.buffer.read())\n"
        "embedding.transform(pd.DataFrame({'artist': ['t1', 'new']}))\n"
        "assert 'gensim' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], input=pickled, check=True)


@pytest.mark.parametrize("cls", [ArtistEmbedding, SongEmbedding])
def test_word2vec_without_gensim_says_what_to_install(cls, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(ImportError, match="needs the package gensim; got no such package"):
        fitted(cls, method="word2vec")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"vector_size": 0}, "`vector_size` must be an integer of 1 or more; got 0"),
        ({"window": 1.5}, "`window` must be an integer"),
        ({"epochs": 0}, "`epochs` must be an integer"),
        ({"min_count": 0}, "`min_count` must be an integer"),
        ({"learning_rate": 0}, "`learning_rate` must be a number above 0"),
        ({"method": "magic"}, r"`method` must be one of \['svd', 'word2vec'\]; got 'magic'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)
