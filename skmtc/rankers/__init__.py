"""The estimators: tables in, scores and recommendations out."""

from skmtc.rankers._multitask import MultitaskPlaylistRanker
from skmtc.rankers._path import regularization_path
from skmtc.rankers._popularity import PopularityRanker

__all__ = ["MultitaskPlaylistRanker", "PopularityRanker", "regularization_path"]
