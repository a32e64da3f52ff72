"""Song and user features of rankers: making, checking and comparing them."""

from skmtc.rankers.features._columns import Columns
from skmtc.rankers.features._content_model import fit_content_model
from skmtc.rankers.features._feature_ranker import WEIGHTS, FeatureRanker, largest_feature
from skmtc.rankers.features._matrix import numeric_song_columns

__all__ = [
    "WEIGHTS",
    "Columns",
    "FeatureRanker",
    "fit_content_model",
    "largest_feature",
    "numeric_song_columns",
]
