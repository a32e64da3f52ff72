"""The estimators: tables in, scores and recommendations out."""

from skmtc.rankers._bpr import PairwiseRanker
from skmtc.rankers._collocated_artist import CollocatedArtistRanker
from skmtc.rankers._item_knn import ItemKNNRanker
from skmtc.rankers._matrix_factorization import MatrixFactorizationRanker
from skmtc.rankers._multitask import MultitaskPlaylistRanker
from skmtc.rankers._own_songs import OwnSongsRanker
from skmtc.rankers._path import regularization_path
from skmtc.rankers._popularity_ranker import PopularityRanker
from skmtc.rankers._ridge import RidgeRanker
from skmtc.rankers._same_artist import SameArtistRanker
from skmtc.rankers._stacking import StackingRanker
from skmtc.rankers.history import HistoryTerms

__all__ = [
    "CollocatedArtistRanker",
    "HistoryTerms",
    "ItemKNNRanker",
    "MatrixFactorizationRanker",
    "MultitaskPlaylistRanker",
    "OwnSongsRanker",
    "PairwiseRanker",
    "PopularityRanker",
    "RidgeRanker",
    "SameArtistRanker",
    "StackingRanker",
    "regularization_path",
]
