"""Metrics by name, block by block."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc import metrics
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._registry import RECORDS, Collector, compute_metrics, parse_metric

RNG = np.random.default_rng(0)
LABELS = RNG.random((7, 12)) < 0.3
LABELS[:, 0] = True
SCORES = RNG.integers(0, 6, (7, 12)).astype(float)
POPULARITY = RNG.integers(1, 9, 12) / 9
HELD = RNG.random((12, 5)) < 0.4
HELD[3] = False  # in no training playlist
USERS = np.array(["ana", "bob", "ana", "cat", "bob", "ana", "cat"])


class Blocks:
    """A test set of two blocks, not in the order of playlists."""

    users = USERS
    playlists = np.arange(7)
    popularity = POPULARITY
    song_playlists = csr_array(HELD)

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
    "tail_share@3": lambda average: metrics.tail_share_score(
        LABELS, SCORES, popularity=POPULARITY, k=3, average=average
    ),
    "intra_list_distance@4": lambda average: metrics.intra_list_distance_score(
        LABELS, SCORES, vectors=HELD, k=4, average=average
    ),
    "spread": lambda average: metrics.spread_score(LABELS, SCORES, average=average),
    "neg_bottom_push_loss": lambda average: (
        -metrics.bottom_push_loss(LABELS, SCORES, average=average)
    ),
}


@pytest.mark.parametrize("label", EXPECTED)
def test_blocks_give_the_same_as_the_whole(label):
    (found,) = compute_metrics(Blocks(), [parse_metric(label)])
    np.testing.assert_allclose(found.values, EXPECTED[label](None))
    assert found.mean() == pytest.approx(EXPECTED[label]("macro"))


OF_ALL_QUERIES = {
    "spread_frequency@2": lambda rows: metrics.spread_score(
        LABELS[rows], SCORES[rows], method="frequency", k=2
    ),
    "coverage@2": lambda rows: metrics.coverage_score(LABELS[rows], SCORES[rows], k=2),
    "gini@2": lambda rows: metrics.gini_score(LABELS[rows], SCORES[rows], k=2),
}


@pytest.mark.parametrize("label", OF_ALL_QUERIES)
def test_metrics_of_all_queries_sum_over_blocks(label):
    (found,) = compute_metrics(Blocks(), [parse_metric(label)])
    expected = OF_ALL_QUERIES[label](np.arange(7))
    assert found.mean() == pytest.approx(expected)
    np.testing.assert_allclose(found.values, np.full(7, expected))


@pytest.mark.parametrize("label", OF_ALL_QUERIES)
def test_groups_of_queries_have_values_of_their_own(label):
    groups = np.array([0, 1, 0, 1, 1, 0, 0])
    found = Collector(parse_metric(label), Blocks(), groups)
    for positions, ranking in Blocks().rankings():
        found.add(positions, found.compute(positions, ranking))
    for group in (0, 1):
        rows = np.flatnonzero(groups == group)
        np.testing.assert_allclose(found.values[rows], OF_ALL_QUERIES[label](rows))


def test_every_metric_can_be_named():
    named = {parse_metric(label).record.name for label in [*EXPECTED, *OF_ALL_QUERIES]}
    assert named == {record.name for record in RECORDS}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_records_agree_with_themselves(record):
    assert (record.finish is not None) == (record.averaging == "all queries")
    assert record.takes_k or record.default_k is None
    assert record.curve is None or record.default_k is not None
    assert not record.description.endswith(".")
    assert record.usage.startswith(record.name)


@pytest.mark.parametrize(
    ("label", "k", "message"),
    [
        ("auc@10", None, "`k` must be given to .* only; got 10 for 'auc'"),
        ("spread", 3, "`k` must be given to .* only; got 3 for 'spread'"),
        ("hit_rate@ten", None, "`k` must be given once, as an integer; got 'hit_rate@ten'"),
        ("hit_rate@", None, "`k` must be given once"),
        ("precision", None, "A metric must be one of .*; got 'precision'"),
        ("hit_rate@10", 3, "`k` must be given once"),
        ("hit_rate@0", None, "`k` must be a positive integer; got 0"),
    ],
)
def test_bad_names_are_reported(label, k, message):
    with pytest.raises(ValueError, match=message):
        parse_metric(label, k)


def test_recall_is_another_name_of_the_hit_rate():
    metric = parse_metric("recall@20")
    assert (metric.text, metric.record.name, metric.k) == ("recall@20", "hit_rate", 20)
    assert metric.label == "Recall@20"
    assert parse_metric("recall", 5).k == 5
