"""SAGH, worked out by hand in every setting."""

import numpy as np
import pytest
from tables import five_songs, new_songs, scores_of

from skmtc import PopularityRanker, SameArtistRanker


def test_known_songs_need_an_artist_of_the_user():
    ranker = SameArtistRanker().fit(five_songs())
    for playlist in ("gym", "run", "a new one"):
        scores = scores_of(ranker, {"user": "ana", "playlist": playlist})
        assert scores == [2, 1, 2, 0, 0]
    assert scores_of(ranker, {"user": "bob"}) == [0, 0, 2, 2, 1]
    assert scores_of(ranker, {"user": "eve"}) == [2, 1, 0, 2, 1]


def test_new_songs_need_an_artist_of_the_playlist():
    ranker = SameArtistRanker().fit(five_songs())
    assert scores_of(ranker, {"user": "ana", "playlist": "gym"}, new_songs()) == [3, 2, 0, 0, 0]
    assert scores_of(ranker, {"user": "ana", "playlist": "run"}, new_songs()) == [3, 0, 0, 0, 0]


def test_new_songs_in_a_new_playlist_need_an_artist_of_the_user():
    ranker = SameArtistRanker().fit(five_songs())
    assert scores_of(ranker, {"user": "bob"}, new_songs()) == [0, 2, 3, 0, 0]


@pytest.mark.parametrize("songs", [None, new_songs()], ids=["known", "new"])
def test_a_new_user_has_the_most_popular_artists(songs):
    ranker = SameArtistRanker(n_artists=1).fit(five_songs())
    assert ranker.popular_artists_.tolist() == ["a1", "a3"]  # equally popular
    expected = [2, 1, 0, 2, 1] if songs is None else [3, 0, 3, 0, 0]
    assert scores_of(ranker, {"user": "dan"}, songs) == expected
    assert scores_of(SameArtistRanker(n_artists=3).fit(five_songs()), {"user": "dan"}) == [
        *(2, 1, 2, 2, 1)
    ]


def test_with_every_artist_it_is_popularity():
    X = five_songs()
    one_artist = X.assign(artist="a1")
    same = SameArtistRanker().fit(one_artist).predict(one_artist)
    np.testing.assert_array_equal(same, PopularityRanker().fit(one_artist).predict(one_artist))
