"""Vectors from songs x playlists, in products with the matrix."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.features.embedding import svd_of_rows
from skmtc.features.embedding._sequences import TokenSequences


def draw(n_songs=60, n_playlists=40, seed=0):
    held = np.random.default_rng(seed).random((n_songs, n_playlists)) < 0.15
    held[:, 0] = True
    return TokenSequences(csr_array(held.astype(int)), np.arange(n_songs)), held


def test_vectors_are_singular_vectors_of_the_mutual_information():
    sequences, held = draw()
    tokens, vectors = svd_of_rows(sequences, vector_size=8, min_count=1, seed=0)
    assert tokens.tolist() == list(range(60))
    expected = held.sum() / np.outer(held.sum(axis=1), held.sum(axis=0))
    ppmi = np.where(held, np.maximum(np.log(expected), 0), 0)
    left, values, _ = np.linalg.svd(ppmi, full_matrices=False)
    best = left[:, :8] * values[:8]
    # Signs are free, products are not. All directions fit in the random subspace.
    np.testing.assert_allclose(vectors @ vectors.T, best @ best.T, atol=1e-3)


def test_rare_songs_have_no_vector_and_few_songs_have_short_ones():
    sequences, held = draw()
    counts = held.sum(axis=1)
    tokens, _ = svd_of_rows(sequences, vector_size=8, min_count=6, seed=0)
    assert tokens.tolist() == np.flatnonzero(counts >= 6).tolist()
    _, vectors = svd_of_rows(draw(n_songs=5)[0], vector_size=8, min_count=1, seed=0)
    assert vectors.shape == (5, 8)
    assert not vectors[:, 5:].any()
    tokens, vectors = svd_of_rows(sequences, vector_size=8, min_count=1000, seed=0)
    assert len(tokens) == 0
    assert vectors.shape == (0, 8)


def test_same_seed_same_vectors():
    one, two = (svd_of_rows(draw()[0], vector_size=8, min_count=1, seed=3)[1] for _ in range(2))
    np.testing.assert_array_equal(one, two)
