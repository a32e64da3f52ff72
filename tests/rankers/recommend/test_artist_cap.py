"""A cap on the songs of one artist."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import config_context
from tables import five_songs, new_songs

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.datasets import make_playlists
from skmtc.rankers.recommend._artist_cap import best_with_cap, within_cap


def _greedy(ranking, artist_of_song, k, most):
    """Walk down one ranking, song by song."""
    chosen, counts = [], {}
    for song in ranking:
        artist = artist_of_song[song]
        if pd.isna(artist) or counts.get(artist, 0) < most:
            chosen.append(song)
            counts[artist] = counts.get(artist, 0) + 1
        if len(chosen) == k:
            break
    return chosen


@given(arrays(np.intp, (3, 8), elements=st.integers(-1, 3)), st.integers(1, 4))
def test_within_cap_equals_counting(artists, most):
    for row, kept in zip(artists, within_cap(artists, most), strict=True):
        earlier = [(row[:place] == artist).sum() for place, artist in enumerate(row)]
        assert kept.tolist() == [a < 0 or n < most for a, n in zip(row, earlier, strict=True)]


@pytest.fixture(scope="module")
def X():
    table = make_playlists(10, 60, 400, 12, random_state=0).drop(columns=["year", "genre"])
    unknown = table["artist"] == table["artist"].iloc[0]
    return table.assign(artist=table["artist"].mask(unknown))


@pytest.fixture(scope="module")
def ranker(X):
    features = X.select_dtypes("number").columns.drop("age")
    return MultitaskPlaylistRanker(tol=0.1, random_state=0).fit(
        X[["user", "playlist", "song", "artist", *features]]
    )


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("sample", [False, True])
def test_equals_a_walk_down_the_whole_ranking(X, ranker, most, sample):
    queries = X.drop_duplicates("playlist")[["user", "playlist"]]
    options = {"sample": sample, "random_state": 1}
    artist_of_song = X.drop_duplicates("song").set_index("song")["artist"]
    n_most = len(ranker.songs_) - X.groupby("playlist")["song"].nunique().max()
    whole, whole_scores = ranker.recommend(queries, n_recommendations=n_most, **options)
    songs, scores = ranker.recommend(queries, n_recommendations=8, max_per_artist=most, **options)
    for given_songs, given_scores, ranking, all_scores in zip(
        songs, scores, whole, whole_scores, strict=True
    ):
        assert given_songs.tolist() == _greedy(ranking, artist_of_song, 8, most)
        of_song = dict(zip(ranking, all_scores, strict=True))
        assert given_scores.tolist() == [of_song[song] for song in given_songs]
    with config_context(working_memory=0.01):
        again, _ = ranker.recommend(queries, n_recommendations=8, max_per_artist=most, **options)
    np.testing.assert_array_equal(again, songs)


def test_a_deep_walk_goes_on_where_the_first_look_ends():
    artists = np.append(np.zeros(200, dtype=np.intp), [1, 2])  # the first 200 are of one artist

    def find(depth, positions):
        columns = np.tile(np.arange(depth), (len(positions), 1))
        return columns, -columns.astype(float)

    columns, scores = best_with_cap(find, 2, 3, artists, 1)
    assert columns.tolist() == [[0, 200, 201]] * 2
    assert scores.tolist() == [[0.0, -200.0, -201.0]] * 2


def test_a_case_worked_by_hand():
    ranker = PopularityRanker().fit(five_songs())  # 2, 1, 2, 2, 1 for a1 a1 a2 a3 a3
    query = pd.DataFrame({"user": ["nobody"]})
    songs, _ = ranker.recommend(query, n_recommendations=3, max_per_artist=1)
    assert songs.tolist() == [["s1", "s3", "s4"]]
    songs, _ = ranker.recommend(query, n_recommendations=5, max_per_artist=2)
    assert songs.tolist() == [["s1", "s3", "s4", "s2", "s5"]]


def test_new_songs_bring_their_artists_and_count_with_known_ones():
    ranker = PopularityRanker().fit(five_songs())
    query = pd.DataFrame({"user": ["nobody"]})
    mixed = pd.concat([five_songs()[["song", "artist"]].drop_duplicates("song"), new_songs()])
    songs, _ = ranker.recommend(query, n_recommendations=5, candidates=mixed, max_per_artist=1)
    # n1, n3 count 3 like their artists; n2 2, before it in the table s3 of the same artist; the
    # unknown artist a9 and the song without artist count 0.
    assert songs.tolist() == [["n1", "n3", "s3", "n4", "n5"]]


def test_songs_without_artist_are_not_capped():
    X = five_songs().assign(artist=None)
    songs, _ = (
        PopularityRanker()
        .fit(X)
        .recommend(pd.DataFrame({"user": ["nobody"]}), n_recommendations=5, max_per_artist=1)
    )
    assert len(set(songs[0])) == 5


def test_what_cannot_be_is_reported():
    X = five_songs()
    query = pd.DataFrame({"user": ["eve", "ana"]})
    ranker = PopularityRanker().fit(X)
    with pytest.raises(ValueError, match=r"4 candidate songs with at most 1 .* got 3 .*Pass a"):
        ranker.recommend(query, n_recommendations=4, max_per_artist=1)
    with pytest.raises(ValueError, match="`max_per_artist` must be"):
        ranker.recommend(query, n_recommendations=1, max_per_artist=0)
    with pytest.raises(ValueError, match="table of candidates has no artist column"):
        ranker.recommend(
            query, n_recommendations=1, max_per_artist=1, candidates=new_songs()[["song"]]
        )
    ranker = PopularityRanker().fit(X.drop(columns="artist"))
    with pytest.raises(ValueError, match="table of fit has no artist column"):
        ranker.recommend(query, n_recommendations=1, max_per_artist=1)
