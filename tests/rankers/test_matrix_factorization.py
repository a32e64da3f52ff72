"""Factors against those of `implicit`, and what stands in for the factors of the new."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from skmtc import MatrixFactorizationRanker
from skmtc.datasets import make_playlists
from skmtc.persistence import load, save

COLUMNS = [f"x{j}" for j in range(4)]
X = make_playlists(10, 40, 60, 12, n_features=4, random_state=0)[
    ["user", "playlist", "song", *COLUMNS, "country"]
]
IDS = X[["user", "playlist", "song"]]
FEATURES = make_column_transformer(("passthrough", COLUMNS))
COUNTRY = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["country"]))
SIZES = {"n_factors": 5, "n_iterations": 8, "confidence": 4.0, "factor_l2": 0.3, "random_state": 7}


def _fit(X=X, **parameters):
    return MatrixFactorizationRanker(**SIZES | parameters).fit(X)


def _implicit(rows):
    """Fit `implicit` by itself on counts of songs by users or playlists."""
    counts = pd.crosstab(X[rows], X["song"])
    model = AlternatingLeastSquares(
        factors=5, iterations=8, regularization=0.3, random_state=7, num_threads=1, use_gpu=False
    )
    confidence = csr_matrix(np.where(counts > 0, 1 + 4.0 * counts, 0))
    model.fit(confidence, show_progress=False)
    return model, counts


@pytest.fixture(autouse=True)
def one_blas_thread():
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.mark.parametrize("target", ["auto", "user"])
def test_scores_of_known_users_are_those_of_implicit(target):
    ranker = _fit(target=target)
    model, counts = _implicit("user")
    queries = pd.DataFrame({"user": counts.index})
    n_songs = counts.shape[1]
    songs, scores = ranker.recommend(queries, n_recommendations=n_songs)
    theirs, their_scores = model.recommend(
        np.arange(len(counts)), csr_matrix(counts), N=n_songs, filter_already_liked_items=False
    )
    np.testing.assert_allclose(scores, their_scores, rtol=1e-4, atol=1e-6)
    # The same songs at the same places; of songs whose scores differ by rounding, any may be first.
    ours = counts.columns.get_indexer(songs.ravel()).reshape(songs.shape)
    of_song = np.empty_like(their_scores)
    np.put_along_axis(of_song, theirs, their_scores, axis=1)
    in_our_order = np.take_along_axis(of_song, ours, axis=1)
    np.testing.assert_allclose(in_our_order, their_scores, rtol=1e-4, atol=1e-6)


def test_scores_of_known_playlists_are_those_of_implicit():
    ranker = _fit(target="playlist")
    model, counts = _implicit("playlist")
    np.testing.assert_array_equal(ranker.known_factors_["playlists"], model.user_factors)
    np.testing.assert_array_equal(ranker.known_factors_["songs"], model.item_factors)
    expected = model.user_factors @ model.item_factors.T
    rows = [counts.index.get_loc(p) for p in X["playlist"]]
    columns = [counts.columns.get_loc(s) for s in X["song"]]
    np.testing.assert_allclose(ranker.predict(X), expected[rows, columns], rtol=1e-4, atol=1e-6)


def test_factors_solve_the_weighted_least_squares():
    ranker = _fit(IDS, n_iterations=300)
    counts = pd.crosstab(X["user"], X["song"]).to_numpy()
    users, songs = ranker.known_factors_["users"], ranker.known_factors_["songs"]
    for song, count in zip(songs, counts.T, strict=True):
        weight = 1 + 4.0 * count
        gram = (users.T * weight) @ users + 0.3 * np.eye(5)
        expected = np.linalg.solve(gram, users.T @ (weight * (count > 0)))
        np.testing.assert_allclose(song, expected, atol=2e-3)


def test_factors_of_a_user_are_the_mean_of_those_of_the_playlists():
    ranker = _fit(target="playlist")
    user = ranker.users_[3]
    own = np.isin(ranker.playlists_, X.loc[X["user"] == user, "playlist"])
    expected = ranker.known_factors_["playlists"][own].mean(axis=0)
    np.testing.assert_allclose(
        ranker.query_vectors(pd.DataFrame({"user": [user]}))[0], expected, rtol=1e-5
    )


def test_new_users_have_mean_factors_of_similar_ones():
    ranker = _fit(user_features=COUNTRY, n_neighbors=1, content_model=None)
    users, country = ranker.known_factors_["users"], X["country"].iloc[0]
    neighbours = np.isin(ranker.users_, X.loc[X["country"] == country, "user"])
    queries = pd.DataFrame({"user": ["nobody", "no one"], "country": [country, "nowhere"]})
    similar, unknown = ranker.query_vectors(queries)
    np.testing.assert_allclose(similar, users[neighbours].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(unknown, users.mean(axis=0), rtol=1e-5)


def test_new_songs_have_the_factors_that_the_content_model_predicts():
    ranker = _fit(content_model=LinearRegression())
    known = X.drop_duplicates("song").set_index("song").loc[ranker.songs_, COLUMNS].to_numpy()
    expected = LinearRegression().fit(known, ranker.new_factors_["songs"])
    new = X.iloc[:6][COLUMNS].assign(song=list("abcdef"))
    vectors = ranker.song_vectors(new)
    np.testing.assert_allclose(vectors[:, 5:], expected.predict(new[COLUMNS].to_numpy()), atol=1e-5)
    assert (vectors[:, :5] == 0).all()


def test_auto_scores_known_songs_by_user_and_new_songs_by_playlist():
    model = LinearRegression()
    auto = _fit(content_model=model)
    by_user = _fit(content_model=model, target="user")
    by_playlist = _fit(content_model=model, target="playlist")
    np.testing.assert_allclose(auto.predict(X), by_user.predict(X), rtol=1e-5, atol=1e-6)
    new = X.assign(song="new " + X["song"])
    np.testing.assert_allclose(auto.predict(new), by_playlist.predict(new), rtol=1e-5, atol=1e-6)
    assert abs(auto.predict(new) - by_user.predict(new)).max() > 0.01


@pytest.mark.parametrize("parameters", [{"content_model": None}, {"X": IDS}])
def test_without_content_new_songs_have_mean_factors(parameters):
    ranker = _fit(**parameters)
    assert ranker.content_model_ is None
    assert ranker.new_factors_ is None
    vectors = ranker.song_vectors(X.iloc[:2].assign(song=["a", "b"]))
    expected = ranker.known_factors_["songs"].mean(axis=0)
    np.testing.assert_allclose(vectors, [expected, expected], rtol=1e-5)


NEW = X.iloc[:6].assign(song=list("abcdef"))


class Counting(LinearRegression):
    """A content model that counts its fits."""

    n_fits = 0

    def fit(self, X, y):
        """Count, and fit."""
        type(self).n_fits += 1
        return super().fit(X, y)


@pytest.fixture
def counting():
    Counting.n_fits = 0
    return Counting()


def test_the_content_model_is_fitted_when_a_new_song_is_first_asked_for(counting):
    ranker = _fit(content_model=counting)
    ranker.predict(X)
    ranker.recommend(X[["user", "playlist"]].head(3))
    ranker.score(X.assign(playlist="new " + X["playlist"]))
    assert Counting.n_fits == 0
    first = ranker.predict(NEW)
    np.testing.assert_array_equal(ranker.predict(NEW), first)
    assert isinstance(ranker.content_model_, Counting)
    assert Counting.n_fits == 1


def test_when_the_content_model_is_fitted_changes_nothing():
    at_once, later = _fit(song_features=FEATURES), _fit(song_features=FEATURES)
    expected = at_once.content_model_ and at_once.predict(NEW)
    later.predict(X)
    later.set_params(content_model=None, random_state=99)  # parameters of the next fit
    copies = [pickle.loads(pickle.dumps(later)), copy.deepcopy(later), later]
    for ranker in copies:
        np.testing.assert_array_equal(ranker.predict(NEW), expected)
    assert clone(later).get_params()["content_model"] is None
    assert not hasattr(clone(later), "content_model_")


def test_a_safe_file_keeps_what_the_content_model_is_fitted_from(tmp_path):
    ranker = _fit(song_features=FEATURES)
    save(ranker, tmp_path / "before.skops")
    expected = ranker.predict(NEW)
    save(ranker, tmp_path / "after.skops")
    for name in ("before.skops", "after.skops"):
        np.testing.assert_array_equal(load(tmp_path / name).predict(NEW), expected)


def test_forgetting_users_before_or_after_the_first_new_song_is_the_same(counting):
    early, late = _fit(content_model=counting), _fit(content_model=counting)
    gone = sorted(set(X["user"]) - set(NEW["user"]))[:2]
    early.forget(gone)
    late.predict(NEW)
    late.forget(gone)
    np.testing.assert_array_equal(early.predict(NEW), late.predict(NEW))


def test_threads_fit_the_content_model_once(counting):
    ranker = _fit(content_model=counting)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ranker.predict(NEW), range(8)))
    assert Counting.n_fits == 1
    for scores in found:
        np.testing.assert_array_equal(scores, found[0])


class Interrupted(MLPRegressor):
    """A network that is interrupted in its second epoch, as by Ctrl-C."""

    def _update_no_improvement_count(self, *_):
        raise KeyboardInterrupt


@pytest.mark.parametrize("model", [Interrupted(), make_pipeline(StandardScaler(), Interrupted())])
def test_an_interrupted_network_interrupts(model):
    ranker = _fit(content_model=model, song_features=FEATURES)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            ranker.predict(NEW)
    assert np.isfinite(ranker.predict(X)).all()


@pytest.mark.parametrize("n_songs", [60, 400])  # the second stops early
def test_the_mlp_learns_the_factors(n_songs):
    table = make_playlists(30, 120, n_songs, 12, n_features=4, random_state=0)
    ranker = _fit(table, song_features=FEATURES, target="user")
    vectors = ranker.song_vectors(
        table.drop_duplicates("song").assign(song=lambda rows: "copy of " + rows["song"])
    )
    codes = np.searchsorted(ranker.songs_, table["song"].drop_duplicates())
    factors = ranker.known_factors_["songs"][codes]
    left = ((factors - vectors) ** 2).sum() / ((factors - factors.mean(axis=0)) ** 2).sum()
    assert left < 0.9


def test_where_every_playlist_is_full_nothing_is_learned():
    full = pd.DataFrame({"user": ["u"] * 2, "playlist": ["p"] * 2, "song": ["s1", "s2"]})
    with pytest.warns(UserWarning, match="1 playlists with every song"):
        ranker = _fit(full)
    assert (ranker.predict(full) == 0).all()


def test_without_implicit_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "implicit.als", None)
    with pytest.raises(ImportError, match=r"needs the package implicit.*pip install implicit"):
        _fit(IDS)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_factors", 0), ("confidence", -1), ("target", "song"), ("content_model", "svm")],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        _fit(**{name: value})
