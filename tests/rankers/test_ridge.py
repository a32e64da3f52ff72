"""Ridge regression for all playlists at once, against scikit-learn's, one by one."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.preprocessing import OneHotEncoder

from skmtc import RidgeRanker
from skmtc.datasets import make_playlists
from skmtc.optimize import _ridge_solvers
from skmtc.optimize._ridge_solvers import (
    RIDGE_SOLVERS,
    choose_solver,
    ridge_coef,
    ridge_factors,
)

COLUMNS = [f"x{j}" for j in range(5)]
X = make_playlists(6, 18, 40, 9, n_features=5, random_state=0).assign(year=0.0)
FEATURES = make_column_transformer(("passthrough", COLUMNS))


def _target(ranker, playlists):
    """Return the mean membership of the songs in some playlists."""
    rows = ranker.membership_[playlists].toarray() > 0
    return rows.mean(axis=0)


def _sklearn_coef(ranker, target, l2, fit_intercept):
    songs = X.drop_duplicates("song").set_index("song").loc[ranker.songs_, COLUMNS]
    alpha = l2 * len(songs)
    model = Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(songs.to_numpy(), target)
    return np.append(model.coef_, model.intercept_) if fit_intercept else model.coef_


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [1e-4, 0.03, 2.0])
def test_equals_sklearn_ridge_playlist_by_playlist(l2, fit_intercept):
    ranker = RidgeRanker(l2=l2, song_features=FEATURES, fit_intercept=fit_intercept).fit(X)
    for i, coef in enumerate(ranker.playlist_coef_):
        expected = _sklearn_coef(ranker, _target(ranker, [i]), l2, fit_intercept)
        np.testing.assert_allclose(coef, expected, rtol=1e-8, atol=1e-10)
    for u, coef in enumerate(ranker.user_coef_):
        own = np.flatnonzero(ranker.user_of_playlist_ == u)
        expected = _sklearn_coef(ranker, _target(ranker, own), l2, fit_intercept)
        np.testing.assert_allclose(coef, expected, rtol=1e-8, atol=1e-10)
    everybody = _target(ranker, np.arange(len(ranker.playlists_)))
    expected = _sklearn_coef(ranker, everybody, l2, fit_intercept)
    np.testing.assert_allclose(ranker.shared_coef_, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("convert", [np.asarray, csr_array, np.float32])
def test_solves_the_normal_equations_of_any_features(convert, fit_intercept):
    rng = np.random.default_rng(0)
    dense = rng.normal(1.0, size=(30, 4)) * (rng.random((30, 4)) < 0.5)
    targets = csr_array((rng.random((7, 30)) < 0.3).astype(float))
    with sklearn.config_context(working_memory=0.001):  # several blocks
        coef = ridge_coef(convert(dense), targets, l2=0.7, fit_intercept=fit_intercept)
    for row, target in zip(coef, targets.toarray(), strict=True):
        model = Ridge(alpha=0.7, fit_intercept=fit_intercept).fit(dense, target)
        np.testing.assert_allclose(row[:4], model.coef_, rtol=1e-4, atol=1e-6)
        if fit_intercept:
            np.testing.assert_allclose(row[4], model.intercept_, rtol=1e-4, atol=1e-6)


def test_copies_of_a_feature_share_its_weight():
    songs = np.array([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.0]])  # a singular Gram matrix
    coef = ridge_coef(songs, csr_array([[1.0, 0.0, 0.0]]), l2=1.0, fit_intercept=False)
    np.testing.assert_allclose(coef, [[1 / 5, 1 / 5]])


def test_weights_fall_back_from_playlist_to_user_to_all():
    ranker = RidgeRanker(song_features=FEATURES).fit(X)
    playlist, user = X["playlist"].iloc[0], X["user"].iloc[0]
    queries = pd.DataFrame(
        {"user": [user, user, "nobody"], "playlist": [playlist, "a new one", "a new one"]}
    )
    expected = [
        ranker.playlist_coef_[ranker.playlists_ == playlist][0],
        ranker.user_coef_[ranker.users_ == user][0],
        ranker.shared_coef_,
    ]
    np.testing.assert_array_equal(ranker.query_vectors(queries), expected)


def test_new_users_have_the_weights_of_similar_ones():
    attributes = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["country"]))
    ranker = RidgeRanker(song_features=FEATURES, user_features=attributes, n_neighbors=1).fit(X)
    country = X["country"].iloc[0]
    users = X.loc[X["country"] == country, "user"].unique()
    queries = pd.DataFrame({"user": ["nobody", "no one"], "country": [country, "nowhere"]})
    similar, unknown = ranker.query_vectors(queries)
    expected = ranker.user_coef_[np.isin(ranker.users_, users)].mean(axis=0)
    np.testing.assert_allclose(similar, expected)
    np.testing.assert_array_equal(unknown, ranker.shared_coef_)


@pytest.mark.parametrize("l2", [0, -1.0, "much"])
def test_l2_is_checked(l2):
    with pytest.raises(ValueError, match="`l2` must be a number above 0"):
        RidgeRanker(l2=l2).fit(X)


def test_dense_and_sparse_columns_side_by_side():
    rng = np.random.default_rng(0)
    dense = rng.normal(300.0, 1.0, size=(80, 6))  # far from 0
    identities = np.eye(20)[rng.integers(0, 20, 80)]
    order = rng.permutation(26)
    features = np.hstack([dense, identities])[:, order]
    targets = csr_array((rng.random((5, 80)) < 0.3).astype(float))
    expected = ridge_coef(features, targets, l2=2.0, fit_intercept=True)
    coef = ridge_coef(csr_array(features), targets, l2=2.0, fit_intercept=True)
    np.testing.assert_allclose(coef, expected, rtol=1e-8, atol=1e-10)
    model = Ridge(alpha=2.0).fit(features, targets.toarray().T)
    np.testing.assert_allclose(coef[:, :-1], model.coef_, rtol=1e-6, atol=1e-9)


def test_the_penalty_means_the_same_for_twice_the_songs():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"playlist": rng.integers(0, 10, 300), "song": rng.integers(0, 60, 300)})
    rows = rows.drop_duplicates()
    rows["tempo"] = rng.standard_normal(60)[rows["song"]]
    twin = rows.assign(song=rows["song"] + 60)
    one = RidgeRanker(user=None, l2=0.5).fit(rows)
    both = RidgeRanker(user=None, l2=0.5).fit(pd.concat([rows, twin]))
    np.testing.assert_allclose(one.playlist_coef_, both.playlist_coef_, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(60, 25), (30, 90)], ids=["tall", "wide"])
@pytest.mark.parametrize("l2", [0.01, 5.0])
def test_solvers_agree(shape, l2, fit_intercept):
    n_songs, n_features = shape
    rng = np.random.default_rng(0)
    dense = rng.normal(2.0, size=(n_songs, 8))
    identities = (rng.random((n_songs, n_features - 8)) < 0.1).astype(float)
    features = csr_array(np.hstack([dense, identities]))
    targets = csr_array((rng.random((9, n_songs)) < 0.3).astype(float))
    with sklearn.config_context(working_memory=0.01):  # several blocks
        coef = {
            solver: ridge_coef(features, targets, l2=l2, fit_intercept=fit_intercept, solver=solver)
            for solver in RIDGE_SOLVERS
        }
    model = Ridge(alpha=l2, fit_intercept=fit_intercept).fit(
        features.toarray(), targets.toarray().T
    )
    for found in coef.values():
        np.testing.assert_allclose(found[:, :n_features], model.coef_, atol=1e-6)


def test_the_solver_is_chosen_by_size(monkeypatch):
    assert choose_solver(500, 100) == "cholesky"
    assert choose_solver(100, 500) == "dual"
    assert choose_solver(20_000, 30_000) == "cg"
    assert choose_solver(2_000_000, 6_000) == "cholesky"
    monkeypatch.setattr(_ridge_solvers, "MOST_FACTORISED", 3)
    by_cg = RidgeRanker(song_features=FEATURES).fit(X)
    exact = RidgeRanker(song_features=FEATURES, solver="cholesky").fit(X)
    np.testing.assert_allclose(by_cg.playlist_coef_, exact.playlist_coef_, atol=1e-7)


@pytest.mark.parametrize("solver", ["cholesky", "dual"])
def test_rounding_above_the_penalty_does_not_matter(solver):
    # Ids among the features: their products are 1e18, which rounds the others away.
    rng = np.random.default_rng(0)
    ids = 1e9 * rng.integers(2, size=(20, 1))
    features = np.hstack([ids, ids, rng.normal(size=(20, 28))])
    targets = csr_array(rng.integers(2, size=(3, 20)).astype(float))
    coef = ridge_coef(features, targets, l2=1e-3, fit_intercept=True, solver=solver)
    assert np.isfinite(coef).all()
    scores = features @ coef[:, :-1].T + coef[:, -1]
    error = ((targets.toarray().T - scores) ** 2).sum(axis=0)
    of_mean = targets.toarray().var(axis=1) * 20
    assert (error <= 1.001 * of_mean).all()


def test_cg_says_that_it_did_not_converge(monkeypatch):
    monkeypatch.setattr(_ridge_solvers, "CG_MAX_ITER", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        RidgeRanker(song_features=FEATURES, solver="cg").fit(X)


def test_components_are_those_of_the_memberships():
    ranker = RidgeRanker(song_features=FEATURES, n_components=3, random_state=0).fit(X)
    members = (ranker.membership_.toarray() > 0).astype(float)
    left, sizes, right = np.linalg.svd(members, full_matrices=False)
    smooth = (left[:, :3] * sizes[:3]) @ right[:3]
    exact = RidgeRanker(song_features=FEATURES).fit(X)
    for i, target in enumerate(smooth):
        expected = _sklearn_coef(ranker, target, 0.3, True)
        np.testing.assert_allclose(ranker.playlist_coef_[i], expected, atol=1e-5)
    assert abs(ranker.playlist_coef_ - exact.playlist_coef_).max() > 1e-3
    whole = RidgeRanker(song_features=FEATURES, n_components=1000).fit(X)
    np.testing.assert_allclose(whole.playlist_coef_, exact.playlist_coef_, atol=1e-10)


@pytest.mark.parametrize(
    ("wrong", "message"), [({"n_components": 0}, "`n_components`"), ({"solver": "lu"}, "`solver`")]
)
def test_parameters_are_checked(wrong, message):
    with pytest.raises(ValueError, match=message):
        RidgeRanker(song_features=FEATURES, **wrong).fit(X)


IDENTITIES = make_column_transformer(
    ("passthrough", COLUMNS), (OneHotEncoder(), ["song"]), sparse_threshold=1.0
)
SINGLES = make_column_transformer(
    ("passthrough", COLUMNS), (OneHotEncoder(min_frequency=2), ["artist"]), sparse_threshold=1.0
)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_factors_multiply_to_the_coefficients(fit_intercept):
    rng = np.random.default_rng(0)
    dense = rng.normal(30.0, 1.0, size=(80, 3))  # far from 0
    features = np.hstack([dense, np.eye(12)[rng.integers(0, 12, 80)]])[:, rng.permutation(15)]
    targets = csr_array((rng.random((40, 80)) < 0.2).astype(float))
    options = {"l2": 0.5, "fit_intercept": fit_intercept}
    expected = ridge_coef(features, targets, **options)
    with sklearn.config_context(working_memory=0.001):  # several blocks
        mixing, basis = ridge_factors(csr_array(features), targets, **options)
    assert mixing.shape[1] == basis.shape[0] == 15 + fit_intercept
    np.testing.assert_allclose(mixing @ basis.astype(float), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("l2", [1e2, 1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_factors_of_collinear_features_keep_their_digits(l2, fit_intercept):
    rng = np.random.default_rng(0)
    dense, rare = rng.normal(size=(300, 4)), rng.random((300, 20)) < 0.05
    features = np.hstack([dense, dense, rare, rare])
    targets = csr_array((rng.random((60, 300)) < 0.05).astype(float))
    options = {"l2": l2, "fit_intercept": fit_intercept}
    expected = ridge_coef(csr_array(features), targets, **options, solver="cholesky")
    mixing, basis = ridge_factors(csr_array(features), targets, **options)
    assert basis.dtype == (np.float32 if l2 >= 1 else np.float64)
    error = np.abs(csr_array(mixing, dtype=basis.dtype) @ basis - expected)
    assert error.max() <= 2e-5 * np.abs(expected).max()


def test_sparse_features_give_the_weights_of_dense_ones():
    sparse = RidgeRanker(song_features=SINGLES).fit(X)
    dense = RidgeRanker(song_features=clone(SINGLES).set_params(sparse_threshold=0.0)).fit(X)
    assert sparse._playlist_coef is None
    assert sparse._mixing.nnz < dense._playlist_coef.size
    for name in ("playlist_coef_", "user_coef_", "shared_coef_"):
        ours, theirs = getattr(sparse, name), getattr(dense, name)
        assert ours.dtype == theirs.dtype == np.float64
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), rtol=1e-4, atol=1e-6)


def test_more_features_than_two_for_each_playlist_have_weights_that_are_stored():
    ranker = RidgeRanker(song_features=IDENTITIES).fit(X)
    assert ranker._mixing is None
    assert ranker._playlist_coef.shape == (18, len(ranker.feature_names_out_))


def test_weights_of_others_stay_when_users_are_forgotten():
    ranker = RidgeRanker(song_features=SINGLES).fit(X)
    gone = ranker.users_[:2]
    stays = ~np.isin(ranker.users_[ranker.user_of_playlist_], gone)
    before = ranker.playlist_coef_[stays]
    ranker.forget(gone)
    assert ranker._mixing.shape[0] == stays.sum()
    np.testing.assert_array_equal(ranker.playlist_coef_, before)


def test_a_model_without_weights_is_refused():
    ranker = RidgeRanker(song_features=SINGLES).fit(X)
    ranker._basis = None
    with pytest.raises(ValueError, match="`_playlist_coef` must be there, or `_mixing`"):
        ranker.predict(X)
