"""Why this song, and pictures: explanations of scores, and displays in scikit-learn's manner.

Pictures need matplotlib, the extra `plot`; it is imported only where something is drawn.
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
