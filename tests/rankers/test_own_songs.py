"""The user's own songs first."""

import numpy as np
import pytest
from tables import five_songs, new_songs, scores_of

from skmtc import OwnSongsRanker, PopularityRanker
from skmtc.datasets import make_playlists

SHARES = np.array([2, 1, 2, 2, 1]) / 9  # of 8 memberships, and one more


def test_a_new_playlist_has_all_songs_of_the_user():
    ranker = OwnSongsRanker().fit(five_songs())
    scores = scores_of(ranker, {"user": "ana"})
    np.testing.assert_allclose(scores, np.array([2, 0, 1, 0, 0]) + SHARES)


def test_a_known_playlist_has_the_songs_of_the_others():
    ranker = OwnSongsRanker().fit(five_songs())
    scores = scores_of(ranker, {"user": "ana", "playlist": "run"})
    np.testing.assert_allclose(scores, np.array([1, 0, 1, 0, 0]) + SHARES)
    scores = scores_of(ranker, {"user": "bob", "playlist": "tea"})
    np.testing.assert_allclose(scores, SHARES)


def test_new_users_and_new_songs_have_popularity():
    ranker = OwnSongsRanker().fit(five_songs())
    np.testing.assert_allclose(scores_of(ranker, {"user": "dan"}), SHARES)
    new = scores_of(ranker, {"user": "ana"}, new_songs())
    np.testing.assert_allclose(new, np.array([3, 2, 3, 0, 0]) / 9)


@pytest.mark.parametrize("seed", range(3))
def test_own_songs_are_always_first_then_popularity(seed):
    X = make_playlists(6, 24, 50, 10, random_state=seed)
    ranker, popularity = OwnSongsRanker().fit(X), PopularityRanker().fit(X)
    queries = X[["user"]].drop_duplicates()
    songs, scores = ranker.recommend(queries, n_recommendations=len(ranker.songs_))
    for user, row, score in zip(queries["user"], songs, scores, strict=True):
        times = X.loc[X["user"] == user, "song"].value_counts().reindex(row).fillna(0).to_numpy()
        codes = np.searchsorted(ranker.songs_, row)
        keys = list(zip(times, popularity.popularity_[codes], strict=True))
        assert keys == sorted(keys, reverse=True)
        np.testing.assert_array_equal(np.floor(score), times)
