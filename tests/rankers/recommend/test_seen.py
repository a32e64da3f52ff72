"""Songs already had: by the playlist, by the user, or counted for nothing."""

import pandas as pd
import pytest

from skmtc import OwnSongsRanker, PopularityRanker, evaluate
from skmtc.metrics import make_playlist_scorer, playlist_scoring
from skmtc.rankers.recommend._seen import seen_songs
from tests.tables import five_songs, new_songs

QUERIES = pd.DataFrame(
    {"user": ["ana", "ana", "eve", "new"], "playlist": ["run", "p1", "sun", "p2"]}
)


def seen_by(which):
    ranker = PopularityRanker().fit(five_songs())
    seen = seen_songs(ranker, ranker.reader.queries(QUERIES), which)
    return None if seen is None else [set(ranker.songs_[row]) for row in seen.toarray()]


def test_the_words():
    of_playlist = [{"s1"}, set(), {"s2"}, set()]
    assert seen_by(True) == seen_by("playlist") == of_playlist
    assert seen_by("user") == [{"s1", "s3"}, {"s1", "s3"}, {"s2", "s4", "s5"}, set()]
    assert seen_by(False) is None
    with pytest.raises(ValueError, match=r"`exclude_seen` must be True or 'playlist'.*got 'all'"):
        seen_by("all")


@pytest.mark.parametrize("which", [True, "playlist", "user", False])
def test_recommend_leaves_out_what_is_seen(which):
    ranker = OwnSongsRanker().fit(five_songs())
    n_left = {"user": 2}.get(which, 4)
    songs, _ = ranker.recommend(QUERIES, n_recommendations=n_left, exclude_seen=which)
    seen = seen_by(which) or [set()] * len(QUERIES)
    for given, had in zip(songs, seen, strict=True):
        assert not had & set(given)
    if which is not False:
        with pytest.raises(ValueError, match="at most the number of candidate songs"):
            ranker.recommend(QUERIES, n_recommendations=5, exclude_seen=which)


def test_a_new_playlist_may_repeat_by_default():
    ranker = OwnSongsRanker().fit(five_songs())
    songs, _ = ranker.recommend(pd.DataFrame({"user": ["ana"]}), n_recommendations=2)
    assert songs.tolist() == [["s1", "s3"]]


def test_new_candidates_are_never_seen():
    ranker = PopularityRanker().fit(five_songs())
    both = pd.concat([new_songs(), five_songs()[["song", "artist"]].drop_duplicates()])
    songs, _ = ranker.recommend(
        QUERIES.iloc[:1], n_recommendations=8, candidates=both, exclude_seen="user"
    )
    assert set(songs[0]) == {"s2", "s4", "s5", "n1", "n2", "n3", "n4", "n5"}


def test_evaluation_uses_the_same_words():
    ranker = PopularityRanker().fit(five_songs())
    test = pd.DataFrame({"user": "ana", "playlist": "p1", "song": ["s1", "s4"]}).merge(
        five_songs()[["song", "artist"]].drop_duplicates()
    )
    # Popularity of s1, s3 and s4 is 2, of s2 and s5 it is 1: s1 and s4 are level with s3.
    assert evaluate(ranker, test, "auc")["auc"].tolist() == [5 / 6]
    # Without the songs that ana has, s4 is to be found among s2 and s5.
    of_user = evaluate(ranker, test, "auc", exclude_seen="user")
    assert of_user["size"].tolist() == [1]
    assert of_user["auc"].tolist() == [1.0]
    scorer = make_playlist_scorer("auc", exclude_seen="user")
    assert scorer(ranker, test) == 1.0
    assert repr(scorer) == "make_playlist_scorer('auc', exclude_seen='user')"
    assert playlist_scoring("auc", exclude_seen="user")(ranker, test) == {"auc": 1.0}


def test_songs_of_a_known_playlist_may_be_candidates_again():
    ranker = PopularityRanker().fit(five_songs())
    test = pd.DataFrame({"user": ["bob"], "playlist": ["tea"], "song": ["s2"], "artist": ["a1"]})
    # Left are s1 above and s5 level; with the playlist's own songs, s3 and s4 are above, too.
    assert evaluate(ranker, test, "auc")["auc"].tolist() == [0.25]
    with_seen = evaluate(ranker, test, "auc", exclude_seen=False)
    assert with_seen["auc"].tolist() == [0.125]
