"""What all splitters share."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from random_tables import dense_table, renamed, shuffled, split_or_skip, tables
from sklearn import config_context
from sklearn.model_selection import check_cv

from skmtc.datasets import make_playlists
from skmtc.model_selection import (
    ColdPlaylistKFold,
    ColdPlaylistSplit,
    ColdSongKFold,
    ColdSongSplit,
    ColdUserKFold,
    ColdUserSplit,
)

SPLITTERS = [
    ColdPlaylistSplit(2, user_size=0.5, min_song_count=2, random_state=0),
    ColdUserSplit(2, random_state=0),
    ColdSongSplit(2, n_songs=2, random_state=0),
    ColdSongSplit(2, n_songs=2, released=None, random_state=0),
    ColdPlaylistKFold(2),
    ColdPlaylistKFold(2, shuffle=True, random_state=0),
    ColdUserKFold(2),
    ColdUserKFold(2, shuffle=True, random_state=0),
    ColdSongKFold(2),
    ColdSongKFold(2, shuffle=True, random_state=0),
]
COLD = {"cold playlists": "playlist", "cold users": "user", "cold songs": "song"}
all_splitters = pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)


def index_sets(X, splits):
    """Name rows by their index, as positions change with the order of rows."""
    return [(set(X.index[train]), set(X.index[test])) for train, test in splits]


@all_splitters
@settings(max_examples=30)
@given(X=tables())
def test_cold_ids_are_never_in_training(cv, X):
    column = COLD[cv.setting]
    for train, test in split_or_skip(cv, X):
        assert not set(X[column].iloc[train]) & set(X[column].iloc[test])
        assert len(test)
        assert len(train)


@all_splitters
@settings(max_examples=30)
@given(X=tables())
def test_what_the_setting_takes_for_known_is_known(cv, X):
    known = "playlist" if cv.setting == "cold songs" else "song"
    for train, test in split_or_skip(cv, X):
        assert set(X[known].iloc[test]) <= set(X[known].iloc[train])
        if cv.setting == "cold users":
            assert not set(X["playlist"].iloc[train]) & set(X["playlist"].iloc[test])
        elif not isinstance(cv, ColdPlaylistKFold):
            assert set(X["user"].iloc[test]) <= set(X["user"].iloc[train])


@all_splitters
@settings(max_examples=30)
@given(X=tables())
def test_same_seed_same_split(cv, X):
    one, other = split_or_skip(cv, X), split_or_skip(cv, X)
    for (train, test), (again_train, again_test) in zip(one, other, strict=True):
        np.testing.assert_array_equal(train, again_train)
        np.testing.assert_array_equal(test, again_test)


@all_splitters
@settings(max_examples=30)
@given(X=tables())
def test_order_of_rows_and_names_of_ids_change_nothing(cv, X):
    expected = index_sets(X, split_or_skip(cv, X))
    assert index_sets(shuffled(X), cv.split(shuffled(X))) == expected
    assert index_sets(X, cv.split(renamed(X))) == expected


@all_splitters
@settings(max_examples=30)
@given(X=tables())
def test_rows_are_on_one_side_or_counted(cv, X):
    splits = split_or_skip(cv, X)
    counts = cv.describe()
    assert len(counts) == len(splits) == cv.get_n_splits()
    why = [c for c in counts.columns if c.startswith("left_out_rows: ")]
    for (train, test), (_, row) in zip(splits, counts.iterrows(), strict=True):
        assert not set(train) & set(test)
        assert row["left_out_rows"] == len(X) - len(train) - len(test) == row[why].sum()
        for side, rows in (("train", train), ("test", test)):
            assert row[f"{side}_rows"] == len(rows)
            for what in ("playlist", "user", "song"):
                assert row[f"{side}_{what}s"] == X[what].iloc[rows].nunique()
        new = set(X["user"].iloc[test]) - set(X["user"].iloc[train])
        assert row["test_new_users"] == len(new)


@all_splitters
def test_arrays_and_other_tables(cv):
    X = dense_table()
    expected = index_sets(X, cv.split(X))
    by_position = pickle.loads(pickle.dumps(cv))
    by_position.user, by_position.playlist, by_position.song = 0, 1, 2
    if getattr(cv, "released", None) is not None:
        by_position.released = 3
    if getattr(cv, "created", None) is not None:
        by_position.created = 4
    assert index_sets(X, by_position.split(X.to_numpy())) == expected
    assert index_sets(X, by_position.split(X.to_numpy().astype(object))) == expected
    assert index_sets(X, cv.split(pl.from_pandas(X))) == expected


@all_splitters
def test_is_a_splitter_of_sklearn(cv):
    assert check_cv(cv) is cv
    assert cv.get_n_splits(dense_table(), None, None) == 2
    assert repr(cv).startswith(f"{type(cv).__name__}(")
    with config_context(enable_metadata_routing=True):
        assert "groups" not in cv.get_metadata_routing().split.requests


@all_splitters
def test_describe_tells_of_the_splits_made_last(cv):
    X = dense_table()
    counts = cv.describe(X)
    list(cv.split(X))
    pd.testing.assert_frame_equal(cv.describe(), counts)
    fresh = type(cv)()
    with pytest.raises(ValueError, match="There must be a split to describe; got X=None"):
        fresh.describe()


def test_describe_tells_of_random_splits():
    cv, X = ColdUserSplit(), dense_table(n_users=30)
    sizes = {len(next(cv.split(X))[1]) == cv.describe()["test_rows"].iloc[0] for _ in range(5)}
    assert sizes == {True}


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (ColdPlaylistSplit(0), "`n_splits` must be an integer of at least 1; got 0"),
        (ColdUserKFold(1), "`n_splits` must be an integer of at least 2; got 1"),
        (ColdUserKFold(13), "`n_splits` must be at most the number of users, 12; got 13"),
        (ColdSongKFold(16), "`n_splits` must be at most the number of songs, 15; got 16"),
        (ColdPlaylistKFold(99), "`n_splits` must be at most the number of playlists, 30; got 99"),
        (ColdUserSplit(user_size=1.0), "`user_size` must be a share above 0 and below 1; got 1.0"),
        (ColdPlaylistSplit(playlist_size="half"), "`playlist_size` must be a share"),
        (ColdPlaylistSplit(min_song_count=0), "`min_song_count` must be an integer of at least 1"),
        (
            ColdPlaylistSplit(min_song_count=99),
            "must have test rows; got none of 150 rows, .* or a lower `min_song_count`.",
        ),
        (ColdSongSplit(song_size=0), "`song_size` must be a share"),
        (ColdSongSplit(n_songs=15), "`n_songs` must be below the number of songs, 15; got 15"),
        (ColdSongSplit(2, n_songs=8), "2 windows of 8, and a song to train on; got 15 of 15"),
        (ColdSongSplit(released="date"), "must have a column 'date' of releases; got"),
        (ColdUserSplit(user="owner"), "must have a user column 'owner'"),
    ],
)
def test_bad_requests_are_reported(cv, message):
    X = dense_table()
    assert (X["playlist"].nunique(), len(X)) == (30, 150)
    with pytest.raises(ValueError, match=message):
        list(cv.split(X))


def test_two_owners_of_a_playlist_are_reported():
    X = make_playlists(random_state=0)
    X.loc[X.index[0], "user"] = "user9"
    with pytest.raises(ValueError, match="A playlist must have one owner"):
        next(ColdUserSplit(random_state=0).split(X))


@pytest.mark.parametrize("splitter", [ColdPlaylistKFold, ColdUserKFold, ColdSongKFold])
def test_a_seed_without_a_shuffle_is_refused(splitter):
    with pytest.raises(ValueError, match="`random_state` must be None with shuffle=False"):
        next(splitter(2, random_state=0).split(make_playlists(random_state=0)))
