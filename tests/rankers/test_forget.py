"""Users who ask to be deleted: nothing of their own is left, and nobody else notices."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skmtc import HistoryRanker, MultitaskPlaylistRanker, PopularityRanker
from skmtc.datasets import make_playlists
from tests.test_ranker_checks import QUERIES, X_ALL, X_TRAIN, each_ranker

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
    "user_attributes_",
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
        if name != "_lookups" and any(n_rows & set(np.shape(a)) for a in _arrays(value))
    }
    assert found <= DOCUMENTED
    assert found >= {"users_", "playlists_", "membership_", "user_of_playlist_"}
    public = type(ranker).__doc__
    assert all(name in public for name in found)


@each_ranker
def test_others_are_scored_as_before_and_the_forgotten_as_new(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    others = X_ALL[~IS_GONE & X_ALL["user"].isin(ranker.users_)]
    expected = ranker.predict(others)
    assert ranker.forget(GONE) is ranker
    np.testing.assert_array_equal(ranker.predict(others), expected)
    again = X_ALL[IS_GONE]
    strangers = again.assign(user="x" + again["user"], playlist="x" + again["playlist"])
    np.testing.assert_array_equal(ranker.predict(again), ranker.predict(strangers))
    assert np.isfinite(ranker.recommend(QUERIES)[1]).all()


@each_ranker
def test_a_pickle_holds_nothing_of_the_forgotten(ranker):
    secret = {user: f"secret-{user}" for user in GONE}
    X = X_TRAIN.assign(
        user=X_TRAIN["user"].replace(secret),
        playlist=np.where(
            X_TRAIN["user"].isin(GONE), "private-" + X_TRAIN["playlist"], X_TRAIN["playlist"]
        ),
    )
    ranker = clone(ranker).fit(X)
    before = pickle.dumps(ranker)
    assert b"secret-" in before
    assert b"private-" in before
    ranker.forget(list(secret.values()))
    after = pickle.dumps(ranker)
    assert b"secret-" not in after
    assert b"private-" not in after
    for name in ("users_", "playlists_"):
        assert not [i for i in getattr(ranker, name) if "secret" in i or "private" in i]
    ids = ranker._ids("user").values.tolist() + ranker._ids("playlist").values.tolist()
    assert not [i for i in ids if i.startswith(("secret", "private"))]


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
    for rows, names in (("users", ranker._user_rows), ("playlists", ranker._playlist_rows)):
        kept = [getattr(ranker, name, None) for name in names]
        assert {k.shape[0] for k in kept if k is not None} == {sizes[rows]}


@each_ranker
def test_everybody_may_go(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    ranker.forget(ranker.users_)
    assert len(ranker.users_) == len(ranker.playlists_) == 0
    assert np.isfinite(ranker.predict(X_ALL)).all()
    assert ranker.recommend(QUERIES)[0].shape == (len(QUERIES), 10)
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
    ranker = HistoryRanker().fit(X).forget(["ana"])
    assert ranker.users_.tolist() == ["bob"]
    songs, scores = ranker.recommend(pd.DataFrame({"user": ["ana"]}), n_recommendations=3)
    # Popularity stays: s3 is in two playlists, s1 and s2 were in one of ana's.
    assert songs.tolist() == [["s3", "s1", "s2"]]
    assert scores.tolist() == [[0.4, 0.2, 0.2]]


@pytest.mark.parametrize(
    ("users", "error", "message"),
    [
        (["user1x"], ValueError, r"must be known .*'user1x'; the nearest known are \['user1"),
        ("user1", TypeError, "must be a list of user ids"),
        ([1], TypeError, "must be of the same type"),
    ],
)
def test_unknown_users_are_told_and_nobody_is_forgotten(users, error, message):
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
