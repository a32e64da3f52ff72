"""Explanations of scores, and displays in the style of scikit-learn.

Displays need matplotlib (extra `plot`), which is imported when they are drawn.
"""

from skmtc.inspection._cold_start import ColdStartDisplay
from skmtc.inspection._convergence import ConvergenceDisplay
from skmtc.inspection._explain import explain
from skmtc.inspection._explanation import ExplanationDisplay
from skmtc.inspection._hit_rate_display import HitRateDisplay
from skmtc.inspection._novelty_display import NoveltyDisplay
from skmtc.inspection._top_features import top_features

__all__ = [
    "ColdStartDisplay",
    "ConvergenceDisplay",
    "ExplanationDisplay",
    "HitRateDisplay",
    "NoveltyDisplay",
    "explain",
    "top_features",
]
