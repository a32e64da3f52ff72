"""Ties are broken by popularity, and queries whose scores are all equal are reported."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer

from skmtc import (
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PopularityRanker,
    SameArtistRanker,
    evaluate,
)
from skmtc._table.queries import Songs
from skmtc.rankers.scoring._ties import scores_are_equal, tie_popularity, tie_ranks

X = pd.DataFrame(
    {
        "user": ["ana"] * 3 + ["bob"] * 3 + ["eve"] * 2,
        "playlist": ["gym"] * 3 + ["run"] * 3 + ["tea"] * 2,
        "song": ["s1", "s2", "s4", "s3", "s4", "s5", "s4", "s5"],
        "artist": ["a", "b", "c", "a", "c", "c", "c", "c"],
        "x": [1.0, 2.0, 4.0, 3.0, 4.0, 5.0, 4.0, 5.0],
    }
)
BY_POPULARITY = ["s4", "s5", "s1", "s2", "s3"]
# Penalties that leave no weight: what a default may do to a table it was not made for.
DEAF = MultitaskPlaylistRanker(
    song_features=make_column_transformer(("passthrough", ["x"])), shared_l1=1e6, user_l2=1e9
)


def _ask(ranker, n=5, user="somebody new", **options):
    return ranker.recommend(pd.DataFrame({"user": [user]}), n_recommendations=n, **options)


def test_a_query_with_equal_scores_gets_popular_songs_and_a_word():
    ranker = DEAF.fit(X)
    with pytest.warns(
        UserWarning, match=r"same score for all 5 songs in 1 of 1 queries.*shared_l1"
    ):
        songs, scores = _ask(ranker)
    assert songs[0].tolist() == BY_POPULARITY
    assert np.ptp(scores) == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_ties_at_the_end_of_the_list_go_to_popular_songs(n):
    with pytest.warns(UserWarning, match="ordered by popularity"):
        assert _ask(DEAF.fit(X), n)[0][0].tolist() == BY_POPULARITY[:n]


def test_every_ranker_breaks_ties_by_popularity():
    # Ana has the artists a, b and c; the songs of d and e have no score.
    others = X.assign(artist=["a", "b", "c", "d", "c", "e", "c", "e"])
    songs, scores = _ask(SameArtistRanker().fit(others), user="ana")
    assert songs[0].tolist() == ["s4", "s1", "s2", "s5", "s3"]  # s5 is more popular than s3
    assert scores[0, 3] == scores[0, 4] == 0


def test_songs_that_are_named_are_in_the_same_order():
    with pytest.warns(UserWarning, match="same score for all 3 songs"):
        songs, _ = _ask(DEAF.fit(X), 3, candidates=["s1", "s5", "s4"])
    assert songs[0].tolist() == ["s4", "s5", "s1"]


def test_new_songs_are_as_popular_as_their_artists():
    new = pd.DataFrame({"song": ["n1", "n2", "n3", "n4"], "artist": ["a", None, "c", "z"]})
    with pytest.warns(UserWarning, match="same score for all 4 songs"):
        songs, _ = _ask(DEAF.fit(X), 4, candidates=new.assign(x=1.0))
    assert songs[0].tolist() == ["n3", "n1", "n2", "n4"]


def test_metrics_warn_too():
    ranker, test = DEAF.fit(X), X.iloc[:3].assign(user="new", playlist="new")
    with pytest.warns(
        UserWarning, match=r"in 1 of 1 queries.*Metrics count them as ties"
    ) as reported:
        assert evaluate(ranker, test, "auc")["auc"].tolist() == [0.5]
    assert len(reported) == 1
    with pytest.warns(UserWarning, match="Metrics count them as ties"):
        assert ranker.score(test) == 0.5


def test_nothing_is_said_where_scores_differ():
    for ranker in (PopularityRanker(), OwnSongsRanker(), SameArtistRanker()):
        _ask(ranker.fit(X))
        ranker.score(X.assign(playlist="new " + X["playlist"]))


def test_what_is_added_tells_songs_apart():
    zeros, songs = np.zeros((2, 3)), np.ones((4, 3))
    assert scores_are_equal(zeros, songs).tolist() == [True, True]
    part = csr_array(np.array([[0.0, 0, 0, 0], [0, 1, 0, 0]]))
    assert scores_are_equal(zeros, songs, lambda rows: [part[rows]]).tolist() == [True, False]


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_equal_scores_are_found(convert):
    rng = np.random.default_rng(0)
    songs = rng.normal(size=(400, 4))
    songs[:, 3] = 1.0
    queries = np.array([[0, 0, 0, 0.0], [0, 0, 0, 2.0], [1, 0, 0, 0], [0, 0, 1e-9, 1.0]])
    assert scores_are_equal(convert(queries), convert(songs)).tolist() == [True, True, False, False]
    # One song that differs, where no sample of songs would find it.
    songs[:, 2], songs[201, 2] = 0.0, 1.0
    queries = np.array([[0, 0, 1.0, 1.0]])
    assert not scores_are_equal(convert(queries), convert(songs)).any()
    assert not scores_are_equal(convert(queries), convert(songs[:1])).any()


def test_popularity_and_ranks():
    songs = Songs(np.array(list("abc")), np.array([1, -1, 0]), pd.DataFrame(index=[0]))
    popularity = tie_popularity(np.array([3, 5]), None, songs, None)
    assert popularity.tolist() == [5, 0, 3]
    assert tie_ranks(popularity).tolist() == [0, 2, 1]
    assert tie_ranks([1, 2, 1, 2]).tolist() == [2, 0, 3, 1]
