"""Popularity of artists, for songs that have none of their own."""

import pytest
from tables import five_songs, new_songs, scores_of

from skmtc import OwnSongsRanker, PopularityRanker

# Both count the artist's popularity for new songs, the second as a share of 8 rows and one more.
rankers = pytest.mark.parametrize(
    ("ranker", "unit"), [(PopularityRanker(), 1), (OwnSongsRanker(), 1 / 9)], ids=["pop", "history"]
)


@rankers
def test_new_songs_have_the_popularity_of_their_artist(ranker, unit):
    ranker.fit(five_songs())
    scores = scores_of(ranker, {"user": "ana"}, new_songs())
    assert scores == pytest.approx([3 * unit, 2 * unit, 3 * unit, 0, 0])


@rankers
def test_artists_may_be_missing(ranker, unit):
    X = five_songs()
    ranker.fit(X.assign(artist=X["artist"].where(X["artist"] != "a2")))
    assert dict(zip(ranker.artists_, ranker.artist_popularity_, strict=True)) == {"a1": 3, "a3": 3}
    scores = scores_of(ranker, {"user": "ana"}, new_songs())
    assert scores == pytest.approx([3 * unit, 0, 3 * unit, 0, 0])


@rankers
def test_artists_may_all_be_missing(ranker, unit):
    ranker.fit(five_songs().assign(artist=None))
    assert scores_of(ranker, {"user": "ana"}, new_songs()) == [0, 0, 0, 0, 0]


@rankers
def test_artists_may_be_categories(ranker, unit):
    ranker.fit(five_songs().astype({"artist": "category"}))
    scores = scores_of(ranker, {"user": "ana"}, new_songs().astype({"artist": "category"}))
    assert scores == pytest.approx([3 * unit, 2 * unit, 3 * unit, 0, 0])
