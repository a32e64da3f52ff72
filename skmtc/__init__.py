"""Cold-start playlist recommendation in the manner of scikit-learn."""

from skmtc._compare import compare
from skmtc._evaluate import evaluate
from skmtc.rankers import (
    CollocatedArtistRanker,
    HistoryRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    regularization_path,
)

__version__ = "0.1.0"

__all__ = [
    "CollocatedArtistRanker",
    "HistoryRanker",
    "MatrixFactorizationRanker",
    "MultitaskPlaylistRanker",
    "PairwiseRanker",
    "PopularityRanker",
    "RidgeRanker",
    "SameArtistRanker",
    "compare",
    "evaluate",
    "regularization_path",
]
