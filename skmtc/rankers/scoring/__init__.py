"""How songs are scored for queries, block by block, and the order of equal scores."""

from skmtc.rankers.scoring._block_scorer import (
    ADDED_BYTES,
    SCORE_BYTES,
    BlockScorer,
    row_products,
    score_block,
)
from skmtc.rankers.scoring._ties import tie_popularity, tie_ranks, warn_equal_scores

__all__ = [
    "ADDED_BYTES",
    "SCORE_BYTES",
    "BlockScorer",
    "row_products",
    "score_block",
    "tie_popularity",
    "tie_ranks",
    "warn_equal_scores",
]
