"""Cold-start playlist recommendation in the manner of scikit-learn."""

from skmtc.rankers import MultitaskPlaylistRanker, PopularityRanker, regularization_path

__version__ = "0.1.0"

__all__ = ["MultitaskPlaylistRanker", "PopularityRanker", "regularization_path"]
