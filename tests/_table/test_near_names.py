"""Columns that a table may lack, and names that are nearly right."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc._table.near_names import check_names
from skmtc.datasets import make_playlists
from skmtc.inspection import explain

X = make_playlists(12, 40, 60, random_state=0)
IDS = X[["user", "playlist", "song"]]
SONGS = make_column_transformer(
    (StandardScaler(), ["x0", "x1"]), (OneHotEncoder(handle_unknown="ignore"), ["genre"])
)
USERS = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["country"]))
RANKER = MultitaskPlaylistRanker(song_features=SONGS, user_features=USERS, tol=0.1)


@pytest.fixture(scope="module")
def ranker():
    return RANKER.fit(X)


def test_known_songs_need_their_ids_only(ranker):
    expected = ranker.predict(X)
    np.testing.assert_array_equal(ranker.predict(IDS), expected)
    np.testing.assert_array_equal(ranker.predict(IDS[["song", "playlist", "user"]]), expected)
    np.testing.assert_array_equal(ranker.predict(IDS.assign(mood="blue")), expected)
    assert ranker.score(IDS) == ranker.score(X)
    pd.testing.assert_frame_equal(explain(ranker, IDS.head(3)), explain(ranker, X.head(3)))


def test_new_songs_need_the_columns_that_are_used(ranker):
    new = X.assign(song="new " + X["song"])
    used = new[["user", "playlist", "song", "x0", "x1", "genre", "country"]]
    np.testing.assert_array_equal(ranker.predict(used), ranker.predict(new))
    with pytest.raises(ValueError, match=r"`song_features` was fitted on; .* without \['x1'\]"):
        ranker.predict(used.drop(columns="x1"))


def test_a_query_that_is_misspelt_is_no_new_user(ranker):
    for name, meant in {"usr": "user", "users": "user", "user_id": "user", "Song": "song"}.items():
        with pytest.raises(ValueError, match=f"got '{name}', which is nearly '{meant}'"):
            ranker.recommend(pd.DataFrame({name: ["user1"]}))
    with pytest.raises(ValueError, match=r"at least one column of the table of fit.*got \['who'\]"):
        ranker.recommend(pd.DataFrame({"who": ["user1"]}))
    with pytest.raises(ValueError, match="nearly 'country'"):
        ranker.query_vectors(pd.DataFrame({"user": ["nobody"], "country_": ["AU"]}))
    with pytest.raises(ValueError, match="got 'playlists', which is nearly 'playlist'"):
        ranker.predict(IDS.rename(columns={"playlist": "playlists"}))


def test_other_columns_of_a_query_are_no_mistake(ranker):
    query = pd.DataFrame({"user": [X["user"][0]], "city": ["Perth"]})
    songs, _ = ranker.recommend(query)
    np.testing.assert_array_equal(songs, ranker.recommend(query[["user"]])[0])


def test_where_ids_are_found_by_position_all_columns_are_needed():
    ranker = PopularityRanker(user=0, playlist=1, song=2, artist=None).fit(X)
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.predict(IDS)


def test_a_name_that_is_there_is_not_missing():
    check_names(["user", "users"], ["user", "song"])
    check_names(["x9", "user"], ["x1", "user"])
    with pytest.raises(ValueError, match="nearly 'user'"):
        check_names(["userId"], ["user", "song"])
