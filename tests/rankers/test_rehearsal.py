"""Memberships held out of a training table: never known to what they are to test."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc.rankers._rehearsal import N_FOLDS, rehearsals
from tests.problems import make_problem


def rehearse(seed=0, most=1000, **shape):
    _, membership, owners = make_problem(seed, **shape)
    rng = np.random.RandomState(seed)
    return membership, owners, list(rehearsals(membership, owners, most, rng))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_held_is_not_kept(seed):
    membership, _, found = rehearse(seed)
    for rehearsal in found:
        kept, held = rehearsal.kept.toarray() > 0, rehearsal.held.toarray() > 0
        assert not (kept & held).any()
        assert ((kept | held) == (membership.toarray() > 0)).all()
        lengths = np.diff(membership.indptr)
        assert (held.sum(axis=1)[rehearsal.new] == lengths[rehearsal.new]).all()
        assert (held.sum(axis=1)[rehearsal.known] == lengths[rehearsal.known] // 2).all()
        assert (kept.sum(axis=1)[rehearsal.known] > 0).all()
        drawn = np.concatenate([rehearsal.new, rehearsal.known])
        assert held.any(axis=1).nonzero()[0].tolist() == sorted(drawn)


@pytest.mark.parametrize("seed", range(5))
def test_users_of_new_playlists_keep_others(seed):
    _, owners, found = rehearse(seed)
    assert any(len(rehearsal.new) for rehearsal in found)
    for rehearsal in found:
        left = np.diff(rehearsal.kept.indptr) > 0
        assert np.isin(owners[rehearsal.new], owners[left]).all()


def test_little_data_are_used_in_both_roles():
    membership, owners, found = rehearse(0, n_playlists=30)
    has_others = np.bincount(owners)[owners] > 1
    has_half = np.diff(membership.indptr) > 1
    assert len(found) == 2 * N_FOLDS
    new, known = (np.concatenate([r[role] for r in found]) for role in (2, 3))
    assert sorted(new) == np.flatnonzero(has_others).tolist()
    assert sorted(known) == np.flatnonzero(has_half).tolist()


def test_enough_is_enough():
    _, _, found = rehearse(0, n_playlists=400, n_users=50, most=60)
    assert len(found) == 1
    assert 40 <= len(found[0].new) + len(found[0].known) <= 60


def test_playlists_that_are_held_out_belong_to_few_users():
    owners = np.repeat(np.arange(40), 10)
    membership = csr_array(np.random.default_rng(0).random((400, 50)) < 0.2)
    (rehearsal,) = rehearsals(membership, owners, 40, np.random.RandomState(0))
    # Each fold has two playlists of each user.
    held = np.concatenate([rehearsal.new, rehearsal.known])
    assert len(held) == 40
    assert len(np.unique(owners[held])) == 20


def test_the_same_seed_holds_out_the_same():
    first, second = rehearse(3)[2], rehearse(3)[2]
    for a, b in zip(first, second, strict=True):
        assert (a.held != b.held).nnz == 0
