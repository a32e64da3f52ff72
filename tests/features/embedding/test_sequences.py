"""Playlists as sequences of tokens."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.features.embedding._sequences import TokenSequences


def pieces(sequences, longest=10):
    return [piece.tolist() for piece in sequences.pieces(longest)]


def test_sequences_are_the_playlists():
    rng = np.random.default_rng(0)
    playlists = [rng.permutation(20)[: rng.integers(1, 20)] for _ in range(15)]
    membership = np.zeros((20, 15), dtype=int)
    for i, songs in enumerate(playlists):
        membership[songs, i] = np.arange(1, len(songs) + 1)
    token_of_song = rng.integers(5, size=20)
    sequences = TokenSequences(csr_array(membership), token_of_song)
    assert pieces(sequences, longest=20) == [token_of_song[p].tolist() for p in playlists]
    assert len(sequences) == 15


def test_songs_without_token_are_passed_over():
    membership = csr_array([[2, 0], [1, 1], [3, 0]])
    assert pieces(TokenSequences(membership, np.array([4, -1, 5]))) == [[4, 5]]


def test_long_playlists_are_cut_but_not_cut_off():
    membership = csr_array(np.arange(1, 8)[:, None])
    sequences = TokenSequences(membership, np.arange(7))
    assert pieces(sequences, longest=3) == [[0, 1, 2], [3, 4, 5], [6]]


def test_counts_are_those_of_the_playlists():
    membership = csr_array([[1, 0], [2, 1], [3, 0], [0, 2]])
    sequences = TokenSequences(membership, np.array([7, 4, 7, 9]))
    tokens, counts = sequences.count()
    assert tokens.tolist() == [4, 7, 9]
    assert counts.toarray().tolist() == [[1, 2, 0], [1, 0, 1]]
    tokens, counts = sequences.count(min_count=2)
    assert tokens.tolist() == [4, 7]
    assert counts.toarray().tolist() == [[1, 2], [1, 0]]
