"""Pairs of held-out playlists and candidates."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc.optimize._pair_weights import PairLikelihood
from skmtc.rankers import _history_pairs
from skmtc.rankers._history_pairs import history_pairs
from skmtc.rankers._history_terms import TERMS, HistoryTerms
from skmtc.rankers._rehearsal import rehearsals
from tests.problems import make_problem


def rehearsed(seed, is_known, **shape):
    """Lay out the pairs of one rehearsal; give them with all that they are made of."""
    features, membership, owners = make_problem(seed, **shape)
    rng = np.random.RandomState(seed)
    rehearsal = next(rehearsals(membership, owners, 1000, rng))
    artists = np.random.default_rng(seed).integers(-1, 6, membership.shape[1])
    terms = HistoryTerms(TERMS, rehearsal.kept, owners, owners.max() + 1, artist_of_song=artists)
    rows = rehearsal.known if is_known else rehearsal.new
    queries = owners[rows], rows if is_known else np.full(len(rows), -1)
    weights = np.random.default_rng(seed).normal(size=(len(rows), features.shape[1]))
    held, seen = rehearsal.held[rows], rehearsal.kept[rows]
    pairs = history_pairs(terms, queries, weights, features, held=held, seen=seen, rng=rng)
    return pairs, terms, queries, weights @ features.T, held.toarray() > 0, seen.toarray() > 0


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_small_catalogue_is_there_as_a_whole(seed, is_known):
    pairs, terms, queries, scores, held, seen = rehearsed(seed, is_known)
    features = [part.toarray() for part in terms.features(*queries)]
    expected = [
        (scores[q, song], *(part[q, song] for part in features), held[q, song])
        for q in range(len(scores))
        for song in range(scores.shape[1])
        if not seen[q, song]
    ]
    np.testing.assert_allclose(np.column_stack([pairs.columns, pairs.is_positive]), expected)
    assert (pairs.offsets == 0).all()
    assert pairs.sizes.tolist() == (~seen).sum(axis=1).tolist()
    assert seen.any() == is_known


@pytest.mark.parametrize("is_known", [False, True])
def test_no_membership_explains_itself(is_known):
    """History is that of a table which never had what is held out."""
    _, membership, owners = make_problem(0)
    _, terms, queries, _, held, _ = rehearsed(0, is_known)
    rehearsal = next(rehearsals(membership, owners, 1000, np.random.RandomState(0)))
    rows = rehearsal.known if is_known else rehearsal.new
    never = membership.toarray()
    for other in (rehearsal.new, rehearsal.known):
        never[other] *= rehearsal.kept.toarray()[other] > 0
    assert not (never[rows] * held).any()
    artists = np.random.default_rng(0).integers(-1, 6, membership.shape[1])
    fresh = HistoryTerms(TERMS, csr_array(never), owners, owners.max() + 1, artist_of_song=artists)
    for ours, theirs in zip(terms.features(*queries), fresh.features(*queries), strict=True):
        np.testing.assert_allclose(ours.toarray(), theirs.toarray())


def test_a_sample_stands_for_all_candidates(monkeypatch):
    shape = {"n_songs": 300, "n_playlists": 60, "n_users": 20}
    exact = PairLikelihood(rehearsed(1, False, **shape)[0])
    monkeypatch.setattr(_history_pairs, "SAMPLED_SONGS", 100)
    pairs = rehearsed(1, False, **shape)[0]
    assert (pairs.sizes < 250).all()
    sampled = PairLikelihood(pairs)
    for coef in ([1.0, 0.0, 0.0, 0.0], [0.7, 1.0, 0.3, 0.2]):
        coef = np.array(coef)
        assert sampled.value(coef) == pytest.approx(exact.value(coef), abs=0.1)
        np.testing.assert_allclose(
            sampled.derivatives(coef)[1], exact.derivatives(coef)[1], atol=0.15
        )


def test_sparse_songs_are_scored_alike():
    features, membership, owners = make_problem(2)
    terms = HistoryTerms(("song",), membership, owners, owners.max() + 1)
    queries = owners, np.full(len(owners), -1)
    weights = np.ones((len(owners), features.shape[1]))
    nothing = csr_array(membership.shape)
    dense, sparse = (
        history_pairs(
            terms,
            queries,
            weights,
            vectors,
            held=membership,
            seen=nothing,
            rng=np.random.RandomState(0),
        )
        for vectors in (features, csr_array(features))
    )
    np.testing.assert_allclose(dense.columns, sparse.columns)
