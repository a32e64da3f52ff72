"""Owners, lengths and songs of generated playlists."""

import numpy as np
import pytest

from skmtc.datasets.generate._sampling import (
    sample_distinct,
    sample_lengths,
    sample_owners,
    sample_playlist_coef,
    sample_songs,
)


def test_draws_follow_the_law_of_drawing_without_replacement():
    # Weights 1, 2, 3: P(first = a, second = b) = w_a / 6 * w_b / (6 - w_a).
    rng = np.random.RandomState(0)
    weights = np.array([1.0, 2.0, 3.0])
    n_draws = 20_000
    counts = np.zeros((3, 3))
    for _ in range(n_draws):
        first, second = sample_distinct(rng, weights.copy(), 2)
        counts[first, second] += 1
    expected = weights[:, None] / 6 * weights[None, :] / (6 - weights[:, None])
    np.fill_diagonal(expected, 0)
    error = np.sqrt(expected * (1 - expected) / n_draws)
    assert (np.abs(counts / n_draws - expected) <= 4 * error).all()


def test_one_dominant_weight_does_not_hinder_the_rest():
    weights = np.full(50, 1e-20)
    weights[7] = 1.0
    drawn = sample_distinct(np.random.RandomState(0), weights, 50)
    assert drawn[0] == 7
    assert sorted(drawn) == list(range(50))


def test_songs_are_drawn_in_proportion_to_exp_of_score():
    # Two songs with scores 0 and 1 in one-song playlists: the second has odds of e to 1.
    features = np.array([[0.0], [1.0]])
    n_playlists = 20_000
    drawn = sample_songs(
        np.random.RandomState(0),
        features,
        user_coef=np.array([[0.4]]),
        playlist_coef=np.full((n_playlists, 1), 0.6),
        owner=np.zeros(n_playlists, dtype=int),
        lengths=np.ones(n_playlists, dtype=int),
    )
    share = np.e / (1 + np.e)
    assert abs(drawn.mean() - share) < 4 * np.sqrt(share * (1 - share) / n_playlists)


def test_playlists_keep_their_place_whatever_the_order_of_owners():
    features = np.array([[0.0], [50.0], [0.0]])
    drawn = sample_songs(
        np.random.RandomState(0),
        features,
        user_coef=np.array([[-1.0], [1.0]]),
        playlist_coef=np.zeros((3, 1)),
        owner=np.array([1, 0, 1]),
        lengths=np.array([1, 2, 1]),
    )
    assert drawn[0] == 1
    assert sorted(drawn[1:3]) == [0, 2]
    assert drawn[3] == 1


def test_every_user_owns_a_playlist():
    owner = sample_owners(np.random.RandomState(0), 30, 100)
    assert len(owner) == 100
    assert set(owner) == set(range(30))


@pytest.mark.parametrize("mean", [5, 10.1, 16.3])
def test_lengths_have_their_mean_and_bounds(mean):
    lengths = sample_lengths(np.random.RandomState(0), 20_000, mean=mean, shortest=5, longest=200)
    assert lengths.min() >= 5
    assert lengths.mean() == pytest.approx(mean, rel=0.02)


def test_no_playlist_is_longer_than_allowed():
    assert sample_lengths(np.random.RandomState(0), 50, mean=20, shortest=5, longest=3).max() == 3


def test_playlist_weights_are_sparse():
    coef = sample_playlist_coef(np.random.RandomState(0), 2000, 8)
    assert np.mean(coef != 0) == pytest.approx(0.15, abs=0.02)
