"""Features made by any transformer."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from skmtc import (
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PairwiseRanker,
    RidgeRanker,
)
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.model_selection import ColdPlaylistSplit


@pytest.fixture(scope="module")
def X():
    table = make_playlists(n_users=6, n_playlists=20, n_songs=40, random_state=0)
    return table.drop(columns="year")  # in the thousands, where other features are around 1


def _columns(step, columns):
    return ColumnTransformer([("chosen", step, columns)])


def _fit(X, **parameters):
    return MultitaskPlaylistRanker(max_iter=500, tol=0.05, **parameters).fit(X)


def test_none_takes_the_numeric_columns_that_describe_songs(X):
    ranker = _fit(X)
    names = [*(f"x{j}" for j in range(8)), "constant"]
    assert ranker.feature_names_out_.tolist() == names
    first = X.drop_duplicates("song").sort_values("song")
    np.testing.assert_allclose(ranker.song_vectors_[:, :8], first[names[:-1]])
    assert (ranker.song_vectors_[:, -1] == 1).all()


def test_a_transformer_sees_one_row_per_song_and_positions(X):
    class Recorder(TransformerMixin, BaseEstimator):
        def fit(self, songs, membership):
            Recorder.songs, Recorder.membership = songs, membership
            return self

        def transform(self, songs):
            return songs[["x0", "x1"]].to_numpy()

    _fit(X, song_features=Recorder())
    assert Recorder.songs["song"].tolist() == sorted(X["song"].unique())
    assert not {"user", "playlist"} & set(Recorder.songs.columns)
    positions = X.assign(position=X.groupby("playlist").cumcount() + 1)
    expected = positions.pivot_table(index="song", columns="playlist", values="position")
    np.testing.assert_array_equal(Recorder.membership.toarray(), expected.fillna(0))


def test_sparse_and_pandas_output_work(X):
    dense = _fit(X, song_features=_columns(StandardScaler(), ["x0", "x1"]))
    framed = _columns(StandardScaler(), ["x0", "x1"]).set_output(transform="pandas")
    sparse = _columns(FunctionTransformer(csr_matrix), ["x0", "x1"])
    np.testing.assert_allclose(
        _fit(X, song_features=framed).predict(X), dense.predict(X), rtol=1e-6
    )
    ranker = _fit(X, song_features=sparse)
    assert np.isfinite(ranker.predict(X)).all()
    new = X.assign(song=X["song"] + "b")
    np.testing.assert_allclose(ranker.predict(new), ranker.predict(X))


def test_missing_values_are_the_transformers_to_fill(X):
    holes = X.copy()
    holes.loc[holes["song"] == holes["song"].iloc[0], "x1"] = np.nan
    _fit(holes, song_features=_columns(SimpleImputer(), ["x0", "x1"]))
    n_songs = X["song"].nunique()
    with pytest.raises(ValueError, match=rf"inf in 1 of {n_songs} rows of feature 'x1'.*Impute"):
        _fit(holes)
    ranker = _fit(X)
    with pytest.raises(ValueError, match="feature 'x2'"):
        ranker.predict(X.assign(song="new", x2=np.inf))


def test_array_columns_keep_their_positions(X):
    array = X[["playlist", "song", "x0", "x1"]].apply(lambda c: pd.factorize(c)[0])
    array = array.to_numpy(dtype=float)
    chosen = _columns(StandardScaler(), [2])
    ranker = _fit(array, user=None, playlist=0, song=1, song_features=chosen)
    assert ranker.song_vectors_.shape[1] == 2
    np.testing.assert_allclose(ranker.song_vectors_[:, 0].mean(), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        (
            {},
            {"song_features": _columns(StandardScaler(), ["genre", "x0"])},
            "could not convert string",
        ),
        (
            {"song": lambda x: pd.factorize(x["song"])[0]},
            {"song_features": _columns("passthrough", ["song", "x0"])},
            "id column 'song' must not be a feature; got it as feature 'chosen__song'",
        ),
        ({}, {"song_features": "passthrough"}, r"numeric columns; got \['artist', .*'country'\]"),
        ({}, {"song_features": _columns("passthrough", ["artist"])}, "Features must be numbers"),
        ({"x1": 1e30}, {}, "got values up to 1.0e\\+30 in feature 'x1'. Rescale"),
        (
            {},
            {"song_features": _columns(OneHotEncoder(), ["genre", "mood"])},
            r"must choose among \['song', 'artist', .*; got \['mood'\]",
        ),
        (
            {},
            {"user_features": _columns(OneHotEncoder(), "playlist")},
            r"must choose among \['user', .*; got \['playlist'\]. Choose other columns",
        ),
    ],
)
def test_bad_features_are_reported(X, change, parameters, message):
    with pytest.raises(ValueError, match=message):
        _fit(X.assign(**change), **parameters)


def test_auto_makes_the_features_of_make_song_features(X):
    for Ranker in (MultitaskPlaylistRanker, RidgeRanker, PairwiseRanker):
        auto = Ranker(song_features="auto", random_state=0).fit(X)
        made = Ranker(song_features=make_song_features(X, random_state=0), random_state=0).fit(X)
        assert auto.feature_names_out_.tolist() == made.feature_names_out_.tolist()
        assert "tags__genre_rock" in auto.feature_names_out_
        np.testing.assert_array_equal(auto.predict(X), made.predict(X))


def test_auto_tolerates_a_few_songs_with_several_values(X):
    artist = X["artist"].copy()
    artist.iloc[np.flatnonzero(X["song"] == X["song"].mode()[0])[1]] = "Somebody else"
    for Ranker in (MultitaskPlaylistRanker, RidgeRanker):
        with pytest.warns(UserWarning, match=r"several in 'artist' \(1 songs\)"):
            ranker = Ranker(song_features="auto", random_state=0).fit(X.assign(artist=artist))
        expected = Ranker(song_features="auto", random_state=0).fit(X)
        np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


def test_auto_guesses_by_the_training_rows_alone(X):
    new = X["song"].isin(X["song"].unique()[::5])
    known = X[~new]
    auto = RidgeRanker(song_features="auto", random_state=0).fit(known)
    changed = pd.concat([known, X[new].assign(genre="unheard", artist="unheard")])
    again = clone(auto).fit(changed.iloc[: len(known)])
    np.testing.assert_array_equal(auto.predict(X), again.predict(X))


def test_auto_uses_what_is_known_of_users_and_playlists(X):
    titles = {p: f"mix of {u}" for p, u in zip(X["playlist"], X["user"], strict=True)}
    table = X.assign(title=[f"{titles[p]} {i % 3}" for i, p in enumerate(X["playlist"])])
    table["title"] = table.groupby("playlist")["title"].transform("first")
    ranker = _fit(table, song_features="auto", user_features="auto", playlist_features="auto")
    assert "numeric__age" in ranker.user_features_.get_feature_names_out()
    assert "text__title_mix" in ranker.playlist_features_.get_feature_names_out()
    nothing = _fit(X[["user", "playlist", "song"]], user_features="auto", playlist_features="auto")
    assert nothing.user_features_ is nothing.playlist_features_ is None


def test_ids_alone_are_enough(X):
    ids = X[["user", "playlist", "song"]]
    ranker = _fit(ids, random_state=0)
    parts = {name.split("__")[0] for name in ranker.feature_names_out_[:-1]}
    assert parts == {"popularity", "song"}
    np.testing.assert_array_equal(
        ranker.predict(X), _fit(ids, song_features="auto", random_state=0).predict(X)
    )


def test_columns_of_arrays_have_no_roles(X):
    codes = X[["user", "playlist", "song"]].apply(lambda column: pd.factorize(column)[0])
    array = np.column_stack([codes, X[["x0", "x1"]]])
    positions = {"user": 0, "playlist": 1, "song": 2}
    auto = _fit(array, song_features="auto", user_features="auto", **positions)
    np.testing.assert_array_equal(auto.predict(array), _fit(array, **positions).predict(array))
    assert auto.user_features_ is None
    with pytest.raises(ValueError, match=r"at least one numeric column.*pass a DataFrame"):
        _fit(codes.to_numpy(), **positions)


def test_a_content_model_gets_the_features_of_new_songs(X):
    ranker = MatrixFactorizationRanker(song_features="auto", content_model=Ridge()).fit(X)
    parts = {name.split("__")[0] for name in ranker.feature_names_out_}
    assert "artist" in parts
    assert not parts & {"song", "popularity"}


def test_auto_works_in_a_grid_search(X):
    search = GridSearchCV(
        MultitaskPlaylistRanker(song_features="auto", tol=0.05, random_state=0),
        {"user_l2": [0.1, 1.0], "song_features": ["auto", None]},
        cv=ColdPlaylistSplit(user_size=0.9, min_song_count=1, random_state=0),
    ).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_no_features_at_all_are_reported(X):
    ids = X[["user", "playlist", "song"]]
    with pytest.raises(ValueError, match="fit_intercept=False"):
        _fit(ids, song_features="passthrough", fit_intercept=False)
    with pytest.raises(TypeError, match="`song_features` must be a scikit-learn transformer"):
        _fit(ids, song_features="tempo")
    with pytest.raises(ValueError, match="one value per user; got none"):
        _fit(ids.assign(x=pd.factorize(ids["song"])[0] * 0.1), user_features="passthrough")


def test_rows_must_be_kept(X):
    half = FunctionTransformer(lambda x: np.ones((len(x) // 2, 1)))
    with pytest.raises(ValueError, match="one row per row"):
        _fit(X, song_features=half)


def _plain_table():
    return make_playlists(8, 30, 40, n_features=3, random_state=0).drop(columns=["age", "gender"])


def test_a_list_names_columns():
    X = _plain_table()
    ranker = RidgeRanker(song_features=["x0", "x2"]).fit(X)
    assert ranker.feature_names_out_.tolist() == ["x0", "x2", "constant"]
    for names, message in {
        ("x0", "tempo"): r"must name columns of the table; got \['tempo'\]",
        ("song",): r"must not name ids; got \['song'\]",
        ("genre",): r"must name numeric columns; got \['genre'\].*make_song_features",
    }.items():
        with pytest.raises(ValueError, match=message):
            RidgeRanker(song_features=list(names)).fit(X)


@pytest.mark.parametrize(
    "scaler", [StandardScaler(), make_pipeline(SimpleImputer(), MinMaxScaler())], ids=["one", "two"]
)
def test_a_scaler_gets_the_numeric_columns_of_songs(scaler):
    X = _plain_table()
    numbers = ["year", "x0", "x1", "x2"]
    chosen = make_column_transformer((scaler, numbers))
    expected = RidgeRanker(song_features=chosen).fit(X).predict(X)
    np.testing.assert_allclose(RidgeRanker(song_features=scaler).fit(X).predict(X), expected)
