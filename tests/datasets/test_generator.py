"""Playlists drawn from the model."""

import numpy as np
import pandas as pd
import pytest

from skmtc.datasets import make_playlists


def test_is_a_membership_table():
    X, truth = make_playlists(20, 60, 100, 15, return_truth=True, random_state=0)
    assert X["user"].nunique() == 20
    assert X["playlist"].nunique() == 60
    assert not X.duplicated(["playlist", "song"]).any()
    assert (X.groupby("playlist")["user"].nunique() == 1).all()
    assert (X.groupby("song").nunique()[["artist", "year", "x0"]] == 1).all(axis=None)
    assert (X.groupby("user").nunique()[["age", "country"]] == 1).all(axis=None)
    assert set(X["song"]) <= set(truth.songs.index)
    assert truth.user.shape == (20, 8)
    assert truth.playlist.shape == (60, 8)


def test_same_seed_same_table():
    pd.testing.assert_frame_equal(make_playlists(random_state=3), make_playlists(random_state=3))
    assert not make_playlists(random_state=3).equals(make_playlists(random_state=4))


def test_songs_of_a_playlist_score_above_others_by_its_true_weights():
    X, truth = make_playlists(return_truth=True, random_state=0)
    features = truth.songs[[f"x{j}" for j in range(8)]]
    ranks = []
    for playlist, rows in X.groupby("playlist"):
        weights = truth.shared + truth.user.loc[rows["user"].iloc[0]] + truth.playlist.loc[playlist]
        scores = features @ weights
        ranks.append(scores.rank(pct=True).loc[rows["song"]].mean())
    assert np.mean(ranks) > 0.75


def test_some_users_have_many_playlists():
    X = make_playlists(n_users=200, n_playlists=1000, n_songs=300, random_state=0)
    counts = X.groupby("user")["playlist"].nunique()
    assert counts.min() >= 1
    assert counts.max() > 5 * counts.median()


def test_every_user_needs_a_playlist():
    with pytest.raises(ValueError, match="got n_users=9 and n_playlists=8"):
        make_playlists(n_users=9, n_playlists=8)
