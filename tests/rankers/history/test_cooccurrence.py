"""Co-occurrence of songs, against a transcription that counts playlist by playlist."""

from itertools import combinations

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array

from skmtc._kernels import loading
from skmtc.rankers.history import _cooccurrence
from skmtc.rankers.history._cooccurrence import cosine_neighbors, ridge_neighbors
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
def test_cosines_are_what_counting_gives(n_neighbors, shrinkage):
    _, membership, _ = make_problem(0)
    found = cosine_neighbors(membership, n_neighbors=n_neighbors, shrinkage=shrinkage)
    expected = transcribed(membership, n_neighbors, shrinkage)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
    assert np.diff(found.indptr).max() <= n_neighbors


@pytest.mark.parametrize("n_neighbors", [1, 7, 100])
@pytest.mark.parametrize("share", [0.01, 0.2])
def test_compiled_loops_give_the_same_bits(n_neighbors, share, monkeypatch):
    membership = csr_array((np.random.default_rng(0).random((60, 200)) < share).astype(float))
    found = []
    for least in (1, 10**9):
        monkeypatch.setattr(loading, "WORTHWHILE_ENTRIES", least)
        found.append(cosine_neighbors(membership, n_neighbors=n_neighbors, shrinkage=1.0))
    assert found[0].nnz > 0
    for attribute in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(*(getattr(part, attribute) for part in found))


def test_blocks_do_not_change_it():
    _, membership, _ = make_problem(1, n_playlists=40, n_songs=60)
    whole = cosine_neighbors(membership, n_neighbors=5, shrinkage=1.0)
    with sklearn.config_context(working_memory=0.001):
        blocks = cosine_neighbors(membership, n_neighbors=5, shrinkage=1.0)
    assert (whole != blocks).nnz == 0


def test_two_songs_of_one_playlist_by_hand():
    membership = csr_array([[1, 2, 0], [1, 0, 2], [1, 2, 0]])
    found = cosine_neighbors(membership, n_neighbors=1, shrinkage=0.0).toarray()
    # Songs 0 and 1 share two playlists and are in 3 and 2; songs 0 and 2 share the one of song 2.
    np.testing.assert_allclose(
        found, [[0, 2 / np.sqrt(6), 0], [2 / np.sqrt(6), 0, 0], [1 / np.sqrt(3), 0, 0]]
    )


def transcribed_ridge(membership, n_neighbors, shrinkage, l2):
    """Regress each song on its neighbours by least squares with extra rows for the penalty."""
    held = (membership.toarray() > 0).astype(float)
    neighbors = transcribed(membership, n_neighbors, shrinkage)
    weights = np.zeros_like(neighbors)
    for song in range(held.shape[1]):
        others = np.flatnonzero(neighbors[song])
        if len(others):
            rows = np.vstack([held[:, others], np.sqrt(l2) * np.eye(len(others))])
            target = np.concatenate([held[:, song], np.zeros(len(others))])
            weights[others, song] = np.linalg.lstsq(rows, target, rcond=None)[0]
    return np.maximum(weights, 0.0)


@pytest.mark.parametrize("n_neighbors", [1, 4, 100])
@pytest.mark.parametrize("l2", [0.5, 30.0])
@pytest.mark.parametrize("least", [1, 10**9])
def test_ridge_weights_are_those_of_least_squares(n_neighbors, l2, least, monkeypatch):
    monkeypatch.setattr(loading, "WORTHWHILE_ENTRIES", least)
    _, membership, _ = make_problem(0)
    found = ridge_neighbors(membership, n_neighbors=n_neighbors, shrinkage=3.0, l2=l2)
    expected = transcribed_ridge(membership, n_neighbors, 3.0, l2)
    assert expected.any()
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


def test_ridge_with_all_neighbors_is_ease():
    """EASE: B = I - P diag(P)^-1 with P = (X'X + l2 I)^-1, negative weights set to 0."""
    held = (np.random.default_rng(0).random((60, 12)) < 0.5).astype(float)
    inverse = np.linalg.inv(held.T @ held + 7.0 * np.eye(12))
    ease = np.eye(12) - inverse / np.diag(inverse)
    found = ridge_neighbors(csr_array(held), n_neighbors=11, shrinkage=0.0, l2=7.0)
    np.testing.assert_allclose(found.toarray(), np.maximum(ease, 0.0), atol=1e-10)


def test_neighbors_that_tell_the_same_share_their_weight():
    rng = np.random.default_rng(0)
    one = (rng.random((200, 1)) < 0.4).astype(float)
    song = np.where(rng.random((200, 1)) < 0.9, one, 1 - one)
    alone, twice = (
        ridge_neighbors(csr_array(held), n_neighbors=3, shrinkage=0.0, l2=1.0).toarray()
        for held in (np.hstack([song, one]), np.hstack([song, one, one]))
    )
    np.testing.assert_allclose(twice[1, 0], twice[2, 0])
    np.testing.assert_allclose(twice[1, 0] + twice[2, 0], alone[1, 0], rtol=0.02)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_give_the_same_bits(n_jobs, monkeypatch):
    monkeypatch.setattr(loading, "WORTHWHILE_ENTRIES", 1)
    monkeypatch.setattr(_cooccurrence, "COMPILED_SONGS", 16)
    membership = csr_array((np.random.default_rng(0).random((60, 200)) < 0.1).astype(float))
    options = {"n_neighbors": 7, "shrinkage": 1.0, "l2": 2.0}
    first = ridge_neighbors(membership, **options)
    again = ridge_neighbors(membership, **options, n_jobs=n_jobs)
    np.testing.assert_array_equal(first.data, again.data)
