"""Judging several rankers by cross-validation."""

from time import sleep

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from skmtc import (
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PopularityRanker,
    compare,
    evaluate,
)
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


@pytest.mark.filterwarnings("ignore:PopularityRanker has the same score")
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


def test_progress_is_reported(X, capsys):
    compare(RANKERS, X, ColdPlaylistKFold(2), "auc", verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("1/4 popularity, cold playlists, fold 0: fitted in ")
    assert "evaluated in " in lines[3]
    assert "auc 0." in lines[3]


def test_bad_requests_are_reported(X):
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


def test_playlists_without_a_value_are_reported():
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


class Failing(PopularityRanker):
    """Fails where the training set has fewer rows than it asks for."""

    def __init__(self, fewest_rows=0):
        super().__init__()
        self.fewest_rows = fewest_rows

    def fit(self, X, y=None):
        """Fail or fit."""
        if len(X) < self.fewest_rows:
            raise ValueError(f"too few rows: {len(X)}")
        return super().fit(X, y)


def test_a_ranker_that_fails_does_not_stop_the_others(X):
    cv = {"users": ColdUserKFold(2), "playlists": ColdPlaylistKFold(2)}
    rankers = {"failing": Failing(10**9), **RANKERS}
    with pytest.warns(FitFailedWarning) as reported:
        table = compare(rankers, X, cv, METRICS, error_score=-1.0)
    assert len(reported) == len(cv)
    assert "failing, users, failed and gets `error_score`: ValueError: too few" in str(
        reported[0].message
    )
    assert table.columns.tolist() == [(where, m) for where in cv for m in METRICS]
    assert (table.loc["failing"] == -1.0).all()
    assert table.loc[list(RANKERS)].equals(compare(RANKERS, X, cv, METRICS))


def test_one_failed_fold_counts_as_failure(X):
    # The training rows of the two folds differ in number, so only one of them fails.
    splits = [(np.arange(200), np.arange(200, 300)), (np.arange(150), np.arange(150, 300))]
    rankers = {"failing": Failing(180), "popularity": PopularityRanker()}
    with pytest.warns(FitFailedWarning):
        summary = compare(
            rankers, X, {"rows": splits}, "auc", by="summary", error_score=np.nan
        ).set_index("ranker")
    assert np.isnan(summary.loc["failing", "mean"])
    assert summary.loc["failing", "n_playlists"] == 0
    assert summary.loc["popularity", "mean"] > 0
    with pytest.warns(FitFailedWarning):
        folds = compare(rankers, X, {"rows": splits}, "auc", by="fold", error_score=np.nan)
    errors = folds.set_index(["ranker", "fold"])["error"]
    assert errors["failing", 1] == "ValueError: too few rows: 150"
    assert (errors.drop(("failing", 1)) == "").all()
    with pytest.warns(FitFailedWarning):
        playlists = compare(rankers, X, {"rows": splits}, "auc", by="playlist", error_score=0.0)
    counts = playlists.groupby("ranker")["fold"].nunique()
    assert counts.to_dict() == {"failing": 1, "popularity": 2}


def test_errors_are_raised_unless_asked_otherwise(X):
    with pytest.raises(ValueError, match="too few rows"):
        compare({"failing": Failing(10**9)}, X, ColdUserKFold(2), "auc")
    with pytest.raises(ValueError, match="`error_score` must be 'raise' or a number; got 'nan'"):
        compare(RANKERS, X, ColdUserKFold(2), "auc", error_score="nan")


@pytest.mark.parametrize("by", ["table", "summary", "fold", "playlist"])
def test_nothing_but_failures_still_gives_a_table(X, by):
    with pytest.warns(FitFailedWarning):
        result = compare(
            {"failing": Failing(10**9)}, X, ColdUserKFold(2), "auc", by=by, error_score=0.5
        )
    assert len(result) == {"table": 1, "summary": 1, "fold": 2, "playlist": 0}[by]


def test_by_fold_has_the_means_and_times_of_each_fit(X):
    folds = compare(RANKERS, X, ColdPlaylistKFold(2), METRICS, by="fold")
    assert folds.columns.tolist() == [
        *["ranker", "cv", "fold", "n_users", "n_playlists"],
        *[*METRICS, "fit_time", "score_time", "error"],
    ]
    assert (folds[["fit_time", "score_time"]] > 0).all(axis=None)
    playlists = compare(RANKERS, X, ColdPlaylistKFold(2), METRICS, by="playlist")
    means = playlists.groupby(["ranker", "fold"])["auc"].mean()
    for row in folds.itertuples():
        assert row.auc == pytest.approx(means[row.ranker, row.fold])
    # The mean of novelty is over users.
    part = playlists[(playlists["ranker"] == "multitask") & (playlists["fold"] == 1)]
    expected = part.groupby("user")["novelty@5"].mean().mean()
    row = folds[(folds["ranker"] == "multitask") & (folds["fold"] == 1)]
    assert row["novelty@5"].item() == pytest.approx(expected)


def test_the_time_of_a_fit_includes_what_new_songs_need(X):
    fitted = []

    class Slow(LinearRegression):
        def fit(self, X, y):
            fitted.append(len(X))
            sleep(0.3)
            return super().fit(X, y)

    features = [c for c in X.columns if c.startswith("x")]
    numbers = make_column_transformer(("passthrough", features))
    ranker = MatrixFactorizationRanker(n_factors=4, song_features=numbers, content_model=Slow())
    cv = {"users": ColdUserSplit(random_state=0), "songs": ColdSongSplit(released=None)}
    table = compare({"factors": ranker}, X, cv, "auc", by="fold").set_index("cv")
    assert len(fitted) == 1
    assert table.loc["songs", "fit_time"] > 0.3 > table.loc["songs", "score_time"]
