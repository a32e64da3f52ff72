"""Cold-start playlist recommendation in the manner of scikit-learn."""

from skmtc.rankers import MultitaskPlaylistRanker, PopularityRanker

__version__ = "0.1.0"

__all__ = ["MultitaskPlaylistRanker", "PopularityRanker"]
