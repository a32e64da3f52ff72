"""New songs and users reach the transformers in the form in which fit showed the known ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from skmtc import MultitaskPlaylistRanker, RidgeRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_user_features

X = make_playlists(6, 18, 40, 9, n_features=2, random_state=0)[
    ["user", "playlist", "song", "x0", "x1", "age"]
]


class ColumnsSeen(TransformerMixin, BaseEstimator):
    """Passes two columns, and refuses rows with other columns than in fit."""

    def __init__(self, chosen):
        self.chosen = chosen

    def fit(self, X, _membership=None):
        """Remember the columns."""
        self.columns_ = list(X.columns)
        return self

    def transform(self, X):
        """Return the chosen columns of rows like those of fit."""
        assert list(X.columns) == self.columns_
        return X[self.chosen].to_numpy()


@pytest.mark.parametrize("ids", [("user", "playlist", "song"), (0, 1, 2)], ids=["names", "places"])
def test_transformers_see_the_same_columns_in_fit_and_for_the_new(ids):
    ranker = RidgeRanker(
        song_features=ColumnsSeen(["x0", "x1"]),
        user_features=ColumnsSeen(["age"]),
        user=ids[0],
        playlist=ids[1],
        song=ids[2],
    ).fit(X)
    assert ranker.song_features_.columns_ == ["song", "x0", "x1", "age"]
    assert ranker.user_features_.columns_ == ["user", "x0", "x1", "age"]
    new = X.assign(**{column: "new " + X[column] for column in ("user", "playlist", "song")})
    assert np.isfinite(ranker.predict(new)).all()


def test_a_new_user_may_leave_out_attributes():
    X = make_playlists(random_state=0)
    columns = ["user", "playlist", "song", "x0", "x1", "age", "country"]
    ranker = MultitaskPlaylistRanker(user_features=make_user_features(X[columns])).fit(X[columns])
    some = ranker.query_vectors(pd.DataFrame({"user": ["new"], "country": ["DE"]}))
    full = ranker.query_vectors(pd.DataFrame({"user": ["new"], "country": ["DE"], "age": [np.nan]}))
    np.testing.assert_allclose(some, full)
    assert not np.allclose(some, ranker.shared_coef_)
    # What was no column of the table says nothing.
    other = ranker.query_vectors(pd.DataFrame({"user": ["new"], "note": ["x"]}))
    np.testing.assert_allclose(other, [ranker.shared_coef_])


@pytest.mark.parametrize("Ranker", [MultitaskPlaylistRanker, RidgeRanker])
def test_new_users_without_any_attribute_have_the_shared_weights(Ranker):
    ranker = Ranker(user_features="passthrough").fit(X)
    rows = X.head(2).assign(user=["new 1", "new 2"], playlist=["p 1", "p 2"], age=[30.0, np.nan])
    reported, untold = ranker.query_vectors(rows)
    np.testing.assert_array_equal(untold, ranker.shared_coef_)
    assert (reported != untold).any()
    assert np.isfinite(ranker.predict(rows)).all()
