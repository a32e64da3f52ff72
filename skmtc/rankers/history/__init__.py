"""History terms: what a user already has, added to the scores of a ranker."""

from skmtc.rankers.history._history_terms import TERMS, HistoryTerms, append_vectors, read_history
from skmtc.rankers.history._pairs import mixed_shares, sample_pairs, softmax_weights

__all__ = [
    "TERMS",
    "HistoryTerms",
    "append_vectors",
    "mixed_shares",
    "read_history",
    "sample_pairs",
    "softmax_weights",
]
