"""Memberships held out of a training table: never known to what they are to test."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc.rankers.history._hold_out import N_FOLDS, hold_outs
from tests.problems import make_problem


def make_folds(seed=0, most=1000, song_size=0.0, **shape):
    _, membership, owners = make_problem(seed, **shape)
    rng = np.random.RandomState(seed)
    return membership, owners, list(hold_outs(membership, owners, most, rng, song_size=song_size))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_held_is_not_kept(seed):
    membership, _, found = make_folds(seed)
    for fold in found:
        kept, held = fold.kept.toarray() > 0, fold.held.toarray() > 0
        assert not (kept & held).any()
        assert ((kept | held) == (membership.toarray() > 0)).all()
        lengths = np.diff(membership.indptr)
        assert (held.sum(axis=1)[fold.new] == lengths[fold.new]).all()
        assert (held.sum(axis=1)[fold.known] == lengths[fold.known] // 2).all()
        assert (kept.sum(axis=1)[fold.known] > 0).all()
        drawn = np.concatenate([fold.new, fold.known])
        assert held.any(axis=1).nonzero()[0].tolist() == sorted(drawn)


@pytest.mark.parametrize("seed", range(5))
def test_users_of_new_playlists_keep_others(seed):
    _, owners, found = make_folds(seed)
    assert any(len(fold.new) for fold in found)
    for fold in found:
        left = np.diff(fold.kept.indptr) > 0
        assert np.isin(owners[fold.new], owners[left]).all()


def test_little_data_are_used_in_both_roles():
    membership, owners, found = make_folds(0, n_playlists=30)
    has_others = np.bincount(owners)[owners] > 1
    has_half = np.diff(membership.indptr) > 1
    assert len(found) == 2 * N_FOLDS
    new, known = (np.concatenate([fold[role] for fold in found]) for role in (2, 3))
    assert sorted(new) == np.flatnonzero(has_others).tolist()
    assert sorted(known) == np.flatnonzero(has_half).tolist()


def test_stops_at_max_playlists():
    _, _, found = make_folds(0, n_playlists=400, n_users=50, most=60)
    assert len(found) == 1
    assert 40 <= len(found[0].new) + len(found[0].known) <= 60


def test_playlists_that_are_held_out_belong_to_few_users():
    owners = np.repeat(np.arange(40), 10)
    membership = csr_array(np.random.default_rng(0).random((400, 50)) < 0.2)
    (fold,) = hold_outs(membership, owners, 40, np.random.RandomState(0))
    # Each fold has two playlists of each user.
    held = np.concatenate([fold.new, fold.known])
    assert len(held) == 40
    assert len(np.unique(owners[held])) == 20


def test_the_same_seed_holds_out_the_same():
    first, second = make_folds(3)[2], make_folds(3)[2]
    for a, b in zip(first, second, strict=True):
        assert (a.held != b.held).nnz == 0


@pytest.mark.parametrize("seed", range(5))
def test_songs_are_held_out_of_every_playlist(seed):
    membership, owners, found = make_folds(seed, song_size=0.2)
    lengths = np.diff(membership.indptr)
    for fold in found:
        kept, held = fold.kept.toarray() > 0, fold.held.toarray() > 0
        assert ((kept | held) == (membership.toarray() > 0)).all()
        assert not (kept & held).any()
        assert fold.is_new_song.sum() == int(0.2 * membership.shape[1])
        assert not kept[:, fold.is_new_song].any()
        # Test playlists keep what a history is made of.
        assert (kept[fold.known].sum(axis=1) > 0).all()
        assert np.isin(owners[fold.new], owners[kept.any(axis=1)]).all()
        # Known songs are held out of test playlists only.
        others = np.setdiff1d(np.arange(len(lengths)), np.concatenate([fold.new, fold.known]))
        whole = membership.toarray()[others][:, ~fold.is_new_song] > 0
        was_test = held[others][:, ~fold.is_new_song].any(axis=1)  # lost its history, so no test
        np.testing.assert_array_equal(
            kept[others][:, ~fold.is_new_song][~was_test], whole[~was_test]
        )


def test_folds_hold_out_different_songs():
    _, _, found = make_folds(0, song_size=0.2)
    assert (found[0].is_new_song != found[1].is_new_song).any()
