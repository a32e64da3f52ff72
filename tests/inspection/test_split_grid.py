"""The grid is what the splitter did to the table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import dense_table, shuffled, split_or_skip, tables
from sklearn.model_selection import KFold

from skmtc.inspection._split_grid import ABSENT, ABSENT_COLD, LEFT_OUT, TEST, TRAIN, cut_grid
from skmtc.model_selection import (
    ColdPlaylistKFold,
    ColdPlaylistSplit,
    ColdSongKFold,
    ColdSongSplit,
    ColdUserKFold,
    ColdUserSplit,
)

SPLITTERS = [
    ColdPlaylistKFold(2),
    ColdUserKFold(2),
    ColdSongKFold(2),
    ColdSongSplit(2, n_songs=1, random_state=0),
]
PAPER = [
    ColdPlaylistSplit(min_song_count=1, random_state=0),
    ColdUserSplit(random_state=0),
    ColdSongSplit(song_size=0.2, random_state=0),
]
WHOLE = {"most_songs": 1000, "most_playlists": 1000}


def _check_is_the_split(grid, X, train, test):
    """Compare each cell with the rows of the table."""
    side = np.full(len(X), LEFT_OUT)
    side[train], side[test] = TRAIN, TEST
    states = dict(zip(zip(X["song"], X["playlist"], strict=True), side, strict=True))
    known_songs, known_playlists = set(X["song"].iloc[train]), set(X["playlist"].iloc[train])
    for i, song in enumerate(grid.songs):
        for j, playlist in enumerate(grid.playlists):
            known = song in known_songs and playlist in known_playlists
            expected = states.get((song, playlist), ABSENT if known else ABSENT_COLD)
            assert grid.states[i, j] == expected


@given(tables(), st.sampled_from(SPLITTERS), st.integers(0, 1))
def test_every_cell_is_what_the_splitter_made_of_it(X, cv, split):
    train, test = split_or_skip(cv, X)[split]
    grid = cut_grid(cv, X, split=split, title="", **WHOLE)
    assert set(grid.songs) == set(X["song"])
    assert set(grid.playlists) == set(X["playlist"])
    _check_is_the_split(grid, X, train, test)


@pytest.mark.parametrize("cv", PAPER, ids=lambda cv: cv.setting)
def test_parts_of_a_table_are_what_the_splitter_made_of_them(cv):
    X = dense_table(n_users=20, n_songs=30)
    train, test = next(cv.split(X))
    grid = cut_grid(cv, X, split=0, title="", most_songs=12, most_playlists=16)
    assert grid.states.shape == (12, 16)
    assert (grid.n_songs, grid.n_playlists) == (X["song"].nunique(), X["playlist"].nunique())
    _check_is_the_split(grid, X, train, test)
    assert {TRAIN, TEST} <= set(grid.states.ravel())


def test_playlists_are_grouped_by_user_and_what_is_cold_comes_last():
    X = dense_table(n_users=20)
    for cv in PAPER:
        train, _ = next(cv.split(X))
        grid = cut_grid(cv, X, split=0, title="", **WHOLE)
        owner = X.drop_duplicates("playlist").set_index("playlist")["user"]
        assert grid.users.tolist() == owner[grid.playlists].tolist()
        assert (grid.users[1:] != grid.users[:-1]).sum() == len(set(grid.users)) - 1
        new_user = ~np.isin(grid.users, X["user"].iloc[train])
        new_song = ~np.isin(grid.songs, X["song"].iloc[train])
        assert (np.diff(new_user.astype(int)) >= 0).all()
        assert (np.diff(new_song.astype(int)) >= 0).all()
        new_playlist = ~np.isin(grid.playlists, X["playlist"].iloc[train])
        for user in set(grid.users):
            assert (np.diff(new_playlist[grid.users == user].astype(int)) >= 0).all()


def test_no_user_takes_up_more_than_an_eighth():
    X = dense_table(n_users=40)
    grid = cut_grid(PAPER[0], X, split=0, title="", most_songs=5, most_playlists=16)
    assert np.unique(grid.users, return_counts=True)[1].max() == 2


def test_the_order_of_rows_does_not_matter():
    X = dense_table()
    one, other = (
        cut_grid(PAPER[0], table, split=0, title="", most_songs=8, most_playlists=9)
        for table in (X, shuffled(X))
    )
    np.testing.assert_array_equal(one.states, other.states)
    assert one.playlists.tolist() == other.playlists.tolist()


def test_any_splitter_of_rows_and_unknown_owners_will_do():
    X = dense_table().drop(columns="user")
    cv = KFold(3)
    cv.user = None
    grid = cut_grid(cv, X, split=1, title="", **WHOLE)
    assert (grid.states == TEST).sum() == len(list(cv.split(X))[1][1])
    assert grid.users.tolist() == grid.playlists.tolist()


def test_splits_are_counted_from_zero():
    with pytest.raises(ValueError, match="`split` must be below the number of splits, 2; got 2"):
        cut_grid(ColdUserKFold(2), dense_table(), split=2, title="", **WHOLE)
