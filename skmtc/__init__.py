"""Cold-start playlist recommendation in the manner of scikit-learn.

The rankers, and what compares them. The package is laid out in the order in which data flows::

    datasets  ->  features  ->  rankers  ->  recommend  ->  metrics, model_selection, inspection
    table         song, user    weights      songs          judgement
"""

from importlib import import_module

from skmtc._compare import compare
from skmtc._evaluate import evaluate
from skmtc._make_ranker import make_ranker
from skmtc._version import __version__ as __version__
from skmtc.rankers import (
    CollocatedArtistRanker,
    HistoryRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    StackingRanker,
    regularization_path,
)

__all__ = [
    "CollocatedArtistRanker",
    "HistoryRanker",
    "MatrixFactorizationRanker",
    "MultitaskPlaylistRanker",
    "PairwiseRanker",
    "PopularityRanker",
    "RidgeRanker",
    "SameArtistRanker",
    "StackingRanker",
    "compare",
    "evaluate",
    "make_ranker",
    "regularization_path",
]

_SUBMODULES = (
    "datasets",
    "features",
    "inspection",
    "metrics",
    "model_selection",
    "optimize",
    "persistence",
)


def __getattr__(name):
    """Import a public submodule when it is first asked for, as in `skmtc.datasets`."""
    if name in _SUBMODULES:
        return import_module(f"skmtc.{name}")
    raise AttributeError(f"module 'skmtc' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
