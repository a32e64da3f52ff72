"""guess_playlist_roles."""

import numpy as np
import pandas as pd
import pytest

from skmtc.features import PlaylistRoles, guess_playlist_roles

N = 300
WORDS = ["run", "sleep", "party", "love", "rain", "summer", "gym", "work", "rock", "soul"]


@pytest.fixture
def X():
    """Playlists of 75 users, with everything that a table may tell of them."""
    rng = np.random.default_rng(0)
    playlist = np.repeat(np.arange(N), 4)
    song = rng.integers(0, 90, len(playlist))
    titles = [" ".join(rng.choice(WORDS, 2, replace=False)) + f" {i % 120}" for i in range(N)]
    return pd.DataFrame(
        {
            "user": playlist // 4,
            "playlist": playlist,
            "song": song,
            "track_title": [f"the song of {s}" for s in song],
            "title": [titles[i] for i in playlist],
            "words": [titles[i].replace(" ", "|") for i in playlist],
            "mood": [f"m{i % 4}" for i in playlist],
            "followers": playlist % 17,
            "created_at": pd.Timestamp("2011-01-01") + pd.to_timedelta(playlist, "D"),
            "country": [f"c{i // 4 % 7}" for i in playlist],
            "comment": [f"row {i} of many" for i in range(len(playlist))],
        }
    )


def test_texts_of_playlists_are_used(X):
    roles = guess_playlist_roles(X)
    assert roles.text == ["title", "words"]
    assert roles.left_out["mood"] == "has few values; pass text=['mood'] to use it"
    assert roles.left_out["followers"] == "has no words"
    assert roles.left_out["created_at"].startswith("has dates of playlists")
    assert roles.left_out["track_title"] == "describes songs"
    assert roles.left_out["country"] == "describes users"
    assert roles.left_out["comment"] == "differs between rows of one playlist"


def test_every_column_is_used_or_has_a_reason(X):
    roles = guess_playlist_roles(X)
    assert set(roles.used) | set(roles.left_out) == set(X.columns)
    assert not set(roles.used) & set(roles.left_out)
    assert all(roles.left_out.values())


def test_the_order_of_rows_changes_nothing(X):
    shuffled = X.sample(frac=1, random_state=1)
    assert guess_playlist_roles(shuffled) == guess_playlist_roles(X)


def test_without_users_playlists_have_titles_all_the_same(X):
    table = X.drop(columns=["user", "country"])
    assert guess_playlist_roles(table, user=None).text == ["title", "words"]
    # Each user has one playlist: what describes users describes playlists.
    alone = table.assign(user=table["playlist"])
    assert guess_playlist_roles(alone).text == ["title", "words"]


def test_a_name_of_playlists_is_a_text_and_no_id(X):
    named = X[["user", "playlist", "song", "title"]].rename(columns={"title": "playlist_name"})
    assert guess_playlist_roles(named).text == ["playlist_name"]
    # It may be the only id that there is.
    only = named.drop(columns="playlist")
    roles = guess_playlist_roles(only, playlist="playlist_name")
    assert roles.text == []


def test_ids_may_have_any_name(X):
    names = {"user": "who", "playlist": "list", "song": "what"}
    roles = guess_playlist_roles(X.rename(columns=names), **names)
    assert roles.text == ["title", "words"]


def test_a_copy_is_left_out(X):
    roles = guess_playlist_roles(X.assign(title_again=X["title"]))
    assert roles.text == ["title", "words"]
    assert roles.left_out["title_again"] == "is the same as column 'title'"


def test_lists_of_words_are_a_text(X):
    lists = X.assign(title=X["title"].str.split())[["user", "playlist", "song", "title"]]
    assert guess_playlist_roles(lists).text == ["title"]


def test_a_table_of_playlists():
    playlists = pd.DataFrame({"playlist": range(30), "title": [f"my mix {i}" for i in range(30)]})
    assert guess_playlist_roles(playlists).text == ["title"]


def test_names_alone():
    roles = guess_playlist_roles(["playlist", "playlist_title", "title", "age"])
    assert roles.text == ["playlist_title"]
    assert roles.left_out["title"] == "has no name of a text of playlists"


def test_named_columns_are_used(X):
    roles = guess_playlist_roles(X, text=["mood"])
    assert roles.text == ["mood"]
    assert roles.left_out["title"] == "was not chosen"
    assert guess_playlist_roles(X, text=None).text == []
    with pytest.raises(ValueError, match="role `text` must be in the table; got 'titel'"):
        guess_playlist_roles(X, text="titel")


def test_roles_are_shown_as_code(X):
    roles = guess_playlist_roles(X)
    assert eval(repr(roles), {"PlaylistRoles": PlaylistRoles}) == roles
    assert str(roles).startswith("text: title, words\nleft out:\n  user: has the name of an id")
