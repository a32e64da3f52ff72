"""Judging several rankers by cross-validation."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import KFold

from skmtc import MultitaskPlaylistRanker, PopularityRanker, compare, evaluate
from skmtc.datasets import make_playlists
from skmtc.metrics import make_playlist_scorer
from skmtc.model_selection import (
    ColdPlaylistKFold,
    ColdSongKFold,
    ColdSongSplit,
    ColdUserKFold,
    ColdUserSplit,
)

RANKERS = {"popularity": PopularityRanker(), "multitask": MultitaskPlaylistRanker(tol=0.1)}
METRICS = ["auc", "novelty@5"]


@pytest.fixture(scope="module")
def X():
    return make_playlists(n_users=20, n_playlists=80, n_songs=60, random_state=1).drop(
        columns="year"
    )


def test_a_table_in_the_form_of_the_paper(X):
    cv = {"playlists": ColdPlaylistKFold(2), "songs": ColdSongKFold(2)}
    table = compare(RANKERS, X, cv, METRICS)
    assert table.index.tolist() == ["popularity", "multitask"]
    assert table.columns.tolist() == [(where, m) for where in cv for m in METRICS]
    assert table.notna().all(axis=None)


def test_means_are_those_of_the_scorers(X):
    cv = ColdUserSplit(user_size=0.2, random_state=0)
    table = compare(RANKERS, X, cv, METRICS)
    ((train, test),) = cv.split(X)
    for name, ranker in RANKERS.items():
        fitted = clone(ranker).fit(X.iloc[train])
        for metric in METRICS:
            score = make_playlist_scorer(metric)(fitted, X.iloc[test])
            assert table.loc[name, ("cold users", metric)] == pytest.approx(score)


def test_by_playlist_and_summary(X):
    cv = ColdPlaylistKFold(2)
    table = compare(RANKERS, X, cv, METRICS, by="playlist")
    assert table.columns.tolist()[:3] == ["ranker", "cv", "fold"]
    train, test = next(cv.split(X))
    fitted = clone(RANKERS["multitask"]).fit(X.iloc[train])
    part = table[(table["ranker"] == "multitask") & (table["fold"] == 0)]
    expected = evaluate(fitted, X.iloc[test], METRICS)
    assert part[expected.columns].reset_index(drop=True).equals(expected)
    summary = compare(RANKERS, X, cv, METRICS, by="summary", random_state=0)
    assert (summary["low"] <= summary["mean"]).all()
    assert (summary["mean"] <= summary["high"]).all()
    auc = summary[(summary["ranker"] == "multitask") & (summary["metric"] == "auc")]["mean"]
    everything = table[table["ranker"] == "multitask"]["auc"]
    assert auc.iloc[0] == pytest.approx(everything.mean())


def test_random_splits_are_the_same_for_all_rankers(X):
    twins = {"one": PopularityRanker(), "other": PopularityRanker()}
    table = compare(twins, X, ColdUserSplit(3, user_size=0.2), "auc", by="playlist")
    one, other = (table[table["ranker"] == name]["auc"].to_numpy() for name in twins)
    np.testing.assert_array_equal(one, other)


def test_any_splits_tables_and_jobs(X):
    splits = list(KFold(2, shuffle=True, random_state=0).split(X))
    table = compare(RANKERS, X, splits, "auc")
    assert table.columns.tolist() == [("list", "auc")]
    assert compare(RANKERS, X, {"list": splits}, "auc", n_jobs=2).equals(table)
    assert compare(RANKERS, pl.from_pandas(X), splits, "auc").equals(table)


def test_progress_is_told(X, capsys):
    compare(RANKERS, X, ColdPlaylistKFold(2), "auc", verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("1/4 popularity, cold playlists, fold 0: fitted in ")
    assert "judged in " in lines[3]
    assert "auc 0." in lines[3]


def test_bad_requests_are_told(X):
    with pytest.raises(TypeError, match="`rankers` must be a dict of estimators by name"):
        compare([PopularityRanker()], X, ColdPlaylistKFold(2))
    with pytest.raises(ValueError, match="`cv` must have at least one splitter"):
        compare(RANKERS, X, {})
    with pytest.raises(ValueError, match=r"`by` must be one of .*; got 'user'"):
        compare(RANKERS, X, ColdPlaylistKFold(2), by="user")


def test_metrics_may_be_an_iterator_and_are_checked_before_any_fit():
    X = make_playlists(random_state=0)
    rankers = {"popularity": PopularityRanker()}
    listed = compare(rankers, X, ColdUserKFold(2), ["auc"])
    pd.testing.assert_frame_equal(compare(rankers, X, ColdUserKFold(2), iter(["auc"])), listed)
    with pytest.raises(ValueError, match="at least one metric"):
        compare(rankers, X, ColdUserKFold(2), [])
    with pytest.raises(TypeError, match="dict of splitters by name"):
        compare(rankers, X, [ColdUserKFold(2)], "auc")


def test_playlists_without_a_value_are_told():
    X = make_playlists(30, 100, 80, random_state=0)
    cv = ColdSongSplit(n_songs=2, random_state=0)
    with pytest.warns(
        UndefinedMetricWarning, match="auc of popularity, cold songs, is not defined"
    ):
        compare({"popularity": PopularityRanker()}, X, cv, "auc")


def test_rankers_that_score_alike_have_the_same_interval():
    X = make_playlists(random_state=0)
    twins = {"one": PopularityRanker(), "other": PopularityRanker()}
    summary = compare(twins, X, ColdUserKFold(2), "auc", by="summary", random_state=0)
    assert summary["low"].nunique() == summary["high"].nunique() == 1
