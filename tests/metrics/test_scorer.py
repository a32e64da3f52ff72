"""Scorers in everything of scikit-learn that takes `scoring=` and `cv=`."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.datasets import make_playlists
from skmtc.metrics import make_playlist_scorer, playlist_scoring
from skmtc.model_selection import (
    ColdPlaylistKFold,
    ColdPlaylistSplit,
    ColdSongKFold,
    ColdSongSplit,
    ColdUserKFold,
    ColdUserSplit,
)

SPLITTERS = {
    "playlist split": ColdPlaylistSplit(min_song_count=2, random_state=0),
    "user split": ColdUserSplit(user_size=0.2, random_state=0),
    "song split": ColdSongSplit(random_state=0),
    "playlist folds": ColdPlaylistKFold(2),
    "user folds": ColdUserKFold(2),
    "song folds": ColdSongKFold(2, shuffle=True, random_state=0),
}
SCORERS = {
    "auc": make_playlist_scorer("auc"),
    "hit_rate": make_playlist_scorer("hit_rate", k=5),
    "r_precision": make_playlist_scorer("r_precision"),
    "ndcg": make_playlist_scorer("ndcg", k=10),
    "novelty": make_playlist_scorer("novelty@5"),
    "spread": make_playlist_scorer("spread"),
    "spread_frequency": make_playlist_scorer("spread", method="frequency", k=5),
    "neg_bottom_push_loss": make_playlist_scorer("neg_bottom_push_loss"),
}
EVERYTHING = playlist_scoring("auc", "hit_rate@10", "hit_rate@100", "novelty@100", "spread")
GRID = {"user_l2": [0.5], "playlist_l1": [1.0], "shared_l1": [0.01, 0.1], "push": [1.0, 2.0]}
routing = pytest.mark.parametrize("routing", [False, True], ids=["plain", "routing"])


def drop_year(X):
    return X.drop(columns="year")


def make_ranker(**parameters):
    """Make a pipeline, as the release of songs is for the splitter only."""
    ranker = MultitaskPlaylistRanker(tol=0.1, **parameters)
    return Pipeline([("songs", FunctionTransformer(drop_year)), ("ranker", ranker)])


@pytest.fixture(scope="module")
def X():
    # Many playlists of few songs: nearly every song stays in training whoever is held out.
    return make_playlists(
        n_users=20, n_playlists=80, n_songs=60, n_features=3, mean_length=8, random_state=1
    )


def in_pipeline(grid):
    return {f"ranker__{name}": values for name, values in grid.items()}


@routing
@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
def test_grid_search_by_several_metrics(X, cv, routing):
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(
            make_ranker(), in_pipeline(GRID), cv=cv, scoring=EVERYTHING, refit="auc", n_jobs=2
        ).fit(X)
    results = search.cv_results_
    assert results["mean_test_auc"][search.best_index_] == results["mean_test_auc"].max()
    for metric in ("auc", "hit_rate@10", "hit_rate@100", "novelty@100", "spread"):
        assert np.isfinite(results[f"mean_test_{metric}"]).all()
    # The scorer finds the ranker in a search over pipelines.
    assert EVERYTHING(search, X) == EVERYTHING(search.best_estimator_, X)


@pytest.mark.filterwarnings("ignore:MultitaskPlaylistRanker has the same score")
@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
@pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)
def test_every_scorer_with_every_splitter(X, cv, scorer):
    grid = {"shared_l1": [0.01, 0.1]}
    ranker = MultitaskPlaylistRanker(tol=0.1)
    if getattr(cv, "released", None):
        search = GridSearchCV(make_ranker(), in_pipeline(grid), cv=cv, scoring=scorer)
    else:
        search = GridSearchCV(ranker, grid, cv=cv, scoring=scorer)
        X = drop_year(X)
    assert np.isfinite(search.fit(X).cv_results_["mean_test_score"]).all()


@pytest.mark.filterwarnings("ignore:MultitaskPlaylistRanker has the same score")
@routing
def test_other_searches_and_cross_validation(X, routing):
    ranker, cv = make_ranker(), SPLITTERS["user folds"]
    grid = in_pipeline({"shared_l1": [0.01, 0.1]})
    with config_context(enable_metadata_routing=routing):
        random = RandomizedSearchCV(
            ranker, grid, n_iter=2, cv=cv, scoring=SCORERS["auc"], random_state=0
        ).fit(X)
        halving = HalvingGridSearchCV(
            ranker, grid, cv=cv, scoring=SCORERS["auc"], min_resources=300, random_state=0
        ).fit(X)
        # With routing, the oldest scikit-learn takes no None for the metadata.
        options = {"cv": cv, "params": {}}
        scores = cross_val_score(ranker, X, scoring=SCORERS["auc"], **options)
        results = cross_validate(ranker, X, scoring=EVERYTHING, return_train_score=True, **options)
        named = cross_validate(ranker, X, scoring=SCORERS, **options)
    assert random.best_score_ >= scores.mean() - 1e-9
    assert 0.5 < halving.best_score_ < 1
    np.testing.assert_array_equal(scores, results["test_auc"])
    np.testing.assert_array_equal(scores, named["test_auc"])
    assert (results["train_auc"] > 0.5).all()


def test_the_number_of_jobs_changes_nothing(X):
    values = [
        cross_validate(
            make_ranker(), X, cv=SPLITTERS["playlist folds"], scoring=EVERYTHING, n_jobs=n_jobs
        )["test_auc"]
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*values)


def test_the_score_of_a_ranker_is_its_auc(X):
    X = drop_year(X)
    ranker = PopularityRanker().fit(X)
    test = X.assign(playlist="new " + X["playlist"])
    assert make_playlist_scorer("auc")(ranker, test) == ranker.score(test)
    assert playlist_scoring("auc")(ranker, test) == {"auc": ranker.score(test)}


def test_finds_the_ranker_in_pipelines(X):
    table = drop_year(X)
    alone = PopularityRanker().fit(table)
    scorer = SCORERS["auc"]
    expected = scorer(alone, table)
    assert scorer(make_pipeline(PopularityRanker()).fit(table), table) == expected
    nested = make_pipeline(
        "passthrough", make_pipeline(FunctionTransformer(drop_year), PopularityRanker())
    )
    assert scorer(nested.fit(X), X) == expected
    with pytest.raises(TypeError, match=r"must be a ranker, a Pipeline.* got LogisticRegression"):
        scorer(LogisticRegression(), table)
    with pytest.raises(TypeError, match="fitted search with `refit`; got GridSearchCV"):
        scorer(GridSearchCV(PopularityRanker(), {}), table)


@pytest.mark.filterwarnings("ignore:PopularityRanker has the same score")
def test_all_songs_as_candidates(X):
    table = drop_year(X)
    is_new = table["song"].isin(table["song"].unique()[:10])
    ranker = PopularityRanker().fit(table[~is_new])
    among_new = make_playlist_scorer("hit_rate", k=10)(ranker, table[is_new])
    among_all = make_playlist_scorer("hit_rate", k=10, candidates="all")(ranker, table[is_new])
    assert among_new == 1.0  # there are only ten
    assert among_all < 1.0


def test_undefined_playlists_are_reported(X):
    table = drop_year(X)
    ranker = PopularityRanker().fit(table)
    rows = table[table["playlist"] == "playlist0"]
    new = rows.assign(song="new " + rows["song"])
    two = table[table["playlist"] == "playlist1"].iloc[[0]].assign(song=new["song"].iloc[0])
    with pytest.warns(UndefinedMetricWarning, match="auc is not defined for 1 of 2 playlists"):
        SCORERS["auc"](ranker, pd.concat([new, two]))


def test_scorers_travel_and_show_themselves():
    for scorer in (*SCORERS.values(), EVERYTHING):
        assert repr(pickle.loads(pickle.dumps(scorer))) == repr(scorer)
    assert repr(SCORERS["hit_rate"]) == "make_playlist_scorer('hit_rate', k=5)"
    assert repr(SCORERS["novelty"]) == "make_playlist_scorer('novelty@5')"
    shown = repr(playlist_scoring("auc", "spread", candidates="all"))
    assert shown == "playlist_scoring('auc', 'spread', candidates='all')"


def test_bad_requests_are_reported():
    with pytest.raises(ValueError, match="at least one metric; got none"):
        playlist_scoring()
    with pytest.raises(ValueError, match=r"must be distinct; got \['auc', 'auc'\]"):
        playlist_scoring("auc", "auc")
    with pytest.raises(ValueError, match="`method` must be given to 'spread' only; got 'soft"):
        make_playlist_scorer("auc", method="softmax")
    with pytest.raises(ValueError, match="`method` must be 'softmax' or 'frequency'; got 'gini'"):
        make_playlist_scorer("spread", method="gini")
