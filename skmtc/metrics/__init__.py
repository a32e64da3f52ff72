"""Judging: functions of arrays; none of them takes a model."""

from skmtc.metrics._auc import auc_score
from skmtc.metrics._bottom_push import bottom_push_loss
from skmtc.metrics._hit_rate import hit_rate_score
from skmtc.metrics._ndcg import ndcg_score
from skmtc.metrics._novelty import novelty_score
from skmtc.metrics._r_precision import r_precision_score
from skmtc.metrics._spread import spread_score

__all__ = [
    "auc_score",
    "bottom_push_loss",
    "hit_rate_score",
    "ndcg_score",
    "novelty_score",
    "r_precision_score",
    "spread_score",
]
