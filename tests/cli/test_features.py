"""Features for any table."""

import pandas as pd
import pytest

from skmtc.cli._features import Features
from skmtc.cli._table import Table

X = pd.DataFrame(
    {
        "user": ["ana", "ana", "bob", "bob"],
        "playlist": [1, 1, 2, 2],
        "song": ["s1", "s2", "s1", "s3"],
        "year": [1999, 2001, 1999, 2003],
        "title": ["a", "b", "a", "c"],
        "age": [30, 30, 40, 40],
        "position": [1, 2, 2, 1],
    }
)


def test_what_is_used_and_what_is_not_is_told():
    features = Features.of(Table(X, "X"))
    told = features.told()
    assert told.startswith("songs are described by year; users by age; not used: title (")
    assert "position (differs between rows of one song)" in told


def test_ids_are_never_features():
    # Each song is in one playlist, whose number would describe it.
    lonely = X.iloc[1:3][["user", "playlist", "song"]]
    features = Features.of(Table(lonely, "X"))
    assert features.songs.numeric == []
    assert not features.describes_songs
    assert [name for name, _, _ in features.song_features().transformers] == ["popularity", "song"]
    with pytest.raises(ValueError, match="New songs need columns that describe them"):
        features.song_features(new_songs=True)


def test_without_owners_playlists_are_described():
    features = Features.of(Table(X.drop(columns="user"), "X", user=None))
    assert features.users.numeric == ["age"]


def test_the_code_makes_the_same_transformers():
    from skmtc import features as names

    features = Features.of(Table(X, "X"), seed=3)
    for new_songs in (False, True):
        made = eval(features.song_code(new_songs=new_songs), vars(names))
        assert str(made) == str(features.song_features(new_songs=new_songs))
    assert str(eval(features.user_code(), vars(names))) == str(features.user_features())
    assert Features.of(Table(X.drop(columns=["age", "position"]), "X")).user_code() is None
