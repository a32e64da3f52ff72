"""Metrics by name, block by block."""

import numpy as np
import pytest

from skmtc import metrics
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._registry import METRICS, Metric, judge

RNG = np.random.default_rng(0)
LABELS = RNG.random((7, 12)) < 0.3
LABELS[:, 0] = True
SCORES = RNG.integers(0, 6, (7, 12)).astype(float)
POPULARITY = RNG.integers(1, 9, 12) / 9
USERS = np.array(["ana", "bob", "ana", "cat", "bob", "ana", "cat"])


class Blocks:
    """A test_set of two blocks, not in the order of playlists."""

    users = USERS
    playlists = np.arange(7)
    popularity = POPULARITY

    def rankings(self):
        """Yield the blocks."""
        for positions in ([5, 1, 3], [0, 2, 4, 6]):
            yield np.array(positions), Ranking(LABELS[positions], SCORES[positions])


EXPECTED = {
    "auc": lambda average: metrics.auc_score(LABELS, SCORES, average=average),
    "hit_rate@3": lambda average: metrics.hit_rate_score(LABELS, SCORES, k=3, average=average),
    "hit_rate": lambda average: metrics.hit_rate_score(LABELS, SCORES, average=average),
    "r_precision": lambda average: metrics.r_precision_score(LABELS, SCORES, average=average),
    "ndcg": lambda average: metrics.ndcg_score(LABELS, SCORES, average=average),
    "ndcg@2": lambda average: metrics.ndcg_score(LABELS, SCORES, k=2, average=average),
    "novelty@2": lambda average: metrics.novelty_score(
        LABELS, SCORES, popularity=POPULARITY, k=2, users=USERS, average=average
    ),
    "spread": lambda average: metrics.spread_score(LABELS, SCORES, average=average),
    "neg_bottom_push_loss": lambda average: (
        -metrics.bottom_push_loss(LABELS, SCORES, average=average)
    ),
}


@pytest.mark.parametrize("label", EXPECTED)
def test_blocks_give_the_same_as_the_whole(label):
    (tally,) = judge(Blocks(), [Metric.parse(label)])
    np.testing.assert_allclose(tally.values, EXPECTED[label](None))
    assert tally.mean() == pytest.approx(EXPECTED[label]("macro"))


def test_frequencies_are_of_all_blocks():
    (tally,) = judge(Blocks(), [Metric.parse("spread_frequency@2")])
    expected = metrics.spread_score(LABELS, SCORES, method="frequency", k=2)
    assert tally.mean() == pytest.approx(expected)


def test_every_metric_can_be_named():
    assert {Metric.parse(label).name for label in EXPECTED} | {"spread_frequency"} == set(METRICS)


@pytest.mark.parametrize(
    ("label", "k", "message"),
    [
        ("auc@10", None, "`k` must be given to .* only; got 10 for 'auc'"),
        ("spread", 3, "`k` must be given to .* only; got 3 for 'spread'"),
        ("hit_rate@ten", None, "`k` must be said once, as an integer; got 'hit_rate@ten'"),
        ("hit_rate@", None, "`k` must be said once"),
        ("precision", None, "A metric must be one of .*; got 'precision'"),
        ("hit_rate@10", 3, "`k` must be said once"),
        ("hit_rate@0", None, "`k` must be a positive integer; got 0"),
    ],
)
def test_bad_names_are_told(label, k, message):
    with pytest.raises(ValueError, match=message):
        Metric.parse(label, k)


def test_recall_is_another_name_of_the_hit_rate():
    metric = Metric.parse("recall@20")
    assert (metric.label, metric.name, metric.k) == ("recall@20", "hit_rate", 20)
    assert Metric.parse("recall", 5).k == 5
