"""Vectors of tokens by alternating least squares."""

import sys

import numpy as np
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array

from skmtc.features.embedding._als import als
from skmtc.features.embedding._sequences import TokenSequences

PARAMETERS = {
    "vector_size": 4,
    "epochs": 5,
    "confidence": 10.0,
    "factor_l2": 1.0,
    "min_count": 1,
    "seed": 0,
}


def sample_sequences(n_tokens=30, n_playlists=60, seed=0):
    rng = np.random.default_rng(seed)
    membership = (rng.random((n_tokens, n_playlists)) < 0.15).astype(int)
    return TokenSequences(csr_array(membership), np.arange(n_tokens))


def learn(sequences, **parameters):
    return als(sequences, **PARAMETERS | parameters)


def test_vectors_are_the_optimum_given_the_playlists():
    """At the fixed point each side solves its own ridge regressions; the objective tells."""
    sequences = sample_sequences()
    counts = sequences.count()[1].toarray()
    weights = np.where(counts > 0, 1 + 10.0 * counts, 1.0)
    _, songs = learn(sequences, epochs=200)
    songs = songs.astype(float)
    ridge = np.eye(4)
    playlists = np.array(
        [np.linalg.solve(songs.T * w @ songs + ridge, songs.T @ (w * (w > 1))) for w in weights]
    )
    again = np.array(
        [
            np.linalg.solve(playlists.T * w @ playlists + ridge, playlists.T @ (w * (w > 1)))
            for w in weights.T
        ]
    )
    np.testing.assert_allclose(songs, again, atol=0.02)


def test_the_number_of_threads_does_not_change_the_result():
    sequences = sample_sequences()
    _, one = learn(sequences)
    with parallel_config(backend="threading", n_jobs=2):
        _, two = learn(sequences)
    np.testing.assert_array_equal(one, two)


def test_without_implicit_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "implicit.als", None)
    with pytest.raises(ImportError, match=r"method='als' needs .* `pip install implicit`"):
        learn(sample_sequences())
