"""Weights of rows: laws of MultitaskPlaylistRanker and PopularityRanker with weights."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, cross_validate

from skmtc import (
    HistoryTerms,
    MultitaskPlaylistRanker,
    PopularityRanker,
    RidgeRanker,
    StackingRanker,
    make_ranker,
    regularization_path,
)
from skmtc.datasets import make_playlists
from skmtc.model_selection import ColdPlaylistKFold, TimeSplit, half_life_weights

COLUMNS = ["user", "playlist", "song", "x0", "x1", "x2"]
X = make_playlists(8, 24, 60, 10, n_features=3, random_state=0)[COLUMNS].reset_index(drop=True)
FIT = {"tol": 1e-6, "user_l2": 0.1, "playlist_l1": 0.05}
COEF = ("shared_coef_", "user_coef_", "playlist_coef_")


def random_weights(seed=0):
    return np.random.default_rng(seed).uniform(0.2, 3.0, len(X))


def same(one, other, **tolerance):
    for name in COEF:
        if tolerance:
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), **tolerance)
        else:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("solver", ["prox-newton", "owlqn"])
@pytest.mark.parametrize("history", [None, HistoryTerms(("song",))])
def test_weights_of_one_are_no_weights_to_the_bit(solver, history):
    ranker = MultitaskPlaylistRanker(history=history, solver=solver, tol=1e-3, random_state=0)
    plain = ranker.fit(X).predict(X)
    np.testing.assert_array_equal(ranker.fit(X, sample_weight=np.ones(len(X))).predict(X), plain)
    np.testing.assert_array_equal(ranker.playlist_weight_, np.ones(24))
    column = ranker.set_params(weight="w").fit(X.assign(w=1))
    np.testing.assert_array_equal(column.predict(X), plain)


def test_the_weight_of_a_playlist_is_the_mean_of_its_rows():
    weights = random_weights()
    ranker = MultitaskPlaylistRanker(**FIT).fit(X, sample_weight=weights)
    means = pd.Series(weights).groupby(X["playlist"]).mean()
    np.testing.assert_allclose(ranker.playlist_weight_, (means / means.mean())[ranker.playlists_])
    assert ranker.playlist_weight_.mean() == pytest.approx(1)
    # Neither the scale of weights matters, nor how they are spread within a playlist.
    same(ranker, MultitaskPlaylistRanker(**FIT).fit(X, sample_weight=1000 * weights), atol=1e-4)
    spread = means[X["playlist"]].to_numpy()
    same(ranker, MultitaskPlaylistRanker(**FIT).fit(X, sample_weight=spread), atol=1e-4)
    # They matter.
    plain = MultitaskPlaylistRanker(**FIT).fit(X)
    assert np.abs(plain.shared_coef_ - ranker.shared_coef_).max() > 1e-3
    assert plain.playlist_weight_ is None


def test_a_column_is_as_good_as_an_argument():
    weights = random_weights()
    by_argument = MultitaskPlaylistRanker(**FIT).fit(X, sample_weight=weights)
    table = X.assign(how_much=weights)
    by_column = MultitaskPlaylistRanker(weight="how_much", **FIT).fit(table)
    same(by_argument, by_column)
    # It is no feature, and a query may lack it.
    assert by_column.feature_names_out_.tolist() == ["x0", "x1", "x2", "constant"]
    np.testing.assert_array_equal(by_column.predict(table), by_argument.predict(X))
    np.testing.assert_array_equal(by_column.predict(X), by_argument.predict(X))
    codes = X.apply(lambda c: pd.factorize(c)[0] if c.name in COLUMNS[:3] else c)
    array = np.column_stack([codes, weights])
    ids = {"user": 0, "playlist": 1, "song": 2}
    by_position = MultitaskPlaylistRanker(weight=6, **ids, **FIT).fit(array)
    assert by_position.feature_names_out_.tolist() == ["x3", "x4", "x5", "constant"]
    again = MultitaskPlaylistRanker(**FIT).fit(
        codes.set_axis(COLUMNS, axis=1), sample_weight=weights
    )
    same(by_position, again)


def test_repeated_rows_are_weights_and_zeros_are_no_rows():
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = MultitaskPlaylistRanker(**FIT).fit(X, sample_weight=weights)
    with pytest.warns(UserWarning, match="repeated rows"):
        repeated = MultitaskPlaylistRanker(**FIT).fit(X.loc[X.index.repeat(weights)])
    assert weighted.songs_.tolist() == repeated.songs_.tolist()
    np.testing.assert_allclose(weighted.playlist_weight_, repeated.playlist_weight_)
    same(weighted, repeated, atol=1e-6)


def test_losses_of_a_playlist_of_weight_zero_do_not_count():
    gone = X["playlist"].isin(X["playlist"].unique()[[3, 7]])
    weighted = MultitaskPlaylistRanker(**FIT).fit(X, sample_weight=np.where(gone, 0.0, 5.0))
    assert not set(weighted.playlists_) & set(X["playlist"][gone])
    same(weighted, MultitaskPlaylistRanker(**FIT).fit(X[~gone]), atol=1e-7)
    rows = X.apply(lambda c: pd.factorize(c)[0] if c.name in COLUMNS[:3] else c).to_numpy()
    of_arrays = MultitaskPlaylistRanker(user=0, playlist=1, song=2, **FIT)
    for table in (rows, rows.tolist()):
        of_arrays.fit(table, sample_weight=np.where(gone, 0, 1))
        assert of_arrays.playlists_.shape == (22,)


def test_a_heavy_playlist_is_fitted_better():
    heavy = X["playlist"] == X["playlist"].iloc[0]
    weighted = MultitaskPlaylistRanker(**FIT).fit(X, sample_weight=np.where(heavy, 50.0, 1.0))
    plain = MultitaskPlaylistRanker(**FIT).fit(X)

    def loss(ranker):
        scores = ranker.song_vectors() @ ranker.query_vectors(X[heavy].iloc[:1])[0]
        inside = np.isin(ranker.songs_, X["song"][heavy])
        return np.exp(-scores[inside]).mean() + np.exp(scores[~inside]).mean()

    assert loss(weighted) < loss(plain) - 0.002


def test_partial_fit_keeps_weights_and_takes_new_ones():
    weights = random_weights()
    late = X["playlist"].isin(X["playlist"].unique()[-4:]).to_numpy()
    ranker = MultitaskPlaylistRanker(**FIT).fit(X[~late], sample_weight=weights[~late])
    known = dict(zip(ranker.playlists_, ranker.playlist_weight_, strict=True))
    scale = ranker._weight_scale
    ranker.partial_fit(X[late], sample_weight=weights[late])
    means = pd.Series(weights).groupby(X["playlist"]).mean()
    for playlist, weight in zip(ranker.playlists_, ranker.playlist_weight_, strict=True):
        expected = known.get(playlist, means[playlist] * scale)
        assert weight == pytest.approx(expected)
    # All users' problems are solved exactly, with the shared weights held.
    one = MultitaskPlaylistRanker(**FIT).fit(X[~late], sample_weight=weights[~late])
    column = MultitaskPlaylistRanker(weight="w", **FIT).fit(X[~late].assign(w=weights[~late]))
    column.partial_fit(X[late].assign(w=weights[late]))
    same(ranker, column)
    unweighted = one.partial_fit(X[late])
    new = [p not in known for p in unweighted.playlists_]
    np.testing.assert_allclose(unweighted.playlist_weight_[new], scale)
    assert len(ranker.forget([X["user"].iloc[0]]).playlist_weight_) == len(ranker.playlists_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), ranker.predict(X))


def test_a_path_takes_the_column():
    table = X.assign(w=random_weights())
    ranker = MultitaskPlaylistRanker(weight="w", **FIT)
    (on_path,) = regularization_path(ranker, table, [{"user_l2": 0.1}])
    same(on_path, ranker.fit(table), atol=1e-4)


def test_weights_are_routed_and_sliced():
    weights, cv = random_weights(), ColdPlaylistKFold(2)
    expected = [
        MultitaskPlaylistRanker(tol=0.01)
        .fit(X.iloc[train], sample_weight=weights[train])
        .score(X.iloc[test])
        for train, test in cv.split(X)
    ]
    with config_context(enable_metadata_routing=True):
        ranker = MultitaskPlaylistRanker(tol=0.01).set_fit_request(sample_weight=True)
        params = {"sample_weight": weights}
        scores = cross_validate(ranker, X, cv=cv, params=params)["test_score"]
        search = GridSearchCV(ranker, {"user_l2": [0.3]}, cv=cv).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(scores, expected)
    assert search.best_score_ == pytest.approx(np.mean(expected))
    without_routing = GridSearchCV(MultitaskPlaylistRanker(tol=0.01), {"user_l2": [0.3]}, cv=cv)
    with warnings.catch_warnings():  # which newer versions of scikit-learn emit
        warnings.filterwarnings("ignore", message=".*score does not support sample_weight")
        without_routing.fit(X, sample_weight=weights)
    assert without_routing.best_score_ == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"must be one number per row, of shape \(\d+,\); got \(3,\)"),
        (np.ones((len(X), 2)), "must be one number per row"),
        (-np.ones(len(X)), "must be finite and not negative"),
        (np.full(len(X), np.nan), "must be finite and not negative"),
        (np.zeros(len(X)), "must have a weight that is not zero"),
        (["much"] * len(X), "must be one number per row"),
    ],
)
def test_bad_weights_are_reported(weights, message):
    with pytest.raises(ValueError, match=message):
        MultitaskPlaylistRanker().fit(X, sample_weight=weights)


@pytest.mark.parametrize("make", [MultitaskPlaylistRanker, PopularityRanker])
def test_bad_columns_of_weights_are_reported(make):
    with pytest.raises(ValueError, match="must have a column 'w' of weights"):
        make(weight="w").fit(X)
    for bad in (0, -1, np.nan, "much"):
        with pytest.raises(ValueError, match="Weights must be positive numbers; got 1 others"):
            make(weight="w").fit(X.assign(w=pd.Series([1] * (len(X) - 1) + [bad], dtype=object)))


def test_weights_given_twice_are_reported():
    with pytest.raises(ValueError, match="Weights must be given once"):
        MultitaskPlaylistRanker(weight="w").fit(X.assign(w=1), sample_weight=np.ones(len(X)))


def test_popularity_is_the_sum_of_weights():
    weights = random_weights()
    ranker = PopularityRanker(weight="w").fit(X.assign(w=weights))
    sums = pd.Series(weights).groupby(X["song"]).sum()
    np.testing.assert_allclose(ranker.popularity_, sums[ranker.songs_])
    ones = PopularityRanker(weight="w").fit(X.assign(w=1.0))
    np.testing.assert_array_equal(ones.popularity_, PopularityRanker().fit(X).popularity_)
    # Of a row that is repeated, the first counts.
    with pytest.warns(UserWarning, match="repeated rows"):
        twice = PopularityRanker(weight="w").fit(pd.concat([X.assign(w=weights), X.assign(w=9.0)]))
    np.testing.assert_allclose(twice.popularity_, ranker.popularity_)


def test_a_stack_passes_weights_on():
    weights = random_weights()
    parts = [("multitask", MultitaskPlaylistRanker(tol=0.01)), ("ridge", RidgeRanker())]
    stack = StackingRanker(parts, random_state=0)
    weighted = StackingRanker(parts, random_state=0).fit(X, sample_weight=weights)
    part = weighted.named_estimators_["multitask"]
    expected = MultitaskPlaylistRanker(tol=0.01).fit(X, sample_weight=weights)
    same(part, expected)
    same(
        stack.fit(X, sample_weight=np.ones(len(X))).named_estimators_["multitask"],
        MultitaskPlaylistRanker(tol=0.01).fit(X),
    )
    zeros = np.where(X["playlist"] == X["playlist"].iloc[0], 0.0, 1.0)
    without = stack.fit(X, sample_weight=zeros)
    assert X["playlist"].iloc[0] not in without.playlists_
    assert without.predict(X).shape == (len(X),)
    with pytest.raises(TypeError, match="`fit` must get no other arguments than `sample_weight`"):
        stack.fit(X, weights=weights)
    with config_context(enable_metadata_routing=True):
        routed = StackingRanker(parts, random_state=0).set_fit_request(sample_weight=True)
        search = GridSearchCV(routed, {"multitask__user_l2": [0.3]}, cv=ColdPlaylistKFold(2))
        search.fit(X, sample_weight=weights)
    same(search.best_estimator_.named_estimators_["multitask"], expected)


def test_make_ranker_names_the_column_of_weights():
    table = X.assign(w=random_weights())
    ranker = make_ranker(table, weight="w", random_state=0)
    assert dict(ranker.estimators)["multitask"].weight == "w"
    chosen = [c for _, _, c in dict(ranker.estimators)["ridge"].song_features.transformers]
    assert all("w" not in columns for columns in chosen)
    alone = dict(make_ranker(table[["user", "playlist", "song", "w"]], weight="w").estimators)
    assert alone["multitask"].weight == "w"
    with pytest.raises(ValueError, match="must have a column 'much' of weights"):
        make_ranker(table, weight="much")
    plain = alone["multitask"].set_params(tol=0.1).fit(table[["user", "playlist", "song", "w"]])
    assert plain.playlist_weight_ is not None


def test_old_playlists_fade():
    days = np.random.default_rng(0).integers(0, 1000, 24)[pd.factorize(X["playlist"])[0]]
    table = X.assign(created_at=pd.Timestamp("2011-01-01") + pd.to_timedelta(days, "D"))
    table["w"] = half_life_weights(table["created_at"], 200)
    ranker = MultitaskPlaylistRanker(weight="w", tol=0.01)
    scores = cross_validate(ranker, table, cv=TimeSplit(2), error_score="raise")["test_score"]
    assert np.isfinite(scores).all()
