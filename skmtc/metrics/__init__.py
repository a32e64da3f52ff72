"""Ranking metrics as functions of arrays, and scorers."""

from skmtc.metrics._auc import auc_score
from skmtc.metrics._bottom_push import bottom_push_loss
from skmtc.metrics._coverage import coverage_score
from skmtc.metrics._gini import gini_score
from skmtc.metrics._hit_rate import hit_rate_score
from skmtc.metrics._intra_list_distance import intra_list_distance_score
from skmtc.metrics._ndcg import ndcg_score
from skmtc.metrics._novelty import novelty_score
from skmtc.metrics._r_precision import r_precision_score
from skmtc.metrics._scorer import make_playlist_scorer, playlist_scoring
from skmtc.metrics._spread import spread_score
from skmtc.metrics._tail_share import tail_share_score

__all__ = [
    "auc_score",
    "bottom_push_loss",
    "coverage_score",
    "gini_score",
    "hit_rate_score",
    "intra_list_distance_score",
    "make_playlist_scorer",
    "ndcg_score",
    "novelty_score",
    "playlist_scoring",
    "r_precision_score",
    "spread_score",
    "tail_share_score",
]

# Used by other parts of the package; not public.
from skmtc.metrics._average import average_playlists as average_playlists
from skmtc.metrics._average import check_k as check_k
from skmtc.metrics._average import mean_weights as mean_weights
from skmtc.metrics._average import warn_undefined as warn_undefined
from skmtc.metrics._curves import hit_rate_curves as hit_rate_curves
from skmtc.metrics._curves import novelty_curves as novelty_curves
from skmtc.metrics._ranking import Ranking as Ranking
from skmtc.metrics._registry import RECORDS as RECORDS
from skmtc.metrics._registry import Collector as Collector
from skmtc.metrics._registry import metric_record as metric_record
from skmtc.metrics._registry import parse_metric as parse_metric
from skmtc.metrics._registry import parse_metrics as parse_metrics
from skmtc.metrics._scorer import find_ranker as find_ranker
