"""Playlists of the future, and weights that fade with time."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import dense_table, renamed, shuffled, split_or_skip, tables
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, check_cv, cross_validate
from sklearn.preprocessing import StandardScaler

from skmtc import MultitaskPlaylistRanker, PopularityRanker, RidgeRanker, compare, evaluate
from skmtc.datasets import make_playlists
from skmtc.model_selection import TimeSplit, half_life_weights

DAY = pd.Timedelta(1, "D")
FIRST = pd.Timestamp("2010-01-01")


def with_dates(X, seed=0, *, by="playlist", n_days=30):
    """Return a table with dates of playlists, or of rows."""
    rng = np.random.default_rng(seed)
    playlists = pd.factorize(X["playlist"], sort=True)[0]
    days = rng.integers(0, n_days, playlists.max() + 1)[playlists]
    if by == "row":
        # By what is in a row, so that the order of rows changes nothing.
        days = days + (X["song"].to_numpy() * 7) % n_days
    return X.assign(created_at=FIRST + days * DAY)


def hand_made():
    return pd.DataFrame(
        {
            "user": ["ana", "ana", "ana", "bob", "bob", "eve"],
            "playlist": ["gym", "gym", "run", "sun", "sun", "new"],
            "song": ["s1", "s2", "s1", "s2", "s3", "s4"],
            "created_at": ["2012", "2012", "2013", "2014-02-11", "2014-02-11", "2014-03-01"],
        }
    )


@pytest.mark.parametrize("by", ["playlist", "row"])
@settings(max_examples=20)
@given(X=tables(), seed=st.integers(0, 9), n_splits=st.integers(1, 3), size=st.floats(0.05, 0.4))
def test_nothing_of_the_future_is_trained_on(by, X, seed, n_splits, size):
    X = with_dates(X, seed, by=by)
    cv = TimeSplit(n_splits, playlist_size=size)
    created = X.groupby("playlist")["created_at"].transform("min")
    earlier = pd.Timestamp.min
    for (train, test), cutoff in zip(split_or_skip(cv, X), cv.describe()["cutoff"], strict=True):
        assert X["created_at"].iloc[train].max() < cutoff <= created.iloc[test].min()
        assert not set(X["playlist"].iloc[train]) & set(X["playlist"].iloc[test])
        # Windows follow each other, so every row is tested at most once.
        assert earlier < created.iloc[test].min()
        earlier = created.iloc[test].max()
        # All that is earlier is used.
        assert set(train) == set(np.flatnonzero(X["created_at"] < cutoff))


@settings(max_examples=20)
@given(X=tables(), seed=st.integers(0, 9), lacking=st.floats(0, 0.6))
def test_rows_are_on_one_side_or_counted(X, seed, lacking):
    X = with_dates(X, seed, by="row")
    X.loc[np.random.default_rng(seed).random(len(X)) < lacking, "created_at"] = pd.NaT
    for new_songs in (True, False):
        cv = TimeSplit(2, new_songs=new_songs)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Dates should be known")
            splits = split_or_skip(cv, X)
        counts = cv.describe()
        why = [c for c in counts.columns if c.startswith("left_out_rows: ")]
        for (train, test), (_, row) in zip(splits, counts.iterrows(), strict=True):
            assert not set(train) & set(test)
            assert row["left_out_rows"] == len(X) - len(train) - len(test) == row[why].sum()
            known = X["created_at"].iloc[[*train, *test]].notna()
            # Where all dates of a playlist agree, its other rows have the same.
            assert known.all() or row["left_out_rows: no date"] < X["created_at"].isna().sum()


@settings(max_examples=20)
@given(X=tables(), seed=st.integers(0, 9))
def test_labels_say_who_and_what_is_new(X, seed):
    X = with_dates(X, seed)
    cv = TimeSplit(2)
    splits = split_or_skip(cv, X)
    labels, counts = cv.label_playlists(), cv.describe()
    for number, (train, test) in enumerate(splits):
        known_users, known_songs = set(X["user"].iloc[train]), set(X["song"].iloc[train])
        of_split = labels[labels["split"] == number].set_index("playlist")
        assert set(of_split.index) == set(X["playlist"].iloc[test])
        for playlist, rows in X.iloc[test].groupby("playlist"):
            label, songs = of_split.loc[playlist], set(rows["song"])
            assert (label["who"] == "known user") == (rows["user"].iloc[0] in known_users)
            assert (label["n_songs"], label["n_new_songs"]) == (
                len(songs),
                len(songs - known_songs),
            )
            assert label["created"] == rows["created_at"].iloc[0]
            assert label["user"] == rows["user"].iloc[0]
        row = counts.loc[number]
        assert row["test_new_songs"] == len(set(X["song"].iloc[test]) - known_songs)
        for label, column in ((w, "who") for w in ("known user", "new user")):
            assert row[f"test_playlists: {label}"] == (of_split[column] == label).sum()
        columns = [
            f"test_playlists: {w}" for w in ("known songs", "known and new songs", "new songs")
        ]
        assert row[columns].sum() == len(of_split)
    only_known = TimeSplit(2, new_songs=False)
    for train, test in split_or_skip(only_known, X):
        assert set(X["song"].iloc[test]) <= set(X["song"].iloc[train])
    assert set(only_known.label_playlists()["what"]) == {"known songs"}


def test_order_of_rows_and_names_of_ids_change_nothing():
    X = with_dates(dense_table(), by="row")
    for cv in (TimeSplit(2), TimeSplit(cutoff="2010-01-15")):
        expected = [(set(X.index[a]), set(X.index[b])) for a, b in cv.split(X)]
        for other in (shuffled(X), renamed(X)):
            assert [
                (set(other.index[a]), set(other.index[b])) for a, b in cv.split(other)
            ] == expected
        array = X.to_numpy()
        by_position = TimeSplit(
            cv.n_splits, cutoff=cv.cutoff, user=0, playlist=1, song=2, created=4
        )
        assert [(set(a), set(b)) for a, b in by_position.split(array)] == expected


def test_by_hand():
    X = hand_made()
    cv = TimeSplit(cutoff=2014)
    ((train, test),) = cv.split(X)
    assert (train.tolist(), test.tolist()) == ([0, 1, 2], [3, 4, 5])
    labels = cv.label_playlists()
    assert labels["playlist"].tolist() == ["new", "sun"]
    assert labels["who"].tolist() == ["new user", "new user"]
    assert labels["what"].tolist() == ["new songs", "known and new songs"]
    # Two windows of one playlist each.
    two = TimeSplit(2, playlist_size=0.25)
    assert [(a.tolist(), b.tolist()) for a, b in two.split(X)] == [
        ([0, 1, 2], [3, 4]),
        ([0, 1, 2, 3, 4], [5]),
    ]
    assert two.describe()["left_out_rows: playlist created later"].tolist() == [1, 0]
    assert two.describe()["cutoff"].tolist() == [
        pd.Timestamp("2014-02-11"),
        pd.Timestamp("2014-03-01"),
    ]
    assert TimeSplit(user=None, cutoff=2014).label_playlists(X).columns.tolist()[1] == "playlist"


def test_songs_that_were_added_later_are_on_neither_side():
    X = hand_made().assign(added_at=pd.to_datetime([f"201{i}-01-01" for i in (2, 5, 3, 4, 4, 6)]))
    cv = TimeSplit(cutoff="2014-01-01", created="added_at")
    ((train, test),) = cv.split(X)
    assert (train.tolist(), test.tolist()) == ([0, 2], [3, 4, 5])
    assert cv.describe()["left_out_rows: song added later"].tolist() == [1]


@pytest.mark.parametrize(
    "convert",
    [
        lambda dates: dates.dt.tz_localize("Asia/Tokyo"),
        lambda dates: dates.dt.strftime("%Y-%m-%d"),
        lambda dates: dates.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        lambda dates: dates.dt.to_period("D"),
        lambda dates: dates.dt.date,
        lambda dates: dates.astype("category"),
        lambda dates: dates.dt.strftime("%Y%m%d").astype(int),
        lambda dates: (dates - pd.Timestamp(0)) // pd.Timedelta(1, "s"),
        lambda dates: (dates - pd.Timestamp(0)) // pd.Timedelta(1, "ms"),
        lambda dates: dates.dt.year + (dates.dt.day_of_year - 1) / 365,
    ],
)
def test_dates_of_all_kinds(convert):
    X = with_dates(dense_table())
    expected = [(a.tolist(), b.tolist()) for a, b in TimeSplit(2).split(X)]
    other = X.assign(created_at=convert(X["created_at"]))
    assert [(a.tolist(), b.tolist()) for a, b in TimeSplit(2).split(other)] == expected


def test_the_column_is_guessed():
    X = with_dates(dense_table())
    rng = np.random.default_rng(0)
    # A release, a birthday, a number and when songs were added are not when playlists were created.
    X["released"] = FIRST + pd.to_timedelta(X["song"] * 50, "D")
    X["birthday"] = FIRST + pd.to_timedelta(X["user"] * 50, "D")
    X["added_at"] = FIRST + pd.to_timedelta(rng.integers(0, 99, len(X)), "D")
    expected = [(a.tolist(), b.tolist()) for a, b in TimeSplit(created="created_at").split(X)]
    assert [(a.tolist(), b.tolist()) for a, b in TimeSplit().split(X)] == expected
    rows = X.drop(columns="created_at")
    expected = [(a.tolist(), b.tolist()) for a, b in TimeSplit(created="added_at").split(X)]
    assert [(a.tolist(), b.tolist()) for a, b in TimeSplit().split(rows)] == expected
    with pytest.raises(ValueError, match="must have a column of dates of playlists or rows"):
        next(TimeSplit().split(rows.drop(columns="added_at")))


def test_missing_dates_are_reported_once():
    X = with_dates(dense_table())
    X.loc[X["playlist"] % 5 == 0, "created_at"] = pd.NaT
    X.loc[X.index[7], "created_at"] = pd.NaT  # the other rows of the playlist tell it
    n_playlists = X.loc[X["playlist"] % 5 == 0, "playlist"].nunique()
    message = f"got none in column 'created_at' for {n_playlists} of 30 playlists, and for"
    with pytest.warns(UserWarning, match=message) as reported:
        splits = list(TimeSplit(3).split(X))
    assert len(reported) == 1
    assert reported[0].filename == __file__
    used = {row for train, test in splits for row in (*train, *test)}
    assert X["playlist"].iloc[sorted(used)].mod(5).all()


def test_it_serves_cross_validation_and_search():
    X = with_dates(make_playlists(random_state=0), n_days=900)
    cv = TimeSplit(2)
    scores = cross_validate(PopularityRanker(), X, cv=cv)["test_score"]
    expected = [PopularityRanker().fit(X.iloc[a]).score(X.iloc[b]) for a, b in cv.split(X)]
    np.testing.assert_array_equal(scores, expected)
    ranker = MultitaskPlaylistRanker(tol=0.01, song_features=StandardScaler())
    search = GridSearchCV(ranker, {"user_l2": [0.1, 1.0]}, cv=cv, error_score="raise").fit(X)
    assert search.best_score_ > 0.5


def test_labels_fit_what_evaluate_says():
    X = with_dates(make_playlists(random_state=0), n_days=900)
    cv = TimeSplit()
    ((train, test),) = cv.split(X)
    evaluated = evaluate(PopularityRanker().fit(X.iloc[train]), X.iloc[test], "auc")
    both = cv.label_playlists().merge(evaluated, on=["user", "playlist"])
    assert len(both) == X["playlist"].iloc[test].nunique()


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (TimeSplit(2, cutoff=2012), "`n_splits` must be 1 with a `cutoff`; got 2"),
        (TimeSplit(cutoff="soon"), "`cutoff` must be a date, .* got 'soon'"),
        (TimeSplit(playlist_size=1.5), "`playlist_size` must be a share"),
        (TimeSplit(9), "There must be enough playlists with a date: 9 windows of 6"),
        (TimeSplit(created="when"), "must have a column 'when' of dates"),
        (TimeSplit(created="song"), None),
        (TimeSplit(cutoff=1990), "must have training rows"),
        (TimeSplit(cutoff=2020), "must have test rows"),
    ],
)
def test_bad_requests_are_reported(cv, message):
    X = with_dates(dense_table())
    if message is None:
        list(cv.split(X))  # numbers are in some order
        return
    with pytest.raises(ValueError, match=message):
        list(cv.split(X))


def test_dates_that_are_too_coarse_are_reported():
    X = with_dates(dense_table(), n_days=3)
    with pytest.raises(ValueError, match="enough distinct dates for 2 windows of 2"):
        list(TimeSplit(2, playlist_size=0.05).split(X))
    with pytest.raises(ValueError, match="got 30 with 1 distinct"):
        list(TimeSplit().split(X.assign(created_at=FIRST)))


def test_half_life():
    days = pd.Series(FIRST + np.array([0, 10, 20, 5]) * DAY)
    np.testing.assert_allclose(half_life_weights(days, 10), [0.25, 0.5, 1, 0.5**1.5])
    np.testing.assert_allclose(half_life_weights(days, 10, now=FIRST + 30 * DAY)[:2], [0.125, 0.25])
    # What is later than now counts fully.
    np.testing.assert_allclose(
        half_life_weights(days, 10, now=FIRST + 10 * DAY), [0.5, 1, 1, 0.5**0.5]
    )
    text = days.dt.strftime("%Y-%m-%d")
    np.testing.assert_array_equal(half_life_weights(text.tolist(), 10), half_life_weights(days, 10))
    lacking = half_life_weights(pd.Series([*text[:3], None]), 10)
    assert lacking[3] == pytest.approx(lacking[:3].mean())
    for bad in (0, -1, np.inf, "year"):
        with pytest.raises(ValueError, match="`half_life` must be a number of days above 0"):
            half_life_weights(days, bad)
    with pytest.raises(ValueError, match="There must be a date"):
        half_life_weights([None, None], 10)


def test_it_is_a_splitter_of_sklearn_and_of_this_package():
    X = with_dates(make_playlists(random_state=0), n_days=900)
    cv = TimeSplit(2, cutoff=None)
    assert check_cv(cv) is cv
    assert cv.get_n_splits(X) == 2
    assert repr(pickle.loads(pickle.dumps(cv))) == repr(cv)
    with config_context(enable_metadata_routing=True):
        assert "groups" not in cv.get_metadata_routing().split.requests
    rankers = {"popularity": PopularityRanker(), "ridge": RidgeRanker()}
    assert compare(rankers, X, cv={"time": cv}, metrics="auc").shape == (2, 1)
    for method in ("describe", "label_playlists"):
        with pytest.raises(ValueError, match="There must be a split to describe"):
            getattr(TimeSplit(), method)()
