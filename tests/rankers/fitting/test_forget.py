"""Users who ask to be deleted: nothing of their own is left, and nobody else notices."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skmtc import (
    ItemKNNRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PopularityRanker,
    StackingRanker,
)
from skmtc._utils.fitted_state import check_fitted_state
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.persistence import save
from skmtc.rankers.history import TERMS
from tests.test_ranker_checks import NEW_USERS, QUERIES, SONG_TABLE, X_ALL, X_TRAIN, each_ranker

GONE = list(X_TRAIN["user"].unique()[[1, 4]])
IS_GONE = X_ALL["user"].isin(GONE)

# All that a ranker keeps for each user or playlist, or for each membership.
DOCUMENTED = {
    "users_",
    "playlists_",
    "membership_",
    "user_of_playlist_",
    "user_coef_",
    "playlist_coef_",
    "_playlist_coef",  # of which ridge regression makes `playlist_coef_`
    "user_attributes_",
    "playlist_attributes_",
    "playcounts_",
    "artists_of_user_",
    "artists_of_playlist_",
    "known_factors_",
    "new_factors_",
    "estimators_",
}


def _arrays(value, depth=9):
    """Walk all arrays inside a value; sparse ones stand for the array of their entries too."""
    if issparse(value):
        yield value
        yield value.data
    elif isinstance(value, np.ndarray | pd.DataFrame | pd.Series | pd.Index):
        yield value
    elif depth and isinstance(value, dict):
        for one in value.values():
            yield from _arrays(one, depth - 1)
    elif depth and isinstance(value, list | tuple):
        yield np.empty(len(value))
        for one in value:
            yield from _arrays(one, depth - 1)
    elif depth and isinstance(value, BaseEstimator):
        yield from _arrays(vars(value), depth - 1)


def _sizes(ranker, n_rows_in):
    n_rows = {len(ranker.users_), len(ranker.playlists_), ranker.membership_.nnz, n_rows_in}
    others = {len(ranker.songs_), ranker.n_features_in_}
    if getattr(ranker, "artists_", None) is not None:
        others.add(len(ranker.artists_))
    assert not n_rows & others  # so that an array's length tells what it is about
    return n_rows


@each_ranker
def test_what_is_kept_of_the_training_rows_is_documented(ranker):
    X = make_playlists(53, 160, 97, 23, n_features=4, random_state=0)
    ranker = clone(ranker).fit(X)
    n_rows = _sizes(ranker, len(X))
    found = {
        name
        for name, value in vars(ranker).items()
        if name != "_reader" and any(n_rows & set(np.shape(a)) for a in _arrays(value))
    }
    assert found <= DOCUMENTED
    assert found >= {"users_", "playlists_", "membership_", "user_of_playlist_"}
    public = type(ranker).__doc__
    assert all(name.strip("_") in public for name in found)


def _counts_songs(ranker):
    """Check whether scores depend on how many songs there are."""
    counts = ItemKNNRanker | OwnSongsRanker | StackingRanker
    return isinstance(ranker, counts) or getattr(ranker, "history", None) is not None


@each_ranker
def test_others_are_scored_as_before_and_the_forgotten_as_new(ranker):
    shared = set(X_TRAIN[~X_TRAIN["user"].isin(GONE)]["song"])
    X = X_TRAIN[X_TRAIN["song"].isin(shared)]  # so that no song goes
    ranker = clone(ranker).fit(X)
    others = X_ALL[~IS_GONE & X_ALL["user"].isin(ranker.users_)]
    expected = ranker.predict(others)
    assert ranker.forget(GONE) is ranker
    np.testing.assert_array_equal(ranker.predict(others), expected)
    again = X_ALL[IS_GONE]
    strangers = again.assign(user="x" + again["user"], playlist="x" + again["playlist"])
    np.testing.assert_array_equal(ranker.predict(again), ranker.predict(strangers))
    assert np.isfinite(ranker.recommend(QUERIES)[1]).all()


@each_ranker
def test_others_are_scored_as_before_where_songs_go(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    others = X_TRAIN[~X_TRAIN["user"].isin(GONE)]
    expected, n_songs = ranker.predict(others), len(ranker.songs_)
    ranker.forget(GONE)
    assert set(ranker.songs_) == set(others["song"])
    assert len(ranker.songs_) < n_songs
    found = ranker.predict(others)
    if _counts_songs(ranker):
        assert np.corrcoef(found, expected)[0, 1] > 0.99
    else:
        np.testing.assert_array_equal(found, expected)
    assert np.isin(ranker.recommend(QUERIES)[0], others["song"]).all()


MARKS = (b"secret-", b"private-", b"hidden-", b"demo-")


def _marked(X, users):
    """Mark the ids of some users, their playlists, and the songs and artists nobody else has."""
    is_theirs = X["user"].isin(users)
    others = X[~is_theirs]
    is_own = ~X["song"].isin(others["song"])
    is_own_artist = ~X["artist"].isin(others["artist"])
    return X.assign(
        user=np.where(is_theirs, "secret-" + X["user"], X["user"]),
        playlist=np.where(is_theirs, "private-" + X["playlist"], X["playlist"]),
        song=np.where(is_own, "hidden-" + X["song"], X["song"]),
        artist=np.where(is_own_artist, "demo-" + X["artist"], X["artist"]),
    )


def _own_artist(X):
    """Return the songs that only the forgotten users have an artist of their own."""
    is_own = ~X["song"].isin(X[~X["user"].isin(GONE)]["song"])
    return X.assign(artist=X["artist"].mask(is_own, "band"))


def _stored(ranker, folder):
    """Return the bytes of a pickle and of a safe file."""
    save(ranker, folder / "model.skops")
    return pickle.dumps(ranker) + (folder / "model.skops").read_bytes()


@each_ranker
def test_no_byte_of_the_forgotten_is_stored(ranker, tmp_path):
    X = _marked(_own_artist(X_TRAIN), GONE)
    ranker = clone(ranker).fit(X)
    before = _stored(ranker, tmp_path)
    assert all(mark in before for mark in MARKS)
    ranker.forget([user for user in ranker.users_ if user.startswith("secret-")])
    after = _stored(ranker, tmp_path)
    assert not [mark for mark in MARKS if mark in after]
    for role in ("user", "playlist", "song"):
        assert not [i for i in ranker.reader.ids[role].values if i.encode().startswith(MARKS)]
    check_fitted_state(ranker)
    assert np.isfinite(ranker.predict(X)).all()  # the songs that went are new songs


FULL = MultitaskPlaylistRanker(
    song_features=make_song_features(
        numeric=["x0", "x1"], artist="artist", song="song", random_state=0
    ),
    history=TERMS,
    tol=0.1,
    random_state=0,
)


@pytest.mark.parametrize(
    "ranker",
    [FULL, StackingRanker([("one", FULL), ("two", FULL)], cv=[], random_state=0)],
    ids=["multitask", "stack"],
)
def test_no_byte_is_stored_of_users_who_came_later_or_whose_songs_have_vectors(ranker, tmp_path):
    X = _marked(_own_artist(X_TRAIN), GONE)
    later = _marked(X_ALL[X_ALL["user"].isin(NEW_USERS)], NEW_USERS)
    later = later.assign(song="hidden-" + later["song"])
    ranker = clone(ranker).fit(X).partial_fit(later)
    assert set(later["song"]) <= set(ranker.songs_)
    before = _stored(ranker, tmp_path)
    assert all(mark in before for mark in MARKS[:3])
    ranker.forget([user for user in ranker.users_ if user.startswith("secret-")])
    after = _stored(ranker, tmp_path)
    assert not [mark for mark in MARKS[:3] if mark in after]
    check_fitted_state(ranker)
    assert np.isfinite(ranker.predict(X_ALL)).all()


def test_a_transformer_is_not_changed_where_it_was():
    X = _marked(X_TRAIN, GONE)
    ranker = clone(FULL).fit(X)
    transformer = ranker.song_features_
    before = pickle.dumps(transformer)
    known = X[X["song"].isin(X[~X["user"].str.startswith("secret-")]["song"])]
    songs = known.drop_duplicates("song").drop(columns=["user", "playlist"])
    expected = transformer.transform(songs)
    ranker.forget([user for user in ranker.users_ if user.startswith("secret-")])
    assert pickle.dumps(transformer) == before
    np.testing.assert_array_equal(ranker.song_features_.transform(songs), expected)


@each_ranker
def test_all_rows_of_a_user_go(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    left = X_TRAIN[~X_TRAIN["user"].isin(GONE)]
    ranker.forget(GONE)
    assert ranker.users_.tolist() == sorted(left["user"].unique())
    assert ranker.playlists_.tolist() == sorted(left["playlist"].unique())
    assert ranker.membership_.nnz == len(left.drop_duplicates(["playlist", "song"]))
    owner = ranker.users_[ranker.user_of_playlist_]
    expected = left.drop_duplicates("playlist").set_index("playlist")["user"]
    assert owner.tolist() == expected[ranker.playlists_].tolist()
    sizes = {"users": len(ranker.users_), "playlists": len(ranker.playlists_)}
    known = check_fitted_state(ranker)
    assert sizes == {dimension: known[dimension] for dimension in sizes}


@pytest.mark.filterwarnings("ignore:.*has the same score for all")
@each_ranker
def test_everybody_may_go(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    ranker.forget(ranker.users_)
    assert len(ranker.users_) == len(ranker.playlists_) == 0
    assert np.isfinite(ranker.predict(X_ALL)).all()
    assert ranker.recommend(QUERIES, candidates=SONG_TABLE)[0].shape == (len(QUERIES), 10)
    with pytest.raises(ValueError, match="at most the number of candidate songs: 0"):
        ranker.recommend(QUERIES)
    check_is_fitted(ranker)


def test_playlists_are_forgotten_where_owners_are_unknown():
    ranker = PopularityRanker(user=None).fit(X_TRAIN.drop(columns="user"))
    playlist = ranker.playlists_[3]
    ranker.forget([playlist])
    assert playlist not in ranker.playlists_
    assert playlist not in ranker.users_


def test_by_hand():
    X = pd.DataFrame(
        {
            "user": ["ana", "ana", "bob", "bob"],
            "playlist": ["gym", "gym", "run", "tea"],
            "song": ["s1", "s2", "s3", "s3"],
        }
    )
    ranker = OwnSongsRanker().fit(X).forget(["ana"])
    assert ranker.users_.tolist() == ["bob"]
    # Nobody else had s1 and s2. Of the two memberships that are left, s3 has both.
    assert ranker.songs_.tolist() == ["s3"]
    songs, scores = ranker.recommend(pd.DataFrame({"user": ["ana"]}), n_recommendations=1)
    assert songs.tolist() == [["s3"]]
    assert scores.tolist() == [[2 / 3]]


@pytest.mark.parametrize(
    ("users", "error", "message"),
    [
        (["user1x"], ValueError, r"must be known .*'user1x'; the nearest known are \['user1"),
        ("user1", TypeError, "must be a list of user ids"),
        ([1], TypeError, "must be of the same type"),
    ],
)
def test_unknown_users_are_reported_and_nobody_is_forgotten(users, error, message):
    X = X_TRAIN.assign(user="user" + X_TRAIN["user"].astype("category").cat.codes.astype(str))
    ranker = PopularityRanker().fit(X)
    before = pickle.dumps(ranker)
    with pytest.raises(error, match=message):
        ranker.forget(users)
    assert pickle.dumps(ranker) == before
    assert ranker.forget([]).users_.tolist() == sorted(X["user"].unique())


def test_numbers_may_be_ids():
    X = X_TRAIN.assign(user=X_TRAIN["user"].astype("category").cat.codes.astype(int))
    ranker = PopularityRanker().fit(X)
    with pytest.raises(ValueError, match="the first 77; the nearest known are"):
        ranker.forget([77])
    assert 2 not in ranker.forget([2]).users_


def test_a_forgotten_user_with_attributes_is_like_the_others():
    ranker = MultitaskPlaylistRanker(
        n_neighbors=1, song_features="passthrough", user_features="passthrough", tol=1e-10
    )
    X = X_TRAIN[["user", "playlist", "song", "x0", "x1", "age"]]
    ranker.set_params(song_features=None).fit(X)
    user = ranker.users_[0]
    asked = X[X["user"] == user][["user", "age"]].head(1)
    ranker.forget([user])
    vector = ranker.query_vectors(asked)[0] - ranker.shared_coef_
    # The nearest by the cosine of one positive number are all the others.
    np.testing.assert_allclose(vector, ranker.user_coef_.mean(axis=0), atol=1e-12)
