"""Columns by name or position, in fit and in tables that lack some of them."""

import numpy as np
import pandas as pd
import pytest

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.rankers.features._columns import Columns

BY_POSITION = {"user": 0, "playlist": 1, "song": 2}


@pytest.fixture(scope="module")
def X():
    table = make_playlists(random_state=0)[["user", "playlist", "song", "x0", "x1", "age"]]
    ids = ["user", "playlist", "song"]
    return table.assign(**{c: pd.factorize(table[c])[0] for c in ids}).astype(float)


def test_takes_columns_by_name_or_position(X):
    names = Columns(["x1", "x0"]).fit(X)
    np.testing.assert_array_equal(names.transform(X), X[["x1", "x0"]])
    assert names.get_feature_names_out().tolist() == ["x1", "x0"]
    positions = Columns([4, 3]).fit(X.to_numpy())
    np.testing.assert_array_equal(positions.transform(X.to_numpy()), X[["x1", "x0"]])
    assert positions.get_feature_names_out().tolist() == ["x4", "x3"]
    with pytest.raises(ValueError, match=r"got one without \['x1'\]. Add"):
        names.transform(X.drop(columns="x1"))


@pytest.mark.parametrize("labels", [range(6), range(10, 16), ["f", "e", "d", "c", "b", "a"]])
def test_names_that_are_numbers_are_names(X, labels):
    expected = MultitaskPlaylistRanker(random_state=0).fit(X).predict(X)
    relabelled = X.set_axis(list(labels), axis=1)
    ranker = MultitaskPlaylistRanker(**BY_POSITION, random_state=0).fit(relabelled)
    np.testing.assert_array_equal(ranker.predict(relabelled), expected)
    by_name = dict(zip(BY_POSITION, labels, strict=False))
    ranker = MultitaskPlaylistRanker(**by_name, random_state=0).fit(relabelled)
    np.testing.assert_array_equal(ranker.predict(relabelled), expected)
    array = MultitaskPlaylistRanker(**BY_POSITION, random_state=0).fit(X.to_numpy())
    np.testing.assert_array_equal(array.predict(X.to_numpy()), expected)


def test_positions_count_in_the_table_of_fit(X):
    named = MultitaskPlaylistRanker(user_features="passthrough", random_state=0).fit(X)
    placed = MultitaskPlaylistRanker(
        **BY_POSITION, user_features="passthrough", random_state=0
    ).fit(X)
    # The first column of these is not the user, nor is the third the song.
    queries = pd.DataFrame({"age": [3.0, 30.0]})
    np.testing.assert_array_equal(placed.query_vectors(queries), named.query_vectors(queries))
    songs = pd.DataFrame({"song": [900.0, 901.0], "x0": [0.0, 1.0], "x1": [5.0, 6.0]})
    for ranker in (named, placed):
        recommended, _ = ranker.recommend(X[:1], n_recommendations=2, candidates=songs)
        assert set(recommended[0]) == {900.0, 901.0}
