"""New playlists of known users."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import dense_table, split_or_skip, tables

from skmtc.model_selection import ColdPlaylistKFold, ColdPlaylistSplit


@given(tables(), st.integers(1, 4), st.sampled_from([0.2, 0.5, 0.9]), st.integers(0, 3))
def test_the_requirements_of_the_paper_hold_row_by_row(X, min_song_count, size, seed):
    cv = ColdPlaylistSplit(
        user_size=0.6, playlist_size=size, min_song_count=min_song_count, random_state=seed
    )
    ((train, test),) = split_or_skip(cv, X)
    n_playlists_of_song = X.groupby("song")["playlist"].nunique()
    known_songs, known_users = set(X["song"].iloc[train]), set(X["user"].iloc[train])
    for row in test:
        assert n_playlists_of_song[X["song"].iloc[row]] >= min_song_count
        assert X["song"].iloc[row] in known_songs
        assert X["user"].iloc[row] in known_users
    # All rows are used, and a playlist is on one side.
    assert sorted([*train, *test]) == list(range(len(X)))


def test_sizes():
    X = dense_table(n_users=100, n_songs=10)
    n_able = int((X.groupby("user")["playlist"].nunique() > 1).sum())
    cv = ColdPlaylistSplit(user_size=0.2, playlist_size=0.5, min_song_count=1, random_state=0)
    ((_, test),) = cv.split(X)
    held = X.iloc[test].groupby("user")["playlist"].nunique()
    assert len(held) == 20
    assert n_able > 20
    owned = X.groupby("user")["playlist"].nunique()[held.index]
    assert held.tolist() == np.maximum(1, np.round(0.5 * owned)).astype(int).tolist()


def test_too_few_users_are_counted():
    X = dense_table(n_users=4)  # of these, users 1, 2 and 3 have other playlists
    cv = ColdPlaylistSplit(user_size=0.99, min_song_count=1, random_state=0)
    counts = cv.describe(X).iloc[0]
    assert counts["passed_over_users: no playlist fit to hold out"] == 1


def test_a_song_never_leaves_training():
    # Song 9 is in both of ana's playlists only: one of them must stay, whatever the seed.
    X = pd.DataFrame(
        {
            "user": ["ana"] * 4 + ["ben"] * 2,
            "playlist": [1, 1, 2, 2, 3, 3],
            "song": [9, 1, 9, 1, 1, 2],
        }
    )
    for seed in range(5):
        cv = ColdPlaylistSplit(user_size=0.5, min_song_count=2, random_state=seed)
        ((train, _),) = cv.split(X)
        assert 9 in set(X["song"].iloc[train])


def test_playlists_are_put_back_and_counted():
    # Two users with the same two songs each: holding out both copies loses a song.
    X = pd.DataFrame({"user": [0, 0, 1, 1], "playlist": [0, 1, 2, 3], "song": [5, 6, 5, 6]})
    put_back = []
    for seed in range(20):
        cv = ColdPlaylistSplit(user_size=0.99, min_song_count=2, random_state=seed)
        ((train, test),) = cv.split(X)
        assert set(X["song"].iloc[train]) == {5, 6}
        put_back.append(cv.describe()["passed_over_playlists: a song would leave training"].iloc[0])
        assert len(test) + put_back[-1] == 2
    assert set(put_back) == {0, 1}


def test_unknown_owners():
    X = dense_table(n_users=20).drop(columns="user")
    n_playlists = X["playlist"].nunique()
    cv = ColdPlaylistSplit(user_size=0.2, min_song_count=2, user=None, random_state=0)
    ((train, test),) = cv.split(X)
    assert X["playlist"].iloc[test].nunique() == round(0.2 * n_playlists)
    assert set(X["song"].iloc[test]) <= set(X["song"].iloc[train])


@given(tables(), st.booleans(), st.integers(2, 4))
def test_every_playlist_is_cold_once(X, shuffle, n_splits):
    cv = ColdPlaylistKFold(n_splits, shuffle=shuffle, random_state=0 if shuffle else None)
    splits = split_or_skip(cv, X)
    cold = [set(X["playlist"]) - set(X["playlist"].iloc[train]) for train, _ in splits]
    assert sorted(p for fold in cold for p in fold) == sorted(set(X["playlist"]))
    assert max(map(len, cold)) - min(map(len, cold)) <= 1
    for fold, (train, test) in zip(cold, splits, strict=True):
        known = set(X["song"].iloc[train])
        expected = X["playlist"].isin(fold) & X["song"].isin(known)
        assert test.tolist() == np.flatnonzero(expected).tolist()


@given(tables())
def test_users_with_two_playlists_are_known_in_every_fold(X):
    cv = ColdPlaylistKFold(3, shuffle=True, random_state=1)
    several = set(X.groupby("user")["playlist"].nunique().loc[lambda n: n > 1].index)
    splits = split_or_skip(cv, X)
    for train, _ in splits:
        assert several <= set(X["user"].iloc[train])


def test_the_shuffle_depends_on_the_seed():
    X = dense_table()
    tests = {
        tuple(next(ColdPlaylistKFold(3, shuffle=True, random_state=s).split(X))[1])
        for s in range(5)
    }
    assert len(tests) > 1


@pytest.mark.parametrize("cv", [ColdPlaylistSplit(3, random_state=0, min_song_count=2)])
def test_repeated_splits_differ(cv):
    assert len({tuple(test) for _, test in cv.split(dense_table(n_users=40))}) == 3


@given(tables(), st.sampled_from([0.2, 0.5, 0.9]), st.integers(0, 3))
def test_the_latest_playlists_of_a_user_are_held_out(X, size, seed):
    days = np.random.default_rng(seed).integers(0, 4, 100)[X["playlist"]]
    X = X.assign(created_at=pd.Timestamp("2013-01-01") + pd.to_timedelta(days, "D"))
    # Every song is in a playlist that cannot be held out, so that none is put back.
    keeper = X.drop_duplicates("song").assign(user=999, playlist=9999)
    X = pd.concat([X, keeper], ignore_index=True)
    cv = ColdPlaylistSplit(
        user_size=0.9, playlist_size=size, min_song_count=1, created="auto", random_state=seed
    )
    ((train, test),) = split_or_skip(cv, X)
    created = X.groupby("playlist")["created_at"].first()
    for _, playlists in X.iloc[test].groupby("user")["playlist"]:
        owner = X.loc[X["playlist"] == playlists.iloc[0], "user"].iloc[0]
        kept = X.iloc[train].loc[X["user"].iloc[train] == owner, "playlist"]
        assert created[kept].max() <= created[playlists].min()


def test_playlists_without_a_date_stay_in_training():
    X = dense_table()
    X["created"] = pd.to_datetime("2013-01-01") + pd.to_timedelta(X["playlist"], "D")
    X.loc[X["playlist"] % 10 == 3, "created"] = pd.NaT  # the last of each user
    cv = ColdPlaylistSplit(user_size=0.9, min_song_count=2, created="created", random_state=0)
    with pytest.warns(UserWarning, match="Playlists without a date are not held out") as reported:
        ((_, test),) = cv.split(X)
    assert len(reported) == 1
    assert reported[0].filename == __file__
    assert X["created"].iloc[test].notna().all()
    with pytest.raises(ValueError, match="must have a column 'when' of dates"):
        next(ColdPlaylistSplit(created="when").split(X))
