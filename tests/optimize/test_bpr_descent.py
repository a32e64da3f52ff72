"""Pairs are drawn as they should be, and steps on them reach the minimum."""

import numpy as np
import pytest
from problems import make_problem
from scipy.optimize import minimize
from scipy.sparse import csr_array

from skmtc.optimize._bpr_descent import PairSampler, descend_pairs

PENALTIES = {"shared_l2": 0.1, "user_l2": 0.5, "playlist_l2": 1.5}
STEPS = {"learning_rate": 0.1, "batch_size": 1000, "n_epochs": 2000}


def _sampler(seed):
    _, membership, _ = make_problem(seed)
    return PairSampler(membership, np.random.RandomState(seed)), membership.toarray() > 0


@pytest.mark.parametrize("seed", range(4))
def test_nth_outside_counts_through_the_complement(seed):
    sampler, held = _sampler(seed)
    for i, row in enumerate(held):
        outside = np.flatnonzero(~row)
        playlists = np.full(len(outside), i)
        given = sampler.nth_outside(playlists, np.arange(len(outside)))
        np.testing.assert_array_equal(given, outside)


def test_each_membership_is_met_once_an_epoch():
    sampler, held = _sampler(0)
    for _ in range(2):
        met = np.zeros(held.shape, dtype=int)
        for playlists, inside, outside in sampler.batches(7):
            assert len(playlists) <= 7
            assert not held[playlists, outside].any()
            np.add.at(met, (playlists, inside), 1)
        np.testing.assert_array_equal(met, held)


def test_songs_outside_are_equally_likely():
    sampler, held = _sampler(1)
    drawn = np.bincount(sampler.outside(np.zeros(40_000, dtype=int)), minlength=held.shape[1])
    expected = 40_000 / (~held[0]).sum()
    assert (drawn[held[0]] == 0).all()
    assert (abs(drawn[~held[0]] - expected) < 5 * np.sqrt(expected)).all()


def _exact_objective(features, membership, owners):
    """Write out the objective of `descend_pairs` over all pairs of songs."""
    held = membership.toarray() > 0
    n_users, n_features = owners.max() + 1, features.shape[1]

    def value(flat):
        shared, user, playlist = np.split(flat.reshape(-1, n_features), [1, 1 + n_users])
        total = sum(
            PENALTIES[name] * (part**2).sum()
            for name, part in zip(PENALTIES, (shared, user, playlist), strict=True)
        )
        for i, row in enumerate(held):
            scores = features @ (shared[0] + user[owners[i]] + playlist[i])
            margins = scores[row][:, None] - scores[~row]
            total += np.logaddexp(0, -margins).mean(axis=1).sum()
        return total

    return value, np.zeros((1 + n_users + len(held)) * n_features)


def test_steps_reach_the_minimum_of_the_objective():
    features, membership, owners = make_problem(2, n_playlists=5, n_users=2, n_features=2)
    value, zeros = _exact_objective(features, membership, owners)
    best = minimize(value, zeros, method="L-BFGS-B").fun
    result = descend_pairs(
        features, membership, owners, **PENALTIES, **STEPS, rng=np.random.RandomState(0)
    )
    reached = value(np.vstack([result.shared, result.user, result.playlist]).ravel())
    # The rest is chance: a step meets one pair of many per membership.
    assert best <= reached <= best + 0.03 * (value(zeros) - best)


def test_sparse_features_give_the_weights_of_dense_ones():
    features, membership, owners = make_problem(3)
    features *= features > 0
    results = [
        descend_pairs(
            convert(features),
            membership,
            owners,
            **PENALTIES,
            **STEPS | {"batch_size": 16, "n_epochs": 2},
            rng=np.random.RandomState(0),
        )
        for convert in (np.asarray, csr_array)
    ]
    for dense, sparse in zip(*results, strict=True):
        np.testing.assert_allclose(dense, sparse)


def test_losses_begin_at_log_2_and_fall():
    features, membership, owners = make_problem(4)
    steps = STEPS | {"n_epochs": 200}
    result = descend_pairs(
        features, membership, owners, **PENALTIES, **steps, rng=np.random.RandomState(0)
    )
    assert result.loss_curve[0] == pytest.approx(np.log(2))
    assert result.loss_curve[-10:].mean() < 0.9 * np.log(2)
