"""Situations and weights of `StackingRanker`."""

from skmtc.rankers.stacking._display import SideBySide
from skmtc.rankers.stacking._situations import WHAT, WHO, default_splitters, hold_out, who_asks
from skmtc.rankers.stacking._weights import ScoreSpread, fit_weights

__all__ = [
    "WHAT",
    "WHO",
    "ScoreSpread",
    "SideBySide",
    "default_splitters",
    "fit_weights",
    "hold_out",
    "who_asks",
]
