"""The best songs of each query: top k, seen songs, artist cap, ties."""

from skmtc.rankers.recommend._artist_cap import artist_codes, best_with_cap
from skmtc.rankers.recommend._seen import seen_candidates
from skmtc.rankers.recommend._ties import (
    scores_are_equal,
    tie_popularity,
    tie_ranks,
    warn_equal_scores,
)
from skmtc.rankers.recommend._top_k import GumbelSampling, TopSongs, row_products

__all__ = [
    "GumbelSampling",
    "TopSongs",
    "artist_codes",
    "best_with_cap",
    "row_products",
    "scores_are_equal",
    "seen_candidates",
    "tie_popularity",
    "tie_ranks",
    "warn_equal_scores",
]
