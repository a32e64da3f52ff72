"""CAGH, worked out by hand in every setting."""

import numpy as np
from scipy.sparse import issparse
from tables import five_songs, new_songs, scores_of

from skmtc import CollocatedArtistRanker
from skmtc.datasets import make_playlists


def test_collocations_count_playlists():
    ranker = CollocatedArtistRanker().fit(five_songs())
    assert issparse(ranker.collocation_)
    assert ranker.collocation_.toarray().tolist() == [[3, 1, 0], [1, 2, 1], [0, 1, 2]]


def test_known_songs_are_weighed_by_the_artists_of_the_user():
    ranker = CollocatedArtistRanker().fit(five_songs())
    # ana has a1 and a2, which make 3 + 1, 1 + 2 and 0 + 1 collocations with the three artists
    for playlist in ("gym", "run", "a new one"):
        scores = scores_of(ranker, {"user": "ana", "playlist": playlist})
        assert scores == [2 * 4, 1 * 4, 2 * 3, 2 * 1, 1 * 1]
    assert scores_of(ranker, {"user": "bob"}) == [2 * 1, 1 * 1, 2 * 3, 2 * 3, 1 * 3]


def test_new_songs_are_weighed_by_the_artists_of_the_playlist():
    ranker = CollocatedArtistRanker().fit(five_songs())
    gym = scores_of(ranker, {"user": "ana", "playlist": "gym"}, new_songs())
    run = scores_of(ranker, {"user": "ana", "playlist": "run"}, new_songs())
    assert gym == [3 * 4, 2 * 3, 3 * 1, 0, 0]
    assert run == [3 * 3, 2 * 1, 0, 0, 0]
    new = scores_of(ranker, {"user": "bob"}, new_songs())
    assert new == [3 * 1, 2 * 3, 3 * 3, 0, 0]


def test_a_new_user_has_the_most_popular_artists():
    ranker = CollocatedArtistRanker(n_artists=1).fit(five_songs())
    # a1 and a3, which make 3, 1 + 1 and 2 collocations
    assert scores_of(ranker, {"user": "dan"}) == [2 * 3, 1 * 3, 2 * 2, 2 * 2, 1 * 2]
    assert scores_of(ranker, {"user": "dan"}, new_songs()) == [3 * 3, 2 * 2, 3 * 2, 0, 0]


def test_scores_equal_counting_one_by_one():
    X = make_playlists(8, 20, 40, 9, random_state=1)
    ranker = CollocatedArtistRanker().fit(X)
    rows = X.sample(30, random_state=0)
    held = [set(artists) for _, artists in X.groupby("playlist")["artist"]]
    popularity = X["song"].value_counts()
    expected = []
    for _, row in rows.iterrows():
        own = set(X.loc[X["user"] == row["user"], "artist"])
        together = sum(a in p and row["artist"] in p for a in own for p in held)
        expected.append(together * popularity[row["song"]])
    np.testing.assert_array_equal(ranker.predict(rows), expected)


def test_artists_of_the_user_come_from_all_playlists_of_the_user():
    X = five_songs()
    ranker = CollocatedArtistRanker().fit(X)
    without_gym = CollocatedArtistRanker().fit(X[X["playlist"] != "gym"])
    np.testing.assert_array_equal(without_gym.artists_, ranker.artists_)
    assert ranker.artists_of_user_.toarray()[0].tolist() == [1, 1, 0]
    assert without_gym.artists_of_user_.toarray()[0].tolist() == [1, 0, 0]
