"""Cold-start playlist recommendation with the API of scikit-learn.

Rankers, and functions that compare them. Modules are in the order of the data flow::

    datasets  ->  features  ->  rankers  ->  recommend  ->  metrics, model_selection, inspection
    table         song, user    weights      songs          evaluation
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from skmtc._compare import compare
from skmtc._evaluate import evaluate
from skmtc._make_ranker import make_ranker
from skmtc._version import __version__ as __version__
from skmtc.rankers import (
    CollocatedArtistRanker,
    HistoryTerms,
    ItemKNNRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    StackingRanker,
    regularization_path,
)

if TYPE_CHECKING:  # at run time they are imported when they are first asked for
    from skmtc import datasets as datasets
    from skmtc import features as features
    from skmtc import inspection as inspection
    from skmtc import metrics as metrics
    from skmtc import model_selection as model_selection
    from skmtc import optimize as optimize
    from skmtc import persistence as persistence

__all__ = [
    "CollocatedArtistRanker",
    "HistoryTerms",
    "ItemKNNRanker",
    "MatrixFactorizationRanker",
    "MultitaskPlaylistRanker",
    "OwnSongsRanker",
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


def __getattr__(name: str) -> ModuleType:
    """Import a public submodule when it is first asked for, as in `skmtc.datasets`."""
    if name in _SUBMODULES:
        return import_module(f"skmtc.{name}")
    raise AttributeError(f"module 'skmtc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
