"""Collocation of songs, against a transcription that counts playlist by playlist."""

from itertools import combinations

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array

from skmtc.optimize import _compiled
from skmtc.rankers._collocation import collocation
from tests.problems import make_problem


def transcribed(membership, n_neighbors, shrinkage):
    """Count shared playlists in dicts, and keep each song's strongest neighbours."""
    playlists = [set(np.flatnonzero(row)) for row in membership.toarray()]
    n_songs = membership.shape[1]
    counts = [sum(s in p for p in playlists) for s in range(n_songs)]
    both = {}
    for playlist in playlists:
        for a, b in combinations(sorted(playlist), 2):
            both[a, b] = both[b, a] = both.get((a, b), 0) + 1
    table = np.zeros((n_songs, n_songs))
    for song in range(n_songs):
        values = {
            b: n / (np.sqrt(counts[a] * counts[b]) + shrinkage)
            for (a, b), n in both.items()
            if a == song
        }
        for b in sorted(values, key=lambda b: (-values[b], b))[:n_neighbors]:
            table[song, b] = values[b]
    return table


@pytest.mark.parametrize("n_neighbors", [1, 4, 100])
@pytest.mark.parametrize("shrinkage", [0.0, 3.0])
def test_collocation_is_what_counting_gives(n_neighbors, shrinkage):
    _, membership, _ = make_problem(0)
    found = collocation(membership, n_neighbors=n_neighbors, shrinkage=shrinkage)
    expected = transcribed(membership, n_neighbors, shrinkage)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
    assert np.diff(found.indptr).max() <= n_neighbors


@pytest.mark.parametrize("n_neighbors", [1, 7, 100])
@pytest.mark.parametrize("share", [0.01, 0.2])
def test_compiled_loops_give_the_same_bits(n_neighbors, share, monkeypatch):
    membership = csr_array((np.random.default_rng(0).random((60, 200)) < share).astype(float))
    found = []
    for least in (1, 10**9):
        monkeypatch.setattr(_compiled, "WORTHWHILE_ENTRIES", least)
        found.append(collocation(membership, n_neighbors=n_neighbors, shrinkage=1.0))
    assert found[0].nnz > 0
    for attribute in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(*(getattr(part, attribute) for part in found))


def test_blocks_do_not_change_it():
    _, membership, _ = make_problem(1, n_playlists=40, n_songs=60)
    whole = collocation(membership, n_neighbors=5, shrinkage=1.0)
    with sklearn.config_context(working_memory=0.001):
        blocks = collocation(membership, n_neighbors=5, shrinkage=1.0)
    assert (whole != blocks).nnz == 0


def test_two_songs_of_one_playlist_by_hand():
    membership = csr_array([[1, 2, 0], [1, 0, 2], [1, 2, 0]])
    found = collocation(membership, n_neighbors=1, shrinkage=0.0).toarray()
    # Songs 0 and 1 share two playlists and are in 3 and 2; songs 0 and 2 share the one of song 2.
    np.testing.assert_allclose(
        found, [[0, 2 / np.sqrt(6), 0], [2 / np.sqrt(6), 0, 0], [1 / np.sqrt(3), 0, 0]]
    )
