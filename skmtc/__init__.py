"""Cold-start playlist recommendation in the manner of scikit-learn."""

from skmtc._compare import compare
from skmtc._evaluate import evaluate
from skmtc._version import __version__ as __version__
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
