"""The ranker of the paper."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import load_sample, make_playlists
from skmtc.features import make_song_features
from skmtc.optimize import SOLVERS, MultitaskObjective, solve_owlqn
from skmtc.optimize.prox_newton import FixedShared, _exact

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
    lambda_3 = 0.01 * X["user"].nunique() / n
    assert ranker.lambdas_ == pytest.approx((2.0 / n, 0.3 / n, lambda_3))
    membership = ranker.membership_
    objective = MultitaskObjective(
        ranker.song_vectors_[:, :-1],
        membership,
        ranker.user_of_playlist_,
        user_l2=2.0,
        playlist_l1=0.3,
        shared_l1=lambda_3,
    )
    coef = np.vstack([ranker.shared_coef_, ranker.user_coef_, ranker.playlist_coef_])
    assert objective.kkt_residual(coef) <= (1e-5 if solver == "owlqn" else 1e-3)
    assert ranker.objective_ == pytest.approx(objective.value(coef))
    assert ranker.optimality_ <= tol
    assert ranker.n_iter_ > 1
    assert len(ranker.solver_history_["objective"]) >= ranker.n_iter_


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


def test_html_repr_links_to_the_documentation_if_there_is_one(ranker, monkeypatch):
    pages = {"Documentation": "https://example.org/pages"}
    monkeypatch.setattr("skmtc._utils.doc_link.project_urls", dict)
    assert "skmtc.MultitaskPlaylistRanker.html" not in ranker._repr_html_()
    monkeypatch.setattr("skmtc._utils.doc_link.project_urls", lambda: pages)
    assert "example.org/pages/generated/skmtc.MultitaskPlaylistRanker.html" in ranker._repr_html_()


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


def test_a_warning_about_sizes_does_not_contradict_itself(monkeypatch):
    X = load_sample().X
    X = X[X["user"].isin(X["user"].unique()[::3])]
    ranker = MultitaskPlaylistRanker().fit(X)  # exact Hessians take sizes as they are, in silence
    assert ranker.optimality_ <= ranker.tol
    monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 0)  # as a large table
    with pytest.warns(ConvergenceWarning, match=r"Feature 'year'") as reported:
        ranker.fit(X)
    assert ranker.optimality_ <= ranker.tol
    assert "may not have converged" in str(reported[0].message)
    assert "duality gap does not confirm" in str(reported[0].message)
    MultitaskPlaylistRanker(song_features=make_song_features(X)).fit(X)  # as it says, in silence


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
def test_bad_parameters_are_reported_before_any_work(change):
    ((name, value),) = change.items()
    with pytest.raises(ValueError, match=f"`{name}` must be .*; got {value!r}. Change"):
        MultitaskPlaylistRanker(**change).fit(None)


# partial_fit


def _halves(X, n_new=12):
    """Return the rows of all users but some, and of these."""
    is_new = X["user"].isin(X["user"].unique()[-n_new:])
    return X[~is_new], X[is_new]


def _arrays(ranker):
    return {k: v.copy() for k, v in vars(ranker).items() if hasattr(v, "copy") and k[-1] == "_"}


def _assert_unchanged(ranker, before):
    for name, value in _arrays(ranker).items():
        same = (
            (abs(value - before[name])).nnz == 0
            if issparse(value)
            else np.array_equal(value, before[name])
        )
        assert same, name


def _own_problem(ranker, user):
    """Return the oracle's value of one user's problem, and the value of the ranker's weights."""
    u = ranker.users_.tolist().index(user)
    rows = np.flatnonzero(ranker.user_of_playlist_ == u)
    objective = FixedShared(
        ranker.song_vectors_[:, :-1],
        ranker.membership_[rows],
        np.zeros(len(rows), dtype=int),
        shared=ranker.shared_coef_,
        user_l2=ranker.user_l2,
        playlist_l1=ranker.playlist_l1,
        push=ranker.push,
        loss=ranker.loss,
    )
    coef = np.vstack([ranker.shared_coef_, ranker.user_coef_[[u]], ranker.playlist_coef_[rows]])
    best = solve_owlqn(objective, tol=1e-7, max_iter=20_000)
    return objective.value(best.coef), objective.value(coef), np.abs(best.coef - coef).max()


@pytest.mark.parametrize(
    "changes",
    [
        {"tol": 1e-3},
        {"tol": 1e-9},
        {"tol": 1e-9, "push": 2.0},
        {"tol": 1e-9, "loss": "ranking"},
        {"tol": 1e-6, "solver": "owlqn", "max_iter": 20_000},
    ],
)
def test_partial_fit_solves_the_problem_of_each_user(X, changes):
    old, new = _halves(X)
    known = old["user"].iloc[0]
    more = new.iloc[:6].assign(user=known, playlist="one more")
    more = pd.concat([new, more.drop_duplicates("song")])
    ranker = MultitaskPlaylistRanker(user_l2=0.1, playlist_l1=0.2, **changes).fit(old)
    ranker.partial_fit(more)
    for user in [known, *new["user"].unique()[:4]]:
        best, ours, distance = _own_problem(ranker, user)
        assert ours <= best * (1 + max(ranker.tol, 1e-7))
        assert ranker.tol == 1e-3 or distance < 2e-3


def test_partial_fit_leaves_others_untouched_to_the_bit(X):
    old, new = _halves(X)
    ranker = MultitaskPlaylistRanker(user_l2=0.1, playlist_l1=0.2).fit(old)
    before = _arrays(ranker)
    ranker.partial_fit(new)
    assert np.array_equal(ranker.shared_coef_, before["shared_coef_"])
    known = np.isin(ranker.users_, before["users_"])
    assert np.array_equal(ranker.user_coef_[known], before["user_coef_"])
    known = np.isin(ranker.playlists_, before["playlists_"])
    assert np.array_equal(ranker.playlist_coef_[known], before["playlist_coef_"])
    known = np.isin(ranker.songs_, before["songs_"])
    assert 0 < known.sum() < len(known)  # new songs came with the new users
    assert np.array_equal(ranker.song_vectors_[known], before["song_vectors_"])
    for name in ("objective_", "solver_history_", "n_iter_"):
        assert getattr(ranker, name) == before.get(name, getattr(ranker, name))


def test_partial_fit_knows_what_a_fit_to_all_rows_knows(X):
    old, new = _halves(X)
    parameters = {"user_l2": 0.1, "playlist_l1": 0.2, "user_features": USER_FEATURES}
    added = MultitaskPlaylistRanker(**parameters).fit(old).partial_fit(new)
    together = MultitaskPlaylistRanker(**parameters).fit(X)
    for name in ("songs_", "users_", "playlists_", "user_of_playlist_", "song_vectors_"):
        np.testing.assert_array_equal(getattr(added, name), getattr(together, name))
    assert (added.membership_ != together.membership_).nnz == 0
    assert added.user_attributes_.shape[0] == len(added.users_)
    assert added.lambdas_ == together.lambdas_
    assert added.left_out_ == together.left_out_
    # With almost the same shared weights, users rank almost alike.
    assert added.score(new) == pytest.approx(together.score(new), abs=0.005)


def test_new_users_join_the_similar_ones(X):
    old, new = _halves(X)
    features = ColumnTransformer([("country", OneHotEncoder(handle_unknown="ignore"), ["country"])])
    ranker = MultitaskPlaylistRanker(user_l2=0.1, user_features=features).fit(old)
    ranker.partial_fit(new)
    row = _row(X, playlist="brand new", user="brand new")
    country = X.drop_duplicates("user").set_index("user")["country"]
    similar = country[ranker.users_].to_numpy() == row["country"].item()
    assert np.isin(ranker.users_[similar], new["user"]).any()
    vector = ranker.query_vectors(row)[0]
    expected = ranker.shared_coef_ + ranker.user_coef_[similar].mean(axis=0)
    np.testing.assert_allclose(vector, expected)


def test_partial_fit_first_is_fit(X):
    one, other = MultitaskPlaylistRanker().partial_fit(X), MultitaskPlaylistRanker().fit(X)
    np.testing.assert_array_equal(one.user_coef_, other.user_coef_)


def test_partial_fit_in_any_pieces_ends_at_the_same_weights(X):
    old, new = _halves(X)
    new = new[new["song"].isin(old["song"])]
    base = MultitaskPlaylistRanker(user_l2=0.1, playlist_l1=0.2, tol=1e-9).fit(old)
    whole, pieces = pickle.loads(pickle.dumps(base)), pickle.loads(pickle.dumps(base))
    whole.partial_fit(new)
    for start in range(0, len(new), 25):
        pieces.partial_fit(new.iloc[start : start + 25])
    assert (whole.membership_ != pieces.membership_).nnz == 0
    np.testing.assert_allclose(whole.user_coef_, pieces.user_coef_, atol=2e-3)


def test_partial_fit_counts_and_tells_what_it_leaves_out(X):
    old, _ = _halves(X)
    ranker = MultitaskPlaylistRanker().fit(old)
    full = old.drop_duplicates("song").assign(user="all", playlist="of them")
    with pytest.warns(UserWarning, match="2 repeated rows; 1 playlists with every song"):
        ranker.partial_fit(pd.concat([old.iloc[:2], full]))
    assert ranker.left_out_ == {"repeated rows": 2, "playlists with every song": 1}
    assert "of them" not in ranker.playlists_
    with pytest.warns(UserWarning, match="1 repeated rows"):
        ranker.partial_fit(old.iloc[[0]])
    assert ranker.left_out_["repeated rows"] == 3


def test_after_partial_fit_a_pickle_and_a_warm_start_go_on(X):
    old, new = _halves(X)
    ranker = MultitaskPlaylistRanker(warm_start=True).fit(old).partial_fit(new)
    copied = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copied.predict(X), ranker.predict(X))
    assert ranker.fit(X).n_iter_ <= MultitaskPlaylistRanker().fit(X).n_iter_


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_an_interrupted_partial_fit_changes_nothing(X, monkeypatch, error):
    old, new = _halves(X)
    ranker = MultitaskPlaylistRanker().fit(old)
    before, scores = _arrays(ranker), ranker.predict(old)

    def interrupt(*_, **__):
        raise error

    broken = SOLVERS["prox-newton"]._replace(solve_users=interrupt)
    monkeypatch.setitem(SOLVERS, "prox-newton", broken)
    with pytest.raises(type(error)):
        ranker.partial_fit(new)
    _assert_unchanged(ranker, before)
    np.testing.assert_array_equal(ranker.predict(old), scores)


def test_a_refused_table_changes_nothing(X):
    old, new = _halves(X)
    ranker = MultitaskPlaylistRanker().fit(old)
    before = _arrays(ranker)
    for wrong, message in [
        (new.drop(columns="x0"), "feature columns"),
        (new.assign(x0=np.nan), "must be finite"),
        (new.assign(x0=1e30), "moderate size"),
        (new.assign(user=None), "must have a user id"),
    ]:
        with pytest.raises(ValueError, match=message):
            ranker.partial_fit(wrong)
        _assert_unchanged(ranker, before)
    with pytest.raises(ValueError, match="`fit_intercept` must be as in `fit`"):
        ranker.set_params(fit_intercept=False).partial_fit(new)


def test_partial_fit_takes_arrays_sparse_features_and_unknown_owners(X):
    columns = ["playlist", "song", "genre"]
    old, new = _halves(X.assign(genre=X["x0"].round(1).astype(str))[["user", *columns]])
    features = ColumnTransformer([("genre", OneHotEncoder(handle_unknown="ignore"), [2])])
    ranker = MultitaskPlaylistRanker(song_features=features, user=None, playlist=0, song=1)
    ranker.fit(old[columns].to_numpy()).partial_fit(new[columns].to_numpy())
    assert issparse(ranker.song_vectors_)
    assert len(ranker.users_) == len(ranker.playlists_) == X["playlist"].nunique()
    assert np.isfinite(ranker.predict(X.assign(genre="0.0")[columns].to_numpy())).all()


def test_partial_fit_warns_when_it_stops_early(X):
    old, new = _halves(X)
    ranker = MultitaskPlaylistRanker(tol=1e-9).fit(old).set_params(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="did not converge to tol=1e-09"):
        ranker.partial_fit(new)


def test_new_users_get_something_where_few_users_have_many_playlists():
    sizes = {"n_users": 30, "n_playlists": 900, "n_songs": 300, "n_artists": 40}
    X = make_playlists(**sizes, random_state=0).drop(columns="year")
    ranker = MultitaskPlaylistRanker(tol=0.01, random_state=0).fit(X)
    assert ranker.lambdas_[2] == pytest.approx(ranker.shared_l1 * 30 / 900)
    assert np.count_nonzero(ranker.shared_coef_[:-1]) > 1
    # A penalty that does not know how many playlists a user has leaves nothing to new users.
    fixed = MultitaskPlaylistRanker(shared_l1=0.02 * 900 / 30, tol=0.01, random_state=0).fit(X)
    assert np.count_nonzero(fixed.shared_coef_[:-1]) < np.count_nonzero(ranker.shared_coef_[:-1])
