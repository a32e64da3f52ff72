"""Vectors of tokens by singular value decomposition."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.features.embedding._ppmi import ShiftedPpmi
from skmtc.features.embedding._sequences import TokenSequences
from skmtc.features.embedding._svd import VALUE_POWER, leading_eigenvectors, svd

SAME_PLAYLIST = np.kron(np.eye(2), np.ones((2, 2)))


def sample_sequences(n_tokens=30, n_playlists=60, seed=0):
    rng = np.random.default_rng(seed)
    membership = (rng.random((n_tokens, n_playlists)) < 0.15) * rng.integers(
        1, 9, (n_tokens, n_playlists)
    )
    return TokenSequences(csr_array(membership), np.arange(n_tokens))


def learn(sequences, **parameters):
    return svd(
        sequences, **{"vector_size": 5, "shift": 1.0, "min_count": 1, "seed": 0} | parameters
    )


def test_eigenvectors_agree_with_a_dense_decomposition():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(80, 80)) * (rng.random((80, 80)) < 0.1)
    dense = dense + dense.T + np.diag(np.r_[[30.0, -25.0, 20.0, -15.0], np.zeros(76)])
    vectors, values = leading_eigenvectors(csr_array(dense), 2, seed=0)
    expected, exact = np.linalg.eigh(dense)
    np.testing.assert_allclose(values, expected[:-3:-1], rtol=1e-5)
    np.testing.assert_allclose(np.abs((exact[:, :-3:-1] * vectors).sum(axis=0)), 1, rtol=1e-5)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-5)
    assert (vectors.max(axis=0) == np.abs(vectors).max(axis=0)).all()


def test_songs_of_one_playlist_are_one_direction():
    # The matrix [[0, x], [x, 0]] has another one, of opposite sides, with a negative eigenvalue.
    membership = csr_array([[1, 0], [2, 0], [0, 1], [0, 2]])
    _, vectors = learn(TokenSequences(membership, np.arange(4)), vector_size=4)
    np.testing.assert_allclose(vectors @ vectors.T, np.log(4) ** 3 * SAME_PLAYLIST / 2, atol=1e-5)


def test_vectors_are_leading_singular_vectors_times_powers_of_the_values():
    sequences = sample_sequences()
    tokens, vectors = learn(sequences)
    ppmi = ShiftedPpmi(sequences.count()[1]) @ np.eye(30)
    values, left = (part[..., ::-1] for part in np.linalg.eigh(ppmi))
    lengths = values[:5] ** VALUE_POWER
    np.testing.assert_array_equal(tokens, np.arange(30))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), lengths, rtol=1e-3)
    cosines = np.abs((left[:, :5] * vectors).sum(axis=0)) / lengths
    np.testing.assert_allclose(cosines, 1, atol=1e-2)


def test_seeds_give_the_same_directions_with_the_same_signs():
    sequences = sample_sequences()
    (_, one), (_, other) = learn(sequences, seed=1), learn(sequences, seed=2)
    np.testing.assert_allclose(one[:, :2], other[:, :2], atol=1e-3)


def test_columns_beyond_the_number_of_tokens_are_zero():
    _, vectors = learn(sample_sequences(n_tokens=4), vector_size=6)
    assert vectors.shape == (4, 6)
    np.testing.assert_array_equal(vectors[:, 4:], 0)


def test_repeats_within_a_playlist_count_once():
    membership = csr_array([[1, 0, 1], [2, 1, 0], [3, 2, 0], [0, 3, 2]])
    once, repeated = np.array([0, 1, 2, 3]), np.array([0, 0, 2, 3])
    _, expected = learn(TokenSequences(csr_array([[1, 1, 1], [3, 2, 0], [0, 3, 2]]), once[:3]))
    _, vectors = learn(TokenSequences(membership, repeated))
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
