"""Vectors of tokens by singular value decomposition."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.features._ppmi import shifted_ppmi
from skmtc.features._sequences import TokenSequences
from skmtc.features._svd import VALUE_POWER, svd, symmetric_svd


def draw_sequences(n_tokens=30, n_playlists=60, seed=0):
    rng = np.random.default_rng(seed)
    membership = (rng.random((n_tokens, n_playlists)) < 0.15) * rng.integers(
        1, 9, (n_tokens, n_playlists)
    )
    return TokenSequences(csr_array(membership), np.arange(n_tokens))


def learn(sequences, **parameters):
    return svd(
        sequences, **{"vector_size": 5, "shift": 1.0, "min_count": 1, "seed": 0} | parameters
    )


def test_symmetric_svd_agrees_with_a_dense_one():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(80, 80)) * (rng.random((80, 80)) < 0.1)
    dense = dense + dense.T + np.diag(np.r_[[30.0, -25.0, 20.0, -15.0], np.zeros(76)])
    vectors, values = symmetric_svd(csr_array(dense), 4, seed=0)
    left, expected, _ = np.linalg.svd(dense)
    np.testing.assert_allclose(values, expected[:4], rtol=1e-5)
    np.testing.assert_allclose(np.abs((left[:, :4] * vectors).sum(axis=0)), 1, rtol=1e-5)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-5)
    assert (vectors.max(axis=0) == np.abs(vectors).max(axis=0)).all()


def test_vectors_are_leading_singular_vectors_times_powers_of_the_values():
    sequences = draw_sequences()
    tokens, vectors = learn(sequences)
    ppmi = shifted_ppmi(sequences.count()[1]).toarray()
    left, values, _ = np.linalg.svd(ppmi)
    lengths = values[:5] ** VALUE_POWER
    np.testing.assert_array_equal(tokens, np.arange(30))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), lengths, rtol=1e-3)
    cosines = np.abs((left[:, :5] * vectors).sum(axis=0)) / lengths
    np.testing.assert_allclose(cosines, 1, atol=1e-2)


def test_seeds_give_the_same_directions_with_the_same_signs():
    sequences = draw_sequences()
    (_, one), (_, other) = learn(sequences, seed=1), learn(sequences, seed=2)
    np.testing.assert_allclose(one[:, :2], other[:, :2], atol=1e-3)


def test_columns_beyond_the_number_of_tokens_are_zero():
    _, vectors = learn(draw_sequences(n_tokens=4), vector_size=6)
    assert vectors.shape == (4, 6)
    np.testing.assert_array_equal(vectors[:, 4:], 0)


def test_repeats_within_a_playlist_count_once():
    membership = csr_array([[1, 0, 1], [2, 1, 0], [3, 2, 0], [0, 3, 2]])
    once, repeated = np.array([0, 1, 2, 3]), np.array([0, 0, 2, 3])
    _, expected = learn(TokenSequences(csr_array([[1, 1, 1], [3, 2, 0], [0, 3, 2]]), once[:3]))
    _, vectors = learn(TokenSequences(membership, repeated))
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
