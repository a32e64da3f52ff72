"""Pairs of held-out playlists and candidates."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc.optimize._pair_weights import PairLikelihood
from skmtc.rankers.history._pairs import mixed_shares, sample_pairs, softmax_weights
from tests.problems import make_problem


def sampled(seed, n_sampled=500, seen=None, **shape):
    """Sample the pairs of all playlists of a problem, with scores and one more column."""
    features, membership, _ = make_problem(seed, **shape)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(membership.shape[0], features.shape[1])) @ features.T
    other = rng.random(scores.shape) * (rng.random(scores.shape) < 0.2)
    pairs = sample_pairs(
        lambda rows: [scores[rows], other[rows]],
        2,
        held=membership,
        seen=seen,
        sample_size=lambda columns: mixed_shares(
            [softmax_weights(columns[0]), columns[1]], n_sampled
        ),
        rng=np.random.RandomState(seed),
    )
    return pairs, scores, other, membership.toarray() > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_small_catalogue_is_taken_whole(seed):
    _, membership, _ = make_problem(seed)
    seen = (np.random.default_rng(seed).random(membership.shape) < 0.2) & ~(
        membership.toarray() > 0
    )
    pairs, scores, other, held = sampled(seed, seen=csr_array(seen))
    expected = [
        (scores[q, song], other[q, song], held[q, song])
        for q in range(len(scores))
        for song in range(scores.shape[1])
        if not seen[q, song]
    ]
    np.testing.assert_allclose(np.column_stack([pairs.columns, pairs.is_positive]), expected)
    assert (pairs.offsets == 0).all()
    assert pairs.sizes.tolist() == (~seen).sum(axis=1).tolist()


def test_a_sample_stands_for_all_candidates():
    shape = {"n_songs": 300, "n_playlists": 60, "n_users": 20}
    exact = PairLikelihood(sampled(1, **shape)[0])
    pairs = sampled(1, n_sampled=100, **shape)[0]
    assert (pairs.sizes < 250).all()
    estimate = PairLikelihood(pairs)
    for coef in ([1.0, 0.0], [0.7, 1.0]):
        coef = np.array(coef)
        assert estimate.value(coef) == pytest.approx(exact.value(coef), abs=0.1)
        np.testing.assert_allclose(
            estimate.derivatives(coef)[1], exact.derivatives(coef)[1], atol=0.15
        )


def test_shares_have_the_expected_size():
    scores = np.random.default_rng(0).normal(size=(5, 1000))
    shares = mixed_shares([softmax_weights(scores), np.zeros_like(scores)], 100)
    # A third of the mass is uniform, a third follows the scores, and zeros have none.
    np.testing.assert_allclose(shares.sum(axis=1), 100 * 2 / 3, rtol=0.05)
    assert (np.diff(np.take_along_axis(shares, scores.argsort(axis=1), axis=1)) >= 0).all()
