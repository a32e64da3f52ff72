"""The whole package on a cluster: the same results as here."""

import numpy as np
import pandas as pd
import pytest
from digests import RANKERS, TRAIN, digest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skmtc import (
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PopularityRanker,
    compare,
    evaluate,
)
from skmtc._utils.parallel import Workers
from skmtc._utils.threads import Threads
from skmtc.datasets import make_playlists
from skmtc.model_selection import ColdPlaylistKFold
from skmtc.optimize.prox_newton import _exact

METRICS = ["auc", "hit_rate@5", "novelty@5"]


@pytest.fixture(scope="module")
def X():
    made = make_playlists(n_users=600, n_playlists=900, n_songs=150, random_state=0)
    return made.drop(columns="year")


@pytest.fixture(scope="module")
def ranker(X):
    return MultitaskPlaylistRanker(random_state=0).fit(X)


@pytest.fixture
def rounds(monkeypatch):
    """Count what is sent out."""
    seen = []
    whole = Workers._outcomes

    def count(self, function, items):
        seen.append(len(items))
        return whole(self, function, items)

    monkeypatch.setattr(Workers, "_outcomes", count)
    return seen


def test_a_ranker_fitted_on_a_cluster_is_the_same(client, X, ranker, rounds, monkeypatch):
    monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 0)  # as a large table: it leaves the caller
    here = clone(ranker).fit(X)
    again = clone(ranker).set_params(n_jobs=2).fit(X)
    assert rounds == []
    with parallel_config(backend="dask"):
        far = clone(ranker).set_params(n_jobs=-1).fit(X)
    assert max(rounds) > 1
    for name in ("shared_coef_", "user_coef_", "playlist_coef_"):
        assert np.array_equal(getattr(far, name), getattr(here, name))
        assert np.array_equal(getattr(again, name), getattr(here, name))


@pytest.mark.parametrize("backend", ["threading", "dask"])
def test_evaluate_gives_the_same_table_anywhere(client, X, ranker, rounds, backend):
    table = evaluate(ranker, X, METRICS)
    with parallel_config(backend=backend):
        assert evaluate(ranker, X, METRICS, n_jobs=2).equals(table)
    assert bool(rounds) == (backend == "dask")


@pytest.mark.parametrize("options", [{}, {"sample": True, "random_state": 0, "max_per_artist": 2}])
@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_recommend_gives_the_same_songs_anywhere(client, X, ranker, rounds, backend, options):
    queries = X[["user", "playlist"]].drop_duplicates()
    queries = pd.concat([queries, queries.assign(playlist="new")])
    here = ranker.recommend(queries, n_recommendations=5, **options)
    assert rounds == []
    with parallel_config(backend=backend, n_jobs=2):
        few = ranker.recommend(queries[:1000], n_recommendations=5, **options)
        assert rounds == []
        there = ranker.recommend(queries, n_recommendations=5, **options)
    assert max(rounds) > 2
    assert np.array_equal(few[0], here[0][:1000])
    for near, far in zip(here, there, strict=True):
        assert np.array_equal(near, far)


def test_recommend_with_history_gives_the_same_songs_anywhere(client, X, rounds):
    ranker = OwnSongsRanker().fit(X)
    queries = X[["user", "playlist"]].drop_duplicates()
    queries = pd.concat([queries, queries.assign(playlist="new")])
    here = ranker.recommend(queries, n_recommendations=5, exclude_seen="user")
    with parallel_config(backend="dask"):
        there = ranker.recommend(queries, n_recommendations=5, exclude_seen="user")
    assert max(rounds) > 2
    for near, far in zip(here, there, strict=True):
        assert np.array_equal(near, far)


def test_recommend_in_parts_gives_the_same_songs(client, X, ranker):
    queries = X[["user"]].drop_duplicates()
    whole = ranker.recommend(queries, n_recommendations=5)
    with parallel_config(backend="dask"):
        parts = Parallel(n_jobs=2)(
            delayed(ranker.recommend)(queries.iloc[start : start + 150], n_recommendations=5)
            for start in range(0, len(queries), 150)
        )
    assert np.array_equal(np.concatenate([songs for songs, _ in parts]), whole[0])


class Counting(PopularityRanker):
    """A ranker that writes down how many threads its fit may use."""

    def fit(self, X, y=None):
        """Learn, and count."""
        super().fit(X, y)
        self.n_threads_ = [Threads(n_jobs).n_threads for n_jobs in (None, -1, 1)]
        return self

    def score(self, X, y=None):
        """Return the number, negated."""
        assert len(X) > 0
        assert y is None
        return -float(max(self.n_threads_))


def test_a_search_on_a_cluster_gives_the_same_and_uses_one_core_a_fit(client, X, rounds):
    search = GridSearchCV(
        MultitaskPlaylistRanker(random_state=0),
        {"user_l2": [0.1, 1.0]},
        cv=ColdPlaylistKFold(2),
    ).fit(X)
    with parallel_config(backend="dask"):
        far = clone(search).set_params(refit=False).fit(X)
        counted = GridSearchCV(Counting(), {"user": ["user"]}, cv=2, refit=False).fit(X)
    assert rounds == []  # folds are tasks; no task sends out others
    assert np.array_equal(far.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    assert counted.cv_results_["mean_test_score"] == [-1.0]


def test_compare_on_a_cluster_gives_the_same_table(client, X, rounds):
    rankers = {"popularity": PopularityRanker()}
    cv = ColdPlaylistKFold(2)
    table = compare(rankers, X, cv, METRICS)
    with parallel_config(backend="dask"):
        assert compare(rankers, X, cv, METRICS, n_jobs=2).equals(table)
    assert rounds == []


def test_threads_processes_and_a_cluster_give_the_same_bits(client):
    ranker = RANKERS["multitask"]
    expected = digest(clone(ranker).fit(TRAIN))
    for backend in ("threading", "loky", "dask"):
        with parallel_config(backend=backend, n_jobs=2):
            assert digest(clone(ranker).set_params(n_jobs=2).fit(TRAIN)) == expected
