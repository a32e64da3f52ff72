"""History terms, against a transcription that reads playlists one by one."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc._kernels import loading
from skmtc.rankers.history import _pair_features
from skmtc.rankers.history._cooccurrence import cosine_neighbors
from skmtc.rankers.history._pair_features import (
    HIGHEST_RATE,
    N_NEIGHBORS,
    PRIOR_HOLDINGS,
    PRIOR_SONGS,
    SCALES,
    SHRINKAGE,
    TERMS,
    PairFeatures,
)
from tests.problems import make_problem

N_USERS = 5
N_ARTISTS = 6


def make_terms(seed=0):
    _, membership, owners = make_problem(seed)
    rng = np.random.default_rng(seed)
    artists = rng.integers(-1, N_ARTISTS, membership.shape[1])
    terms = PairFeatures(TERMS, membership, owners, N_USERS, artist_of_song=artists)
    return terms, [list(np.flatnonzero(row)) for row in membership.toarray()], owners, artists


def repeats_and_places(lists):
    """Count songs that stand in another list, too, and songs less those of a mean list."""
    every = [s for songs in lists for s in songs]
    mean_length = len(every) / len(lists) if lists else 0
    return len(every) - len(set(every)), len(every) - mean_length


def repeat_rate(lists, of_all):
    repeats, places = repeats_and_places(lists)
    return min(HIGHEST_RATE, (repeats + PRIOR_SONGS * of_all) / (places + PRIOR_SONGS))


def rate_of_all(playlists, owners):
    counts = [
        repeats_and_places([p for p, u in zip(playlists, owners, strict=True) if u == user])
        for user in set(owners)
    ]
    repeats, places = np.sum(counts, axis=0)
    return repeats / max(1, places)


def propensity(playlists, owners, n_songs):
    """Count, song by song, who holds it how often."""
    holdings, repeats = np.zeros(n_songs), np.zeros(n_songs)
    for song in range(n_songs):
        holders = [u for p, u in zip(playlists, owners, strict=True) if song in p]
        holdings[song], repeats[song] = len(holders), len(holders) - len(set(holders))
    share = repeats.sum() / holdings.sum()
    return (repeats + PRIOR_HOLDINGS * share) / (holdings + PRIOR_HOLDINGS) / share


def transcribed(terms, playlists, owners, artists, user, playlist, song):
    """Read all playlists of the user, song by song."""
    others = [p for p in range(len(playlists)) if owners[p] == user and p != playlist]
    rest = [] if playlist < 0 else [s for s in playlists[playlist] if s != song]
    likely = propensity(playlists, owners, len(artists))
    times = likely[song] * sum(song in playlists[p] for p in others)
    had = [s for p in others for s in playlists[p]]
    same_artist = sum(artists[s] == artists[song] for s in had + rest)
    among_users, among_playlists = (neighbors.toarray() for neighbors in terms.neighbors)
    if playlist < 0:
        together = 0.0 if song in had else sum(among_users[s, song] for s in sorted(set(had)))
    else:
        together = sum(among_playlists[s, song] for s in rest)
    rate = repeat_rate([playlists[p] for p in others], rate_of_all(playlists, owners))
    share = times / max(1, sum(likely[s] for s in had))
    return [
        np.log(1 + rate / (1 - rate) * len(artists) * share),
        np.log(1 + same_artist) if artists[song] >= 0 else 0.0,
        np.log(1 + SCALES["cosine"] * together),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_features_are_what_reading_playlists_gives(seed):
    terms, playlists, owners, artists = make_terms(seed)
    asked = [(owners[p], p) for p in range(len(playlists))] + [(u, -1) for u in range(N_USERS)]
    users, codes = np.array(asked).T
    found = np.stack([part.toarray() for part in terms.features(users, codes)], axis=-1)
    for row, (user, playlist) in enumerate(asked):
        for song in range(len(artists)):
            expected = transcribed(terms, playlists, owners, artists, user, playlist, song)
            np.testing.assert_allclose(found[row, song], expected, rtol=1e-6, atol=1e-6)


def test_a_song_does_not_count_for_itself_in_its_playlist():
    membership = csr_array([[1, 2, 0], [0, 0, 1]])
    terms = PairFeatures(TERMS, membership, np.array([0, 0]), 1, artist_of_song=np.array([0, 1, 0]))
    song, artist, _ = (m.toarray() for m in terms.features(np.array([0]), np.array([0])))
    # All of the other playlist is song 2, and nobody has ever repeated a song.
    assert terms.repeat_rate == 0.0
    assert song.tolist() == [[0.0, 0.0, 0.0]]
    # Song 0 finds song 2 of the other playlist; song 2 finds itself there, and song 0 in this one.
    np.testing.assert_allclose(artist, [[np.log(2), 0.0, np.log(3)]], rtol=1e-6)


def test_the_song_term_by_hand():
    membership = csr_array([[1, 2, 0, 0], [1, 0, 2, 0]])
    terms = PairFeatures(("song",), membership, np.array([0, 0]), 1)
    # Of two songs that were not in the first playlist, one was had before.
    assert terms.repeat_rate == 0.5
    (song,) = terms.features(np.array([0]), np.array([-1]))
    # A quarter of all holdings are repeats: of song 0, one of two, and of the others none; to which
    # come ten holdings with two and a half repeats. The share of song 0 is 2 a of 2 a + b + b.
    a, b = (1 + 2.5) / 12 * 4, 2.5 / 11 * 4
    np.testing.assert_allclose(terms.propensity, [a, b, b, 2.5 / 10 * 4])
    # Odds are 1 and there are 4 songs.
    whole = 2 * a + 2 * b
    by_hand = np.log([[1 + 4 * 2 * a / whole, 1 + 4 * b / whole, 1 + 4 * b / whole, 1]])
    np.testing.assert_allclose(song.toarray(), by_hand, rtol=1e-6)
    (in_first,) = terms.features(np.array([0]), np.array([0]))
    by_hand = np.log([[1 + 4 * a / (a + b), 1, 1 + 4 * b / (a + b), 1]])
    np.testing.assert_allclose(in_first.toarray(), by_hand, rtol=1e-6)


def test_cooccurrence_is_among_users_for_new_playlists_and_among_playlists_for_known_ones():
    _, membership, owners = make_problem(2)
    terms = PairFeatures(("co-occurrence",), membership, owners, N_USERS)
    sets = csr_array([membership.toarray()[owners == u].any(axis=0) for u in range(N_USERS)])
    for found, holders in zip(terms.neighbors, (sets.astype(float), membership), strict=True):
        expected = cosine_neighbors(holders, n_neighbors=N_NEIGHBORS, shrinkage=SHRINKAGE)
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-6)
    (new,) = terms.features(np.arange(N_USERS), np.full(N_USERS, -1))
    assert new.nnz > 0
    assert (new.toarray()[sets.toarray()] == 0).all()


def test_users_with_very_many_songs_are_left_out_of_cooccurrence_among_users(monkeypatch):
    _, membership, owners = make_problem(2)
    sets = [membership.toarray()[owners == u].any(axis=0) for u in range(N_USERS)]
    largest = max(s.sum() for s in sets)
    monkeypatch.setattr(_pair_features, "MOST_SONGS", largest - 1)
    terms = PairFeatures(("co-occurrence",), membership, owners, N_USERS)
    others = csr_array([s for s in sets if s.sum() < largest]).astype(float)
    expected = cosine_neighbors(others, n_neighbors=N_NEIGHBORS, shrinkage=SHRINKAGE)
    np.testing.assert_allclose(terms.neighbors[0].toarray(), expected.toarray(), rtol=1e-6)
    monkeypatch.setattr(_pair_features, "MOST_SONGS", 0)
    nobody = PairFeatures(("co-occurrence",), membership, owners, N_USERS)
    assert nobody.features(np.arange(N_USERS), np.full(N_USERS, -1))[0].nnz == 0


def test_all_songs_are_alike_where_none_is_repeated():
    terms = PairFeatures(("song",), csr_array([[1, 2, 0], [0, 0, 1]]), np.array([0, 0]), 1)
    assert terms.propensity.tolist() == [1.0, 1.0, 1.0]


def test_songs_of_users_are_in_order_whatever_the_product_gives(monkeypatch):
    # Sums in single precision depend on the order, so that all copies of a model need the same.
    def shuffled(matrix):
        order = [s for a, b in pairwise(matrix.indptr) for s in reversed(range(a, b))]
        values = matrix.data[order], matrix.indices[order], matrix.indptr
        return csr_array(values, shape=matrix.shape)

    whole = _pair_features.compact
    monkeypatch.setattr(_pair_features, "compact", lambda matrix: shuffled(whole(matrix)))
    assert make_terms()[0].user_songs.has_sorted_indices


def test_new_users_have_no_history():
    terms, *_ = make_terms()
    nobody = np.array([-1])
    assert all(part.nnz == 0 for part in terms.features(nobody, nobody))
    assert terms.of_artists(nobody).nnz == 0


def test_scores_are_weighted_sums_and_new_songs_have_the_artist():
    terms, _, _, artists = make_terms()
    users, new = np.arange(N_USERS), np.full(N_USERS, -1)
    weights = np.array([0.5, 2.0, -1.0])
    parts = terms.features(users, new)
    for found, weight, part in zip(terms.scores(users, new, weights), weights, parts, strict=True):
        np.testing.assert_allclose(found.toarray(), weight * part.toarray(), rtol=1e-6)
    (alone,) = terms.scores(users, new, [0.0, 0.0, 3.0])
    np.testing.assert_allclose(alone.toarray(), 3 * parts[2].toarray(), rtol=1e-6)
    # A new song of an artist has what a known one has that the user has not heard.
    of_artist = terms.of_artists(users).toarray()
    known = artists >= 0
    np.testing.assert_allclose(of_artist[:, artists[known]], parts[1].toarray()[:, known])


@pytest.mark.parametrize("names", [("song",), ("co-occurrence", "song"), ("artist",)])
def test_terms_may_be_chosen(names):
    terms, *_ = make_terms()
    _, membership, owners = make_problem(0)
    artists = np.random.default_rng(0).integers(-1, N_ARTISTS, membership.shape[1])
    some = PairFeatures(names, membership, owners, N_USERS, artist_of_song=artists)
    users, new = np.arange(N_USERS), np.full(N_USERS, -1)
    every = dict(zip(TERMS, terms.features(users, new), strict=True))
    for name, part in zip(names, some.features(users, new), strict=True):
        np.testing.assert_array_equal(part.toarray(), every[name].toarray())


def test_compiled_sums_of_neighbors_have_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    membership = csr_array((rng.random((40, 300)) < 0.1).astype(float))
    terms = PairFeatures(("co-occurrence",), membership, np.arange(40) // 4, 10)
    for asked in ((np.arange(10), np.full(10, -1)), (np.arange(40) // 4, np.arange(40))):
        found = []
        for least in (1, 10**9):
            monkeypatch.setattr(loading, "WORTHWHILE_ENTRIES", least)
            found.append(terms.features(*asked)[0].toarray())
        assert found[0].any()
        np.testing.assert_array_equal(*found)


def test_similarities_that_vanish_in_single_precision_are_left_out():
    membership = csr_array(np.array([[1, 1, 0], [0, 1, 1]]))
    tiny = csr_array(np.array([[0.0, 1e-60, 0.5], [0.5, 0.0, 0.0], [0.0, 1e-60, 0.0]]))
    features = PairFeatures(
        ("co-occurrence",), membership, np.array([0, 1]), 2, neighbors=(tiny, tiny)
    )
    for kept in features.neighbors:
        assert kept.data.tolist() == [0.5, 0.5]
    assert tiny.nnz == 4  # what was given is not changed
