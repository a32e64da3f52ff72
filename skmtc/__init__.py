"""Cold-start playlist recommendation in the manner of scikit-learn."""

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
    "regularization_path",
]
