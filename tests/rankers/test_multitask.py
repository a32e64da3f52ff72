"""The ranker of the paper."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.optimize import MultitaskObjective

FEATURES = [f"x{j}" for j in range(8)]
USER_FEATURES = ColumnTransformer([("country", OneHotEncoder(), ["country"])])


@pytest.fixture(scope="module")
def X():
    return make_playlists(random_state=0).drop(columns="year")


@pytest.fixture(scope="module")
def ranker(X):
    parameters = {"user_l2": 0.1, "playlist_l1": 0.2, "shared_l1": 0.001}
    return MultitaskPlaylistRanker(**parameters, user_features=USER_FEATURES).fit(X)


def _song(X, song):
    return np.append(X.loc[X["song"] == song, FEATURES].iloc[0].to_numpy(dtype=float), 1.0)


def _row(X, **changes):
    return X.iloc[[0]].assign(**changes)


def test_a_known_playlist_is_scored_by_all_three_weights(X, ranker):
    i = int(ranker.playlist_coef_.any(axis=1).argmax())
    row = X[X["playlist"] == ranker.playlists_[i]].iloc[[1]]
    u = ranker.users_.tolist().index(row["user"].item())
    weights = ranker.shared_coef_ + ranker.user_coef_[u] + ranker.playlist_coef_[i]
    expected = weights @ _song(X, row["song"].item())
    assert ranker.playlist_coef_[i].any()
    np.testing.assert_allclose(ranker.predict(row), [expected])


def test_a_new_playlist_is_scored_without_playlist_weights(X, ranker):
    row = _row(X, playlist="brand new")
    u = ranker.users_.tolist().index(row["user"].item())
    expected = (ranker.shared_coef_ + ranker.user_coef_[u]) @ _song(X, row["song"].item())
    np.testing.assert_allclose(ranker.predict(row), [expected])


def test_a_new_user_is_scored_by_similar_users(X, ranker):
    row = _row(X, playlist="brand new", user="brand new", country="DE")
    country = X.drop_duplicates("user").set_index("user")["country"]
    similar = [u for u, user in enumerate(ranker.users_) if country[user] == "DE"]
    assert len(similar) >= ranker.n_neighbors  # so all of them tie, and all count
    weights = ranker.shared_coef_ + ranker.user_coef_[similar].mean(axis=0)
    np.testing.assert_allclose(ranker.predict(row), [weights @ _song(X, row["song"].item())])


def test_a_new_user_without_attributes_is_scored_by_shared_weights(X, ranker):
    plain = clone(ranker).set_params(user_features=None).fit(X)
    row = _row(X, playlist="brand new", user="brand new")
    expected = plain.shared_coef_ @ _song(X, row["song"].item())
    np.testing.assert_allclose(plain.predict(row), [expected])
    # A query that names no attribute is no different, even where attributes were fitted.
    vector = ranker.query_vectors(pd.DataFrame({"user": ["brand new"]}))
    np.testing.assert_allclose(vector, [ranker.shared_coef_])


def test_a_new_song_needs_only_its_features(X, ranker):
    row = X.iloc[[7]]
    features = dict(zip(FEATURES, np.linspace(-1, 1, 8), strict=True))
    new = row.assign(song="brand new", **features)
    vector = ranker.query_vectors(row)[0]
    expected = vector @ np.append(np.linspace(-1, 1, 8), 1.0)
    np.testing.assert_allclose(ranker.predict(new), [expected])
    # Known and new songs mix in any order.
    both = pd.concat([row, new, row])
    np.testing.assert_allclose(
        ranker.predict(both), [*ranker.predict(row), expected, *ranker.predict(row)]
    )


@pytest.mark.parametrize(("solver", "tol"), [("owlqn", 1e-5), ("prox-newton", 1e-9)])
def test_weights_are_the_optimum_of_the_papers_objective(X, solver, tol):
    ranker = MultitaskPlaylistRanker(
        user_l2=2.0, playlist_l1=0.3, shared_l1=0.01, solver=solver, tol=tol
    ).fit(X)
    n = X["playlist"].nunique()
    assert ranker.lambdas_ == pytest.approx((2.0 / n, 0.3 / n, 0.01))
    membership = ranker.membership_
    objective = MultitaskObjective(
        ranker.song_vectors_[:, :-1],
        membership,
        ranker.user_of_playlist_,
        user_l2=2.0,
        playlist_l1=0.3,
        shared_l1=0.01,
    )
    coef = np.vstack([ranker.shared_coef_, ranker.user_coef_, ranker.playlist_coef_])
    assert objective.kkt_residual(coef) <= (1e-5 if solver == "owlqn" else 1e-3)
    assert ranker.objective_ == pytest.approx(objective.value(coef))
    assert ranker.optimality_ <= tol
    assert ranker.n_iter_ > 1
    assert len(ranker.history_["objective"]) >= ranker.n_iter_


@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_solvers_agree(X, loss):
    parameters = {"playlist_l1": 0.3, "loss": loss}
    fast = MultitaskPlaylistRanker(**parameters, tol=1e-6).fit(X)
    slow = MultitaskPlaylistRanker(**parameters, solver="owlqn", tol=1e-4).fit(X)
    assert fast.objective_ == pytest.approx(slow.objective_, rel=1e-6)
    assert fast.dual_gap_ > 0
    assert np.isnan(slow.dual_gap_)
    quick = MultitaskPlaylistRanker(**parameters).fit(X)
    assert slow.objective_ <= quick.objective_ <= slow.objective_ * (1 + 1e-3)


def test_penalties_do_what_they_say(X):
    no_playlists = MultitaskPlaylistRanker(playlist_l1=1e3).fit(X)
    assert not no_playlists.playlist_coef_.any()
    no_shared = MultitaskPlaylistRanker(shared_l1=1e3).fit(X)
    assert not no_shared.shared_coef_.any()
    no_users = MultitaskPlaylistRanker(user_l2=1e6).fit(X)
    assert np.abs(no_users.user_coef_).max() < 1e-4


def test_the_ranking_comes_close_to_that_of_the_true_weights():
    X, truth = make_playlists(100, 600, 600, mean_length=20, return_truth=True, random_state=1)
    X = X.drop(columns="year")
    held_out = X["playlist"].isin(X["playlist"].drop_duplicates().iloc[::6])
    train, test = X[~held_out], X[held_out]
    test = test[test["song"].isin(train["song"]) & test["user"].isin(train["user"])]
    ranker = MultitaskPlaylistRanker(user_l2=0.3, tol=0.01).fit(train)
    best = clone(ranker).fit(train)
    best.shared_coef_ = np.append(truth.shared, 0.0)
    best.user_coef_ = np.column_stack([truth.user.loc[best.users_], np.zeros(len(best.users_))])
    popular = clone(ranker).set_params(user_l2=1e6).fit(train)
    fitted, true, anonymous = (r.score(test) for r in (ranker, best, popular))
    assert true > 0.8
    assert fitted > true - 0.02
    assert fitted > anonymous + 0.05


def test_users_may_be_unknown(X):
    ranker = MultitaskPlaylistRanker(user=None).fit(X.drop(columns=["user", "age", "country"]))
    assert ranker.users_.tolist() == ranker.playlists_.tolist()
    assert ranker.user_coef_.shape == ranker.playlist_coef_.shape


def test_one_user_with_one_playlist():
    # The only playlist that teaches holds two of three songs; the other holds all of them.
    X = pd.DataFrame({"user": "u", "playlist": ["p", "p", "q", "q", "q"]})
    X = X.assign(song=["a", "b", "a", "b", "c"], tempo=[1.0, 0.5, 1.0, 0.5, -1.0])
    ranker = MultitaskPlaylistRanker(user_l2=0.1)
    with pytest.warns(UserWarning, match="1 playlists with every song"):
        ranker.fit(X)
    assert ranker.playlists_.tolist() == ["p"]
    a, b, _, _, c = ranker.predict(X)
    assert a > b > c


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_result_for_any_n_jobs_and_order_of_rows(X, ranker, n_jobs):
    again = clone(ranker).set_params(n_jobs=n_jobs).fit(X)
    np.testing.assert_array_equal(again.playlist_coef_, ranker.playlist_coef_)
    shuffled = clone(ranker).fit(X.sample(frac=1, random_state=n_jobs))
    np.testing.assert_allclose(shuffled.user_coef_, ranker.user_coef_, rtol=1e-6, atol=1e-9)


def test_warm_start_goes_on_from_the_weights_by_id(X, ranker):
    warm = clone(ranker).set_params(warm_start=True).fit(X)
    first = warm.n_iter_
    warm.fit(X)
    assert warm.n_iter_ == 1  # one look is needed to see that nothing is left to do
    assert warm.objective_ == pytest.approx(ranker.objective_, rel=1e-3)
    # New ids start at zero, known ones where they were, wherever they now are in the order.
    more = pd.concat([X, X[X["playlist"] == "playlist3"].assign(playlist="a new one")])
    warm.fit(more)
    assert warm.n_iter_ < first
    assert warm.objective_ == pytest.approx(clone(ranker).fit(more).objective_, rel=1e-3)
    warm.set_params(user_features=None)
    warm.fit(X[["user", "playlist", "song", "x0"]])  # other features: a cold start
    assert warm.shared_coef_.shape == (2,)


@pytest.mark.parametrize("copy", [lambda r: pickle.loads(pickle.dumps(r)), None])
def test_pickle_and_joblib_round_trip(X, ranker, copy, tmp_path):
    if copy is None:
        joblib.dump(ranker, tmp_path / "ranker.joblib")
        loaded = joblib.load(tmp_path / "ranker.joblib")
    else:
        loaded = copy(ranker)
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))


def test_verbose_prints_a_line_per_iteration(X, capsys):
    ranker = MultitaskPlaylistRanker(verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == ranker.n_iter_
    assert "objective" in lines[-1]
    assert f"{ranker.objective_:.8f}" in lines[-1]


def test_html_repr_links_to_the_documentation(ranker):
    html = ranker._repr_html_()
    assert "skmtc.MultitaskPlaylistRanker.html" in html


def test_a_convergence_warning_tells_what_to_change(X):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .*Increase `max_iter`"):
        MultitaskPlaylistRanker(max_iter=1).fit(X)


@pytest.mark.parametrize("solver", ["prox-newton", "owlqn"])
@pytest.mark.parametrize("factor", [1e4, 1e8])
def test_a_feature_in_the_wrong_unit_ends_in_a_finite_model(X, factor, solver):
    wrong = X.assign(x3=factor * X["x3"])
    ranker = MultitaskPlaylistRanker(solver=solver, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="Feature 'x3' reaches .* rescale it"):
        ranker.fit(wrong)
    assert np.isfinite(ranker.predict(wrong)).all()
    assert np.isfinite(ranker.objective_)
    assert ranker.objective_ < 2.0  # better than weights of zero


def test_a_feature_beyond_all_measure_is_refused_by_name(X):
    with pytest.raises(ValueError, match=r"'x3'\. Rescale it"):
        MultitaskPlaylistRanker().fit(X.assign(x3=1e20 * X["x3"]))


def test_grid_search_simply_works(X):
    grid = {
        "user_l2": [0.3, 3.0],
        "playlist_l1": [0.5, 2.0],
        "shared_l1": [0.01],
        "push": [1.0, 2.0],
    }
    ranker = MultitaskPlaylistRanker(tol=0.05)
    search = GridSearchCV(ranker, grid, cv=ShuffleSplit(2, test_size=0.2, random_state=0))
    search.fit(X)
    assert 0.6 < search.best_score_ <= 1
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.predict(X).shape == (len(X),)
    held_out = cross_validate(
        ranker, X, groups=X["playlist"], cv=GroupKFold(3), error_score="raise"
    )
    assert (held_out["test_score"] > 0.55).all()


def _rescale(X):
    return X.assign(**{name: X[name] / 2 for name in FEATURES})


def test_a_pipeline_around_the_ranker_works(X):
    pipeline = make_pipeline(FunctionTransformer(_rescale), MultitaskPlaylistRanker(tol=0.05))
    pipeline.fit(X)
    alone = MultitaskPlaylistRanker(tol=0.05).fit(_rescale(X))
    np.testing.assert_allclose(pipeline.predict(X), alone.predict(_rescale(X)))
    assert pipeline.score(X) == alone.score(_rescale(X))
    grid = {"multitaskplaylistranker__user_l2": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X)
    assert search.best_params_["multitaskplaylistranker__user_l2"] in (0.1, 1.0)


def test_song_features_are_tuned_from_outside(X):
    features = ColumnTransformer([("scale", StandardScaler(), FEATURES)])
    ranker = MultitaskPlaylistRanker(song_features=features, tol=0.05)
    grid = {"song_features__scale__with_std": [True, False]}
    search = GridSearchCV(ranker, grid, cv=2, error_score="raise").fit(X)
    assert set(search.best_params_) == set(grid)
    assert not hasattr(features, "transformers_")  # cloned, not fitted in place


@pytest.mark.parametrize(
    "change",
    [
        {"user_l2": -1.0},
        {"playlist_l1": -0.1},
        {"shared_l1": float("nan")},
        {"push": 0},
        {"tol": 0},
        {"max_iter": 0},
        {"n_neighbors": 1.5},
        {"solver": "magic"},
        {"loss": "hinge"},
    ],
)
def test_bad_parameters_are_told_before_any_work(change):
    ((name, value),) = change.items()
    with pytest.raises(ValueError, match=f"`{name}` must be .*; got {value!r}. Change"):
        MultitaskPlaylistRanker(**change).fit(None)
