"""guess_song_roles."""

import numpy as np
import pandas as pd
import pytest

from skmtc.datasets import make_playlists
from skmtc.features import SongRoles, guess_song_roles


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "user": ["u", "u", "v"],
            "playlist": ["p", "p", "q"],
            "song": ["s1", "s2", "s1"],
            "artist_name": ["A", "B", "A"],
            "artist_id": [1, 2, 1],
            "genre": [["rock"], ["pop", "rock"], ["rock"]],
            "key": [0, 11, 0],
            "year": [2009, 1999, 2009],
            "live": [True, False, True],
            "title": ["Go", "Stop", "Go"],
            "album_id": [5, 6, 5],
            "loudness": [np.nan] * 3,
            "age": [31, 31, 25],
        }
    )


def test_roles_of_a_membership_table(table):
    roles = guess_song_roles(table)
    assert roles == SongRoles(
        song="song",
        artist="artist_id",
        genre="genre",
        key="key",
        numeric=["year", "live"],
        left_out={
            "user": "has the name of an id",
            "playlist": "has the name of an id",
            "artist_name": "has the name of an id",
            "title": "has no numbers and no telling name",
            "album_id": "has the name of an id",
            "loudness": "has no values",
            "age": "differs between rows of one song",
        },
    )


def test_every_column_is_used_or_left_out(table):
    roles = guess_song_roles(table)
    assert sorted([*roles.used, *roles.left_out]) == sorted(table.columns)


def test_given_roles_stay_as_they_are(table):
    roles = guess_song_roles(table, artist="artist_name", genre=None, key=None, numeric="year")
    assert (roles.artist, roles.genre, roles.key) == ("artist_name", None, None)
    assert roles.numeric == ["year"]
    assert roles.left_out["live"] == "was not chosen"
    assert guess_song_roles(table, key=None).numeric == ["key", "year", "live"]
    assert guess_song_roles(table, artist=3).artist == "artist_name"


def test_the_generated_table():
    roles = guess_song_roles(make_playlists(random_state=0))
    assert (roles.song, roles.artist) == ("song", "artist")
    assert {"year", "x0", "x1"} <= set(roles.numeric)
    assert {"user", "playlist", "age", "country"} <= set(roles.left_out)


def test_names_alone(table):
    roles = guess_song_roles(["user", "song", "genre", "year", "tempo"])
    assert (roles.song, roles.artist, roles.genre) == ("song", None, "genre")
    assert roles.numeric == ["year", "tempo"]
    assert roles.left_out == {"user": "has the name of an id"}


@pytest.mark.parametrize("columns", ["table", "names"])
def test_a_column_that_is_not_there(table, columns):
    with pytest.raises(ValueError, match="got 'style'"):
        guess_song_roles(table if columns == "table" else list(table), genre="style")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"numeric": ["title"]}, "role `numeric` must have numbers; got 'title'"),
        ({"key": "title"}, "must have numbers; got 'title'"),
        ({"genre": "tempo"}, "role `genre` must have names, codes .* got 'tempo' of type float64"),
        ({"genre": "released"}, "role `genre` must have names, codes .* got 'released'"),
    ],
)
def test_columns_of_the_wrong_type(table, wrong, message):
    table["tempo"] = [99.5, 120.1, 99.5]
    table["released"] = pd.Timestamp("2020-01-01")
    with pytest.raises(TypeError, match=message):
        guess_song_roles(table, **wrong)


def test_columns_must_be_named(table):
    with pytest.raises(TypeError, match="named by strings"):
        guess_song_roles(table.set_axis(range(table.shape[1]), axis=1))
