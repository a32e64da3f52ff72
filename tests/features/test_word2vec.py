"""Word2vec on playlists."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.features._sequences import TokenSequences
from skmtc.features._word2vec import LONGEST_SENTENCE, Sentences, word2vec

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
