"""New songs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import dense_table, split_or_skip, tables

from skmtc.model_selection import ColdSongKFold, ColdSongSplit


@given(tables(), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3))
def test_windows_train_on_the_past_and_test_what_comes_next(X, n_splits, n_songs, seed):
    cv = ColdSongSplit(n_splits, n_songs=n_songs, random_state=seed)
    year = X.groupby("song")["year"].first()
    earlier = -np.inf
    for train, test in split_or_skip(cv, X):
        cold = year[sorted(set(X["song"].iloc[test]))]
        trained = year[sorted(set(X["song"].iloc[train]))]
        assert len(cold) <= n_songs
        assert cold.notna().all()
        assert trained.max() <= cold.min() or trained.isna().all()
        assert cold.min() >= earlier
        earlier = cold.max()
        # Songs whose release is not known stay in training.
        assert set(year.index[year.isna()]) <= set(trained.index)


@given(tables(), st.integers(1, 4), st.integers(0, 3))
def test_the_latest_songs_are_held_out_row_by_row(X, n_songs, seed):
    cv = ColdSongSplit(n_songs=n_songs, random_state=seed)
    ((train, test),) = split_or_skip(cv, X)
    cold = set(X["song"]) - set(X["song"].iloc[train])
    year = X.groupby("song")["year"].first()
    assert len(cold) == n_songs
    assert sorted(year[list(cold)]) == sorted(year.nlargest(n_songs))
    known = set(X["playlist"].iloc[train])
    expected = X["song"].isin(cold) & X["playlist"].isin(known)
    assert test.tolist() == np.flatnonzero(expected).tolist()


def test_ties_are_broken_at_random():
    X = dense_table().assign(year=2000)
    held = {
        tuple(np.unique(X["song"].iloc[next(split)[1]]))
        for split in (ColdSongSplit(n_songs=3, random_state=s).split(X) for s in range(6))
    }
    assert len(held) > 1


def test_windows_by_hand():
    X = pd.DataFrame(
        {
            "user": 0,
            "playlist": [1, 1, 1, 1, 2, 2],
            "song": ["a", "b", "c", "d", "c", "d"],
            "year": [2000, 2001, 2002, 2003, 2002, 2003],
        }
    )
    cv = ColdSongSplit(2, n_songs=1)
    (train, test), (last_train, last_test) = cv.split(X)
    # First c: d is released later, and playlist 2 has no song left to train on.
    assert train.tolist() == [0, 1]
    assert test.tolist() == [2]
    assert last_train.tolist() == [0, 1, 2, 4]
    assert last_test.tolist() == [3, 5]
    counts = cv.describe()
    assert counts["left_out_rows: song released later"].tolist() == [2, 0]
    assert counts["left_out_rows: playlist has no other song"].tolist() == [1, 0]


@pytest.mark.parametrize(
    "convert",
    [
        lambda year: pd.to_datetime(year.astype(str) + "-06-01"),
        lambda year: year.astype("Int64"),
        lambda year: year.astype(object),
        lambda year: year / 3,
    ],
    ids=["dates", "nullable", "objects", "floats"],
)
def test_releases_are_numbers_or_dates(convert):
    X = dense_table()
    expected = next(ColdSongSplit(n_songs=4, random_state=0).split(X))
    other = next(ColdSongSplit(n_songs=4, random_state=0).split(X.assign(year=convert(X["year"]))))
    np.testing.assert_array_equal(other[1], expected[1])


def test_share_of_songs():
    X = dense_table()
    for released in ("year", None):
        cv = ColdSongSplit(song_size=0.4, released=released, random_state=0)
        ((train, _),) = cv.split(X)
        assert X["song"].iloc[train].nunique() == 15 - 6


def test_bad_releases_are_reported():
    X = dense_table()
    cv = ColdSongSplit(released="year")
    with pytest.raises(ValueError, match="A song must have one release; got 1 in row"):
        next(cv.split(X.assign(year=np.arange(len(X)) % 3)))
    with pytest.raises(
        ValueError, match=r"Dates must be dates of pandas, .* got .* in column 'year'"
    ):
        next(cv.split(X.assign(year="long ago")))
    with pytest.raises(ValueError, match="got 0 of 15 songs with a release"):
        next(cv.split(X.assign(year=np.nan)))


def held_out(X, **parameters):
    cv = ColdSongSplit(n_songs=4, random_state=0, **parameters)
    ((train, _),) = cv.split(X)
    return set(X["song"]) - set(X["song"].iloc[train])


@pytest.mark.parametrize(
    ("label", "convert"),
    [
        ("release_year", lambda year: year),
        ("Release Date", lambda year: year.astype(str) + "-03-01"),
        ("released", lambda year: pd.to_datetime(year.astype(str) + "-03-01", utc=True)),
        ("first_heard", lambda year: pd.PeriodIndex(year.astype(str), freq="Y")),
    ],
)
def test_other_columns_tell_when_a_song_appeared(label, convert):
    X = dense_table()
    expected = held_out(X)
    other = X.drop(columns="year").assign(**{label: convert(X["year"])})
    # A column of users, and an event, are no releases.
    other = other.assign(birth_year=1980 + X["user"] % 7, added_at=range(10**9, 10**9 + len(X)))
    assert held_out(other) == expected


def test_a_song_appears_with_its_first_playlist():
    X = dense_table().drop(columns="year")
    days = np.random.default_rng(0).permutation(100)[X["playlist"] % 97]
    X["created_at"] = pd.Timestamp("2013-01-01") + pd.to_timedelta(days, "D")
    first = X.groupby("song")["created_at"].min()
    held = held_out(X)
    assert first[list(held)].min() >= first.drop(list(held)).max()
    assert held == held_out(X.assign(created_at=X["created_at"].dt.strftime("%Y-%m-%d")))


def test_random_songs_are_reported_of_only_if_they_were_not_asked_for():
    X = dense_table().drop(columns="year")
    with pytest.warns(UserWarning, match=r"drawn at random: .* Name the column to use") as reported:
        held = held_out(X)
    assert len(reported) == 1
    assert held == held_out(X, released=None)
    # A year that differs between rows of one song is no release.
    with pytest.warns(UserWarning, match="drawn at random"):
        held_out(X.assign(year=np.arange(len(X)) % 3))
    for asked in ("year", "release_date"):
        with pytest.raises(ValueError, match=r"must have a column .* of releases"):
            held_out(X, released=asked)


@given(tables(), st.booleans(), st.integers(2, 4))
def test_every_song_is_cold_once(X, shuffle, n_splits):
    cv = ColdSongKFold(n_splits, shuffle=shuffle, random_state=0 if shuffle else None)
    splits = split_or_skip(cv, X)
    cold = [set(X["song"]) - set(X["song"].iloc[train]) for train, _ in splits]
    assert sorted(s for fold in cold for s in fold) == sorted(set(X["song"]))
    assert max(map(len, cold)) - min(map(len, cold)) <= 1
    for fold, (train, test) in zip(cold, splits, strict=True):
        known = set(X["playlist"].iloc[train])
        expected = X["song"].isin(fold) & X["playlist"].isin(known)
        assert test.tolist() == np.flatnonzero(expected).tolist()
