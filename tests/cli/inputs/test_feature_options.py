"""Features for any table."""

import pandas as pd
import pytest

from skmtc.cli.inputs._feature_options import IMPORTED, Features
from skmtc.cli.inputs._read_table import Table

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


def test_what_is_used_and_what_is_not_is_reported():
    features = Features.of(Table(X, "X"))
    reported = features.describe()
    assert reported.startswith("songs are described by year; users by age; not used: title (")
    assert "title (is free text; pass text=['title'] to use it)" in reported
    assert "position (differs between rows of one song; pass numeric=['position'] to" in reported
    assert reported.count("position (") == reported.count("title (") == 1
    assert "name of an id" not in reported


def test_all_roles_of_songs_are_reported_and_written_as_code():
    table = pd.concat([X] * 5, ignore_index=True)
    table["playlist"], table["song"] = range(20), [f"s{i % 10}" for i in range(20)]
    songs = pd.DataFrame({"song": [f"s{i}" for i in range(10)], "album": [*range(5)] * 2})
    songs["genres"] = ["rock|pop", "pop", "rock|jazz", "jazz|pop", "rock"] * 2
    songs["released"] = [f"2011-05-{i + 10}" for i in range(10)]
    for i in range(16):
        songs[f"e{i}"] = [(i + 2) ** j % 31 for j in range(10)]
    table = table[["user", "playlist", "song"]].merge(songs, on="song")
    features = Features.of(Table(table, "X"))
    assert features.describes_songs
    assert features.describe() == "songs are described by released, genres, album, e0 … e15"
    assert features.code(new_songs=True)["song_features"] == (
        "make_song_features(SongRoles(song='song', date=['released'], tags=['genres'], "
        f"identity=['album'], vector={[f'e{i}' for i in range(16)]}), "
        "new_songs=True, random_state=0)"
    )


def test_what_describes_playlists_is_left_out_for_its_own_reason():
    table = X.drop(columns="user").assign(title=["my mix", "my mix", "run", "run"])
    reported = Features.of(Table(table, "X", user=None)).describe()
    assert "users by age; playlists by title" in reported
    assert "title (" not in reported
    reported = Features.of(Table(table.assign(user=1), "X")).describe()
    assert "playlists by title" in reported
    assert reported.count("describes playlists") == 1  # age, which users do not have


def test_ids_of_any_name_are_known():
    names = {"user": "who", "playlist": "list", "song": "what"}
    reported = Features.of(Table(X.rename(columns=names), "X", **names)).describe()
    assert reported == Features.of(Table(X, "X")).describe()


def test_ids_are_never_features():
    # Each song is in one playlist, whose number would describe it.
    lonely = X.iloc[1:3][["user", "playlist", "song"]]
    features = Features.of(Table(lonely, "X"))
    assert features.songs.numeric == []
    assert not features.describes_songs
    songs = features.transformers()["song_features"]
    assert [name for name, _, _ in songs.transformers] == ["popularity", "song"]
    with pytest.raises(ValueError, match="New songs need columns that describe them"):
        features.transformers(new_songs=True)


def test_without_owners_playlists_are_described():
    features = Features.of(Table(X.drop(columns="user"), "X", user=None))
    assert features.users.numeric == ["age"]


def test_the_code_makes_the_same_transformers():
    from skmtc import features as names

    table = X.assign(playlist_title=["my mix", "my mix", "run", "run"])
    features = Features.of(Table(table, "X"), seed=3)
    for new_songs in (False, True):
        made = features.transformers(new_songs=new_songs)
        code = features.code(new_songs=new_songs)
        assert set(code) == set(made) == set(IMPORTED)
        for parameter, expression in code.items():
            imported = {name: getattr(names, name) for name in IMPORTED[parameter]}
            assert str(eval(expression, imported)) == str(made[parameter])
    plain = Features.of(Table(X.drop(columns=["age", "position"]), "X"))
    assert list(plain.code()) == ["song_features"]
    assert (
        plain.transformers()["user_features"] is plain.transformers()["playlist_features"] is None
    )
