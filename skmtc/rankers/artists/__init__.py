"""Base classes of the rankers by artist."""

from skmtc.rankers.artists._base_artist import ArtistRanker
from skmtc.rankers.artists._greatest_hits import GreatestHitsRanker

__all__ = ["ArtistRanker", "GreatestHitsRanker"]
