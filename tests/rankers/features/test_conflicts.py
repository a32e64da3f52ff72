"""Songs with several values in a column, or infinite ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

from skmtc import RidgeRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features, make_user_features

X = make_playlists(8, 30, 40, n_features=3, random_state=0).reset_index(drop=True)
CHOSEN = make_column_transformer(
    ("passthrough", ["x0", "x1"]), (OneHotEncoder(handle_unknown="ignore"), ["genre"])
)
POPULAR = X["song"].mode()[0]


def test_songs_with_several_values_are_counted():
    wrong = X.copy()
    rows = wrong.index[wrong["song"] == POPULAR]
    wrong.loc[rows[1], ["genre", "x0"]] = ["none of them", 9.0]
    with pytest.warns(UserWarning, match=r"several in 'x0' \(1 songs\), 'genre' \(1 songs\)\. The"):
        ranker = RidgeRanker(song_features=CHOSEN).fit(wrong)
    expected = RidgeRanker(song_features=CHOSEN).fit(X).predict(X)
    np.testing.assert_allclose(ranker.predict(X), expected)  # the first row counts


def test_a_missing_value_is_no_other_value_and_unused_columns_may_differ():
    other = X.assign(mood=np.arange(len(X)))
    other.loc[other.index[other["song"] == POPULAR][1], "x1"] = np.nan
    RidgeRanker(song_features=CHOSEN).fit(other)


def test_infinite_values_are_counted_and_count_as_missing():
    is_popular = X["song"] == POPULAR
    features = make_song_features(X, random_state=0)
    expected = RidgeRanker(song_features=features).fit(X.assign(x0=X["x0"].mask(is_popular)))
    with pytest.warns(UserWarning, match=r"infinite ones in 'x0' \(1 songs\)\. They count as miss"):
        ranker = RidgeRanker(song_features=features).fit(
            X.assign(x0=X["x0"].mask(is_popular, np.inf))
        )
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


def test_infinite_values_of_users_are_counted():
    wrong = X.assign(age=X["age"].astype(float).mask(X["user"] == X["user"].iloc[0], np.inf))
    features = make_user_features(wrong)
    with pytest.warns(UserWarning, match=r"Values of users .* infinite ones in 'age' \(1 users\)"):
        RidgeRanker(song_features=CHOSEN, user_features=features).fit(wrong)


def test_infinite_values_are_refused_where_a_list_names_their_column():
    wrong = X.assign(x0=X["x0"].mask(X["song"] == POPULAR, np.inf))
    with (
        pytest.warns(UserWarning, match="for other transformers, replace them by NaN"),
        pytest.raises(ValueError, match="Features must be finite; got NaN or inf in 1 of"),
    ):
        RidgeRanker(song_features=["x0", "x1"]).fit(wrong)


def test_lists_are_not_compared():
    tags = make_column_transformer(("drop", ["tags"]), ("passthrough", ["x0"]))
    table = X.assign(tags=pd.Series([[i] for i in range(len(X))]))
    RidgeRanker(song_features=tags).fit(table)


@pytest.mark.parametrize("features", [["x0", "x1"], ("x0",)])
def test_columns_named_in_a_list_are_compared(features):
    wrong = X.copy()
    wrong.loc[wrong.index[wrong["song"] == POPULAR][1], ["x0", "x2"]] = 9.0
    with pytest.warns(UserWarning, match=r"several in 'x0' \(1 songs\)\. The"):
        RidgeRanker(song_features=features).fit(wrong)
