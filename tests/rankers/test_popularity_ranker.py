"""Ranking by popularity."""

import numpy as np
import pandas as pd
import pytest

from skmtc import PopularityRanker

X = pd.DataFrame(
    {
        "user": ["u", "u", "u", "u", "v", "v"],
        "playlist": ["a", "a", "b", "b", "c", "c"],
        "song": ["s1", "s2", "s1", "s3", "s1", "s2"],
        "artist": ["x", "y", "x", "x", "x", "y"],
    }
)
NEW = pd.DataFrame(
    {"user": "v", "playlist": "c", "song": ["n1", "n2", "n3", "s2"], "artist": ["x", "y", "z", "y"]}
)


@pytest.fixture(params=["str", "category"])
def ranker(request):
    return PopularityRanker().fit(X.astype({"artist": request.param}))


def test_counts_playlists(ranker):
    assert ranker.songs_.tolist() == ["s1", "s2", "s3"]
    assert ranker.popularity_.tolist() == [3, 2, 1]
    assert dict(zip(ranker.artists_, ranker.artist_popularity_, strict=True)) == {"x": 4, "y": 2}


def test_a_full_playlist_does_not_count():
    full = pd.DataFrame({"user": "w", "playlist": "d", "song": ["s1", "s2", "s3"]})
    ranker = PopularityRanker()
    with pytest.warns(UserWarning, match="1 playlists with every song"):
        ranker.fit(pd.concat([X, full]))
    assert ranker.popularity_.tolist() == [3, 2, 1]
    assert ranker.left_out_ == {"repeated rows": 0, "playlists with every song": 1}


def test_new_songs_are_scored_by_their_artist(ranker):
    assert ranker.predict(NEW).tolist() == [4, 2, 0, 2]


def test_without_artists_new_songs_count_nothing():
    for parameters, columns in (({"artist": None}, list(X)), ({}, list(X)[:3])):
        ranker = PopularityRanker(**parameters).fit(X[columns])
        assert ranker.predict(NEW[columns]).tolist() == [0, 0, 0, 2]


def test_everybody_gets_the_same(ranker):
    queries = pd.DataFrame({"user": ["u", "new"], "playlist": ["other", "new"]})
    songs, scores = ranker.recommend(queries, n_recommendations=3)
    assert songs.tolist() == [["s1", "s2", "s3"]] * 2
    assert scores.tolist() == [[3, 2, 1]] * 2


def test_artist_by_position():
    array = np.array([[0, 0, 7], [1, 1, 8], [2, 0, 7]], dtype=float)
    ranker = PopularityRanker(user=None, playlist=0, song=1, artist=2).fit(array)
    assert ranker.predict([[5, 9, 7], [5, 10, 8], [5, 11, 9]]).tolist() == [2, 1, 0]
