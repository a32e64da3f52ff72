"""How songs are scored for queries, block by block, and the order of equal scores."""

from skmtc.rankers.scoring._block_scorer import (
    ADDED_BYTES,
    SCORE_BYTES,
    BlockScorer,
    score_block,
)
from skmtc.rankers.scoring._column_blocks import (
    ColumnBlocks,
    ColumnSplit,
    as_blocks,
    distinct_rows,
    inner_products,
    row_norms,
    row_products,
    side_by_side,
)
from skmtc.rankers.scoring._ties import tie_popularity, tie_ranks, warn_equal_scores

__all__ = [
    "ADDED_BYTES",
    "SCORE_BYTES",
    "BlockScorer",
    "ColumnBlocks",
    "ColumnSplit",
    "as_blocks",
    "distinct_rows",
    "inner_products",
    "row_norms",
    "row_products",
    "score_block",
    "side_by_side",
    "tie_popularity",
    "tie_ranks",
    "warn_equal_scores",
]
