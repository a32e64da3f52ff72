"""Paired differences against plain arithmetic, Holm's method, and simulated rankers."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn.exceptions import FitFailedWarning

from skmtc import MultitaskPlaylistRanker, PopularityRanker, SameArtistRanker, compare
from skmtc._paired import holm, paired_differences
from skmtc.datasets import make_playlists
from skmtc.model_selection import ColdPlaylistSplit, ColdUserSplit


def _table(values, users, metric="auc"):
    """Make the table of rankers' values, an array of playlists by rankers."""
    rows = []
    for name, own in zip("abcdef", np.transpose(values), strict=False):
        ids = {"ranker": name, "cv": "cold", "fold": 0, "user": users}
        rows.append(pd.DataFrame(ids | {"playlist": np.arange(len(own)), metric: own}))
    return pd.concat(rows, ignore_index=True)


def _by_ranker(table, **options):
    metric = table.columns[-1]
    return paired_differences(table, [metric], **options).set_index("ranker")


def test_with_one_playlist_a_user_it_is_the_paired_t_test():
    values = np.random.default_rng(0).normal(size=(40, 2)) + [0.3, 0.0]
    found = _by_ranker(_table(values, np.arange(40)), reference="a").loc["b"]
    expected = ttest_rel(values[:, 1], values[:, 0])
    assert found["p_value"] == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high))
    assert found["difference"] == pytest.approx((values[:, 1] - values[:, 0]).mean())


def test_playlists_of_a_user_count_as_one():
    values = np.random.default_rng(1).normal(size=(30, 2))
    once = _by_ranker(_table(values, np.arange(30)), reference="a").loc["b"]
    again = _table(np.repeat(values, 5, axis=0), np.repeat(np.arange(30), 5))
    five = _by_ranker(again, reference="a").loc["b"]
    for name in ("difference", "low", "high", "p_value"):
        assert five[name] == pytest.approx(once[name])
    assert (five["n_users"], five["n_playlists"]) == (30, 150)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, np.nan]) == pytest.approx(
        [0.03, 0.06, 0.06, np.nan], nan_ok=True
    )
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_verdicts():
    rng = np.random.default_rng(2)
    common = rng.normal(size=(200, 1))
    values = common + [0.0, 0.001, -0.5, 0.0] + 0.1 * rng.normal(size=(200, 4))
    values[:, 3] = values[:, 1]
    table = _table(values, np.repeat(np.arange(100), 2))
    found = _by_ranker(table)
    best = found.index[0]
    assert found["mean"].is_monotonic_decreasing
    assert found.loc[best, "verdict"] == "best"
    assert found["verdict"].drop(best).to_dict() == dict.fromkeys(
        {"a", "b", "d"} - {best}, "tied"
    ) | {"c": "worse"}
    assert (found["reference"] == best).all()
    assert found.loc[best, ["difference", "low", "high"]].tolist() == [0, 0, 0]
    against = _by_ranker(table, reference="c")["verdict"]
    assert against.to_dict() == {"a": "better", "b": "better", "d": "better", "c": "reference"}


def test_novelty_has_no_best_and_is_a_mean_over_users():
    values = np.array([[4.0, 1.0], [4.0, 1.0], [0.0, 0.9]])
    found = _by_ranker(_table(values, ["u", "u", "v"], "novelty@10"))
    assert found.loc["a", "mean"] == pytest.approx(2.0)
    assert found["verdict"].tolist() == ["highest", "tied"]


def test_one_user_is_no_test():
    found = _by_ranker(_table(np.array([[1.0, 0.0], [1.0, 0.0]]), ["u", "u"]))
    assert found["verdict"].tolist() == ["best", "tied"]
    assert np.isnan(found.loc["b", "p_value"])


def test_only_playlists_for_which_all_are_defined_count():
    values = np.array([[1.0, 0.5], [np.nan, 0.0], [0.5, 0.5]])
    found = _by_ranker(_table(values, list("uvw")))
    assert found["n_playlists"].tolist() == [2, 2]
    assert found.loc["b", "mean"] == 0.5
    nothing = _by_ranker(_table(np.full((2, 2), np.nan), list("uv")))
    assert nothing["verdict"].tolist() == ["", ""]
    assert nothing["mean"].isna().all()


def test_the_level_of_the_tests_holds():
    # 300 comparisons of five equal rankers: in about one of twenty somebody is told apart.
    wrong = 0
    for seed in range(300):
        values = np.random.default_rng(seed).normal(size=(60, 5))
        users = np.repeat(np.arange(20), 3)
        verdicts = _by_ranker(_table(values, users), reference="a")["verdict"]
        wrong += (verdicts.isin(["better", "worse"])).any()
    assert wrong / 300 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


@pytest.fixture(scope="module")
def X():
    return make_playlists(20, 80, 60, random_state=1).drop(columns="year")


def test_compare_gives_differences(X):
    rankers = {"popularity": PopularityRanker(), "multitask": MultitaskPlaylistRanker(tol=0.1)}
    cv = {"users": ColdUserSplit(random_state=0), "playlists": ColdPlaylistSplit(random_state=0)}
    options = {"metrics": ["auc", "recall@5"], "by": "difference", "reference": "popularity"}
    found = compare(rankers, X, cv, **options)
    assert found.groupby(["cv", "metric"], sort=False).size().to_dict() == {
        (where, metric): 2 for where in cv for metric in ("auc", "recall@5")
    }
    summary = compare(rankers, X, cv, ["auc", "recall@5"])
    for row in found.itertuples():
        assert row.mean == pytest.approx(summary.loc[row.ranker, (row.cv, row.metric)])
    with pytest.raises(ValueError, match=r"`reference` must be one of the rankers .* got 'nobody'"):
        compare(rankers, X, cv, by="difference", reference="nobody")


def test_rankers_that_failed_are_not_compared(X):
    rankers = {"popularity": PopularityRanker(), "failed": SameArtistRanker(artist="none")}
    options = {"metrics": "auc", "by": "difference", "error_score": np.nan}
    with pytest.warns(FitFailedWarning):
        found = compare(rankers, X, ColdUserSplit(random_state=0), **options)
    assert found["ranker"].tolist() == ["popularity"]
