"""Matching songs to the MSD."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import Bunch

from skmtc.datasets.reading._matching import add_genres, check_joinable, match_songs, name_key


@given(st.text(), st.text())
def test_keys_ignore_case_and_punctuation(artist, title):
    key = name_key(artist, title)
    assert key == name_key(f" {artist}!", f"({title})")
    if artist.isascii():
        assert key == name_key(artist.upper(), title)


@pytest.mark.parametrize("names", [(None, "x"), ("x", None), ("", "x"), ("?", "x"), (3, "x")])
def test_songs_without_names_have_no_key(names):
    assert name_key(*names) is None


def test_artist_and_title_are_not_mixed_up():
    assert name_key("ab", "c") != name_key("a", "bc")


def _msd():
    songs = pd.DataFrame(
        {
            "artist_name": ["Pulp", "Blur", "PULP", None],
            "title": ["Babies", "Tender", "babies", "x"],
        },
        index=pd.Index(["SO1", "SO2", "SO3", "SO4"], name="song"),
    )
    return Bunch(songs=songs)


def test_match_by_id():
    songs = pd.DataFrame(index=["SO2", "SO9"])
    assert match_songs(songs, _msd(), "id").tolist() == [1, -1]


def test_match_by_name_takes_the_first():
    songs = pd.DataFrame({"artist": ["pulp", "Blur", None], "title": ["BABIES", "Girls", "x"]})
    assert match_songs(songs, _msd(), "name").tolist() == [0, -1, -1]


def test_a_song_takes_the_genre_of_its_first_track():
    songs = pd.DataFrame({"track": ["TR1", "TR3"]}, index=pd.Index(["SO1", "SO3"], name="song"))
    tracks = pd.Series({"TR1": "SO1", "TR2": "SO1", "TR3": "SO3"})
    genres = pd.DataFrame(
        {"genre": ["Rock", "Jazz", "Pop"], "second_genre": ["Pop", None, None]},
        index=["TR2", "TR1", "TR9"],
        dtype=object,
    )
    joined = add_genres(songs, genres, tracks)
    assert joined["genre"].fillna("none").tolist() == ["Rock|Pop", "none"]
    assert joined["track"].tolist() == ["TR1", "TR3"]


def test_genres_need_the_msd():
    check_joinable(None, None)
    check_joinable("msd", "genres")
    with pytest.raises(ValueError, match=r"got msd=None"):
        check_joinable(None, "genres")
