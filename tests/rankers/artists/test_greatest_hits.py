"""What SAGH and CAGH share: artists that are missing, unknown, or of a wrong type."""

import pandas as pd
import pytest
from tables import five_songs, new_songs, scores_of

from skmtc import CollocatedArtistRanker, SameArtistRanker

both = pytest.mark.parametrize("Ranker", [SameArtistRanker, CollocatedArtistRanker])


@both
def test_a_song_without_an_artist_scores_0(Ranker):
    X = five_songs()
    X.loc[X["song"] == "s3", "artist"] = None
    ranker = Ranker().fit(X)
    assert ranker.artist_of_song_.tolist() == [0, 0, -1, 1, 1]
    scores = scores_of(ranker, {"user": "bob"})  # with a3 only
    assert scores[2] == 0
    assert min(scores[3:]) > 0


@both
def test_without_artists_there_is_nothing_to_rank_by(Ranker):
    X = five_songs()
    with pytest.raises(ValueError, match=r"must have an artist column, 'singer'; got .* `artist=`"):
        Ranker(artist="singer").fit(X)
    with pytest.raises(ValueError, match="must have an artist column, None"):
        Ranker(artist=None).fit(X)
    with pytest.raises(ValueError, match="got no value in the artist column 'artist'"):
        Ranker().fit(X.assign(artist=None))
    with pytest.raises(ValueError, match="must have an artist column, 'artist'"):
        Ranker().fit(X).song_vectors(new_songs()[["song"]])


@both
def test_artists_are_of_one_type(Ranker):
    numbered = pd.DataFrame({"song": ["n1"], "artist": [1]})
    with pytest.raises(TypeError, match="artist ids must be of the same type as in fit"):
        Ranker().fit(five_songs()).song_vectors(numbered)


@both
@pytest.mark.parametrize("n_artists", [0, 2.5, "ten"])
def test_n_artists_is_checked(Ranker, n_artists):
    with pytest.raises(ValueError, match="`n_artists` must be an integer of 1 or more"):
        Ranker(n_artists=n_artists).fit(five_songs())


@both
def test_artists_as_popular_as_the_last_count_too(Ranker):
    ranker = Ranker(n_artists=1).fit(five_songs())
    assert ranker.popular_artists_.tolist() == ["a1", "a3"]
    assert Ranker(n_artists=3).fit(five_songs()).popular_artists_.tolist() == ["a1", "a2", "a3"]
    assert Ranker(n_artists=99).fit(five_songs()).popular_artists_.tolist() == ["a1", "a2", "a3"]
