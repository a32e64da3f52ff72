"""Word2vec on playlists, and the embeddings that learn by it."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from skmtc.features import ArtistEmbedding, SongEmbedding
from skmtc.features.embedding._sequences import TokenSequences
from skmtc.features.embedding._word2vec import LONGEST_SENTENCE, Sentences, word2vec

# It has no wheels for Python 3.14 and later.
pytest.importorskip("gensim")

PARAMETERS = {
    "vector_size": 4,
    "window": 2,
    "epochs": 2,
    "skip_gram": True,
    "learning_rate": 0.05,
    "min_count": 1,
    "seed": 0,
}


def one_long_playlist(n_songs):
    membership = csr_array(np.arange(1, n_songs + 1)[:, None])
    return TokenSequences(membership, np.arange(n_songs))


def test_every_token_that_occurs_has_a_vector():
    membership = csr_array([[1, 0], [0, 0], [2, 1]])
    tokens, vectors = word2vec(TokenSequences(membership, np.array([7, 8, 3])), **PARAMETERS)
    assert tokens.tolist() == [3, 7]
    assert vectors.shape == (2, 4)
    assert np.isfinite(vectors).all()


def test_nothing_of_a_long_playlist_is_dropped():
    sequences = one_long_playlist(LONGEST_SENTENCE + 5)
    sentences = list(Sentences(sequences))
    assert [len(sentence) for sentence in sentences] == [LONGEST_SENTENCE, 5]
    tokens, _ = word2vec(sequences, **PARAMETERS)
    assert len(tokens) == LONGEST_SENTENCE + 5


def test_training_moves_vectors_from_their_start():
    sequences = one_long_playlist(50)
    _, slow = word2vec(sequences, **PARAMETERS | {"learning_rate": 1e-9})
    _, fast = word2vec(sequences, **PARAMETERS)
    assert np.abs(slow - fast).max() > 1e-4


TOKENS = [f"t{i}" for i in range(20)]


def sample_membership():
    return csr_array(np.random.RandomState(0).randint(6, size=(20, 30)))


def fitted(cls=ArtistEmbedding, **parameters):
    parameters = {"method": "word2vec", "vector_size": 5, "random_state": 3} | parameters
    return cls(**parameters).fit(pd.DataFrame({"artist": TOKENS}), sample_membership())


@parametrize_with_checks([ArtistEmbedding(method="word2vec"), SongEmbedding(method="word2vec")])
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("parameters", [{}, {"cls": SongEmbedding, "length": 1}])
@pytest.mark.parametrize("skip_gram", [True, False])
def test_vectors_have_unit_length(parameters, skip_gram):
    embedding = fitted(**parameters, skip_gram=skip_gram)
    vectors = embedding.transform(pd.DataFrame({"artist": TOKENS}))
    assert vectors.shape == (20, 5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


def test_same_seed_same_vectors_and_another_seed_others():
    first, second, other = (fitted(random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.vectors_[0], second.vectors_[0])
    assert not np.allclose(first.vectors_[0], other.vectors_[0])


def test_the_order_within_playlists_matters():
    songs, membership = pd.DataFrame({"artist": TOKENS}), sample_membership()
    turned = membership.copy()
    turned.data = 7 - turned.data
    embedding = ArtistEmbedding(method="word2vec", vector_size=5, window=1, random_state=3)
    one, other = (embedding.fit_transform(songs, m) for m in (membership, turned))
    assert not np.allclose(one, other)
