"""History terms: what a user already has, added to the scores of a ranker."""

from skmtc.rankers.history._terms import TERMS, HistoryTerms

__all__ = ["TERMS", "HistoryTerms"]
