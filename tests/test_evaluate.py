"""Judging a fitted ranker, playlist by playlist."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from skmtc import MultitaskPlaylistRanker, PopularityRanker, evaluate
from skmtc.datasets import make_playlists
from skmtc.metrics import make_playlist_scorer
from skmtc.model_selection import ColdPlaylistSplit

METRICS = ["auc", "hit_rate@5", "ndcg", "novelty@5", "spread", "neg_bottom_push_loss"]
METRICS += ["tail_share@5", "intra_list_distance@5"]


@pytest.fixture(scope="module")
def split():
    X = make_playlists(n_users=20, n_playlists=80, n_songs=60, random_state=1).drop(columns="year")
    ((train, test),) = ColdPlaylistSplit(user_size=0.6, min_song_count=2, random_state=0).split(X)
    return X.iloc[train], X.iloc[test]


@pytest.fixture(scope="module")
def ranker(split):
    return MultitaskPlaylistRanker(tol=0.1).fit(split[0])


def test_one_row_per_playlist(split, ranker):
    test = split[1]
    table = evaluate(ranker, test, METRICS)
    assert table.columns.tolist() == ["user", "playlist", "size", "setting", *METRICS]
    assert set(table["setting"]) == {"cold playlist"}
    sizes = test.groupby("playlist")["song"].nunique()
    assert table.set_index("playlist")["size"].to_dict() == sizes.to_dict()
    for playlist, area in zip(table["playlist"], table["auc"], strict=True):
        assert area == ranker.score(test[test["playlist"] == playlist])
    assert evaluate(make_pipeline(ranker), test, METRICS).equals(table)


def test_users_and_summary_are_means_of_playlists(split, ranker):
    table = evaluate(ranker, split[1], METRICS)
    users = evaluate(ranker, split[1], METRICS, by="user")
    expected = table.groupby("user")[METRICS].mean()
    np.testing.assert_allclose(users.set_index("user")[METRICS], expected)
    assert users["n_playlists"].sum() == len(table)
    summary = evaluate(ranker, split[1], METRICS, by="summary", random_state=0)
    for _, row in summary.iterrows():
        score = make_playlist_scorer(row["metric"])(ranker, split[1])
        assert row["mean"] == pytest.approx(score)
        assert row["low"] <= row["mean"] <= row["high"]
    assert summary["n_playlists"].tolist() == [len(table)] * len(METRICS)
    assert summary["n_users"].tolist() == [len(users)] * len(METRICS)


def test_intervals_are_those_of_the_theory():
    # With one playlist per user, the interval of a mean is close to the normal one.
    X = make_playlists(n_users=400, n_playlists=400, n_songs=80, random_state=0)
    X = X.drop(columns="year")
    ranker = PopularityRanker().fit(X)
    new = X.assign(playlist="new " + X["playlist"])
    table = evaluate(ranker, new, "auc")["auc"]
    row = evaluate(ranker, new, "auc", by="summary", confidence=0.9, random_state=0).iloc[0]
    error = 1.645 * table.std() / np.sqrt(len(table))
    assert row["high"] - row["mean"] == pytest.approx(error, rel=0.15)
    assert row["mean"] - row["low"] == pytest.approx(error, rel=0.15)


def test_the_bootstrap_depends_on_the_seed_alone(split, ranker):
    options = {"by": "summary", "n_resamples": 50}
    one = evaluate(ranker, split[1], **options, random_state=3)
    assert one.equals(evaluate(ranker, split[1], **options, random_state=3))
    other = evaluate(ranker, split[1], **options, random_state=4)
    assert not one["low"].equals(other["low"])
    assert one["mean"].equals(other["mean"])


def test_settings_are_summarised_apart(split, ranker):
    train, test = split
    known = train.iloc[:20]
    summary = evaluate(ranker, pd.concat([test, known]), "auc", by="summary", n_resamples=10)
    assert sorted(summary["setting"]) == ["cold playlist", "nothing cold"]
    assert summary["n_playlists"].sum() == pd.concat([test, known])["playlist"].nunique()


def test_metrics_of_all_queries_have_a_value_per_setting(split, ranker):
    train, test = split
    known = train.iloc[:20]
    labels = ["coverage@5", "gini@5", "spread_frequency@5"]
    summary = evaluate(ranker, pd.concat([test, known]), labels, by="summary", n_resamples=10)
    found = summary.set_index(["setting", "metric"])
    for label in labels:
        score = make_playlist_scorer(label)
        assert found.loc[("cold playlist", label), "mean"] == pytest.approx(score(ranker, test))
        assert found.loc[("nothing cold", label), "mean"] == pytest.approx(score(ranker, known))
    assert summary[["low", "high"]].isna().all(axis=None)
    for n_jobs in (1, 2):
        again = evaluate(ranker, test, labels, by="summary", n_jobs=n_jobs)
        expected = found.loc["cold playlist"].loc[again["metric"], "mean"]
        assert again["mean"].tolist() == expected.tolist()


@pytest.mark.filterwarnings("ignore:PopularityRanker has the same score")
def test_undefined_playlists_are_counted():
    X = pd.DataFrame(
        {"user": [0, 0, 1, 1], "playlist": [0, 0, 1, 1], "song": [0, 1, 1, 2], "artist": "a"}
    )
    ranker = PopularityRanker().fit(X)
    new = pd.DataFrame({"user": [0, 0, 1], "playlist": [0, 0, 1], "song": [7, 8, 8], "artist": "a"})
    table = evaluate(ranker, new, ["auc", "hit_rate@1"])
    # The first playlist has both candidates, so it has no negatives.
    np.testing.assert_array_equal(table["auc"], [np.nan, 0.5])
    summary = evaluate(ranker, new, ["auc", "hit_rate@1"], by="summary", random_state=0)
    assert summary["n_undefined"].tolist() == [1, 0]
    assert summary["mean"].tolist() == [0.5, 0.5]
    nowhere = evaluate(ranker, new.iloc[:2], "auc", by="summary")
    assert nowhere[["mean", "low", "high"]].isna().all(axis=None)


def test_bad_requests_are_reported(split, ranker):
    with pytest.raises(ValueError, match=r"`by` must be one of .*; got 'song'"):
        evaluate(ranker, split[1], by="song")
    with pytest.raises(ValueError, match="value for each playlist; got 'spread_frequency@3'"):
        evaluate(ranker, split[1], "spread_frequency@3")
    with pytest.raises(ValueError, match="`confidence` must be above 0 and below 1; got 95"):
        evaluate(ranker, split[1], by="summary", confidence=95)
