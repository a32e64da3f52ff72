"""make_ranker."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skmtc import StackingRanker, make_ranker
from skmtc.datasets import make_playlists

X = make_playlists(60, 250, 200, 30, n_features=4, random_state=0)


def test_a_table_with_attributes_is_stacked():
    ranker = make_ranker(X, random_state=0)
    assert isinstance(ranker, StackingRanker)
    parts = dict(ranker.estimators)
    assert parts["multitask"].history.terms == ("song", "artist", "co-occurrence")
    assert parts["multitask"].user_features is not None
    names = [name for name, _, _ in parts["ridge"].song_features.transformers]
    assert "identity" in names
    assert "popularity" not in names
    assert parts["item_knn"].artist == "artist"


def test_neighbours_need_no_artist():
    ranker = make_ranker(X.drop(columns="artist"), random_state=0)
    assert dict(ranker.estimators)["item_knn"].artist is None


def test_a_table_of_ids_is_stacked_too():
    table = X[["user", "playlist", "song"]]
    ranker = make_ranker(table, random_state=0, n_jobs=2)
    parts = dict(ranker.estimators)
    assert list(parts) == ["multitask", "ridge", "item_knn"]
    assert parts["multitask"].history.terms == ("song", "co-occurrence")
    assert [name for name, _, _ in parts["ridge"].song_features.transformers] == [
        "popularity",
        "song",
    ]
    assert ranker.n_jobs == 2


@pytest.mark.parametrize("user", ["owner", None])
def test_ids_of_any_name(user):
    names = {"user": "owner", "playlist": "list", "song": "track"}
    table = X.rename(columns=names)
    if user is None:
        table = table.drop(columns=["owner", "age", "gender", "country"])
    ranker = make_ranker(table, user=user, playlist="list", song="track", random_state=0)
    ranker = clone(ranker).fit(table)
    songs, _ = ranker.recommend(table.head(3), n_recommendations=5)
    assert set(songs.ravel()) <= set(table["track"])


def test_anybody_and_any_song():
    is_new = X["song"].isin(X["song"].unique()[::9])
    ranker = make_ranker(X, random_state=0).fit(X[~is_new])
    new = X[is_new].drop_duplicates("song").drop(columns=["user", "playlist"])
    songs, scores = ranker.recommend(
        X[["user", "playlist"]].head(3), candidates=new, n_recommendations=4
    )
    assert set(songs.ravel()) <= set(new["song"])
    assert np.isfinite(scores).all()
    assert set(ranker.names_) == {"multitask", "multitask_new", "ridge", "item_knn"}


def titled(table):
    """Return a table whose playlists have titles that name the genre of most of their songs."""
    named = table.dropna(subset="genre")
    genres = named.groupby("playlist")["genre"].agg(lambda names: names.mode().iloc[0])
    return table.assign(
        title=[f"{genres.get(p, 'some')} for {p}" for p in table["playlist"]],
    )


@pytest.mark.parametrize("user", ["user", None])
def test_titles_of_playlists_are_used(user):
    table = titled(X)
    if user is None:
        table = table.drop(columns=["user", "age", "gender", "country"])
    ranker = make_ranker(table, user=user, random_state=0)
    parts = dict(ranker.estimators)
    for name in ("multitask", "multitask_new"):
        (part,) = parts[name].playlist_features.transformers
        assert part[2] == ["title"]
    ranker.fit(table)
    query = pd.DataFrame({"title": ["unheard", X["genre"].dropna().iloc[0]]})
    unheard, heard = ranker.query_vectors(query)
    assert abs(unheard - heard).sum() > 0
    assert ranker.playlist_features_ is not None


def test_titles_of_songs_are_none_of_playlists():
    table = X.assign(title=["title of " + song for song in X["song"]])
    assert dict(make_ranker(table).estimators)["multitask"].playlist_features is None
