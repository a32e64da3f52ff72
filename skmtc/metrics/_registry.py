"""The metric registry: one record per metric.

Scorers, `evaluate`, `compare`, the report and the command line look metrics up here by name. To add
a metric, write its file and append its record to `RECORDS`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from skmtc.metrics._auc import auc_per_playlist
from skmtc.metrics._average import average_playlists, check_k
from skmtc.metrics._bottom_push import bottom_push_per_playlist
from skmtc.metrics._coverage import coverage, expected_coverage
from skmtc.metrics._gini import gini
from skmtc.metrics._hit_rate import hit_rate_per_playlist
from skmtc.metrics._intra_list_distance import intra_list_distance_per_playlist
from skmtc.metrics._ndcg import ndcg_per_playlist
from skmtc.metrics._novelty import novelty_per_playlist
from skmtc.metrics._r_precision import r_precision_per_playlist
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._spread import entropy, recommendation_counts, spread_per_playlist
from skmtc.metrics._tail_share import tail_share_per_playlist

Values = NDArray[np.float64]


class HasRankings(Protocol):
    """What a ranker's `__skmtc_test_set__(X)` must return to be evaluated."""

    users: NDArray[Any]
    playlists: NDArray[Any]
    popularity: Values

    def rankings(self) -> Iterator[tuple[NDArray[np.intp], Ranking]]:
        """Yield positions of playlists with their rankings."""


@dataclass(frozen=True)
class Metric:
    """The record of a metric.

    Parameters
    ----------
    name : str
        The name by which `scoring=`, `evaluate`, `compare` and the command line know it.

    function : callable
        `function(ranking, **options)` returns one value per playlist of a block, NaN where it is
        not defined. For averaging="all queries" it returns one value per song, to be summed over
        blocks. Options are `k`, if `takes_k`, and what `reads` names.

    label : str
        The name in tables of results, such as "HitRate".

    description : str
        What it measures, in one line without a full stop.

    takes_k : bool, default=False
        Whether only the k best songs count, so that the name may end in "@10".

    default_k : int or None, default=None
        The k of a name without "@"; None for all songs.

    averaging : {"playlists", "users", "all queries"}, default="playlists"
        What the mean is over: playlists; users, of the means of their playlists; or nothing, as
        the metric is about the recommendations of all queries together.

    direction : {"higher", "none"}, default="higher"
        Which values are better. "none": neither, so no ranker is best by it.

    reads : tuple of str, default=()
        Attributes of the test set that the function takes as options of the same name.

    finish : callable or None, default=None
        For averaging="all queries": returns the value, given the sums per song.

    aliases : dict of str to str, default={}
        Labels by other names of the metric.

    curve : str or None, default=None
        Title of its figure against k in the report; None for no figure.
    """

    name: str
    function: Callable[..., Values]
    label: str
    description: str
    takes_k: bool = False
    default_k: int | None = None
    averaging: Literal["playlists", "users", "all queries"] = "playlists"
    direction: Literal["higher", "none"] = "higher"
    reads: tuple[str, ...] = ()
    finish: Callable[[Values], float] | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    curve: str | None = None

    @property
    def usage(self) -> str:
        """How to write the name, such as "hit_rate@K (or recall@K)"."""
        end = "@K" if self.takes_k and self.default_k is not None else ""
        others = " or ".join(f"{alias}{end}" for alias in self.aliases)
        return f"{self.name}{end}" + (f" (or {others})" if others else "")


def _negative_bottom_push(ranking: Ranking) -> Values:
    return -bottom_push_per_playlist(ranking)


RECORDS = [
    Metric(
        "auc",
        auc_per_playlist,
        label="AUC",
        description="the probability that a song of the playlist ranks above another candidate",
    ),
    Metric(
        "hit_rate",
        hit_rate_per_playlist,
        label="HitRate",
        description="the share of a playlist's songs among the K best (recall)",
        takes_k=True,
        default_k=10,
        aliases={"recall": "Recall"},  # the name that other packages use
        curve="Hit rate",
    ),
    Metric(
        "r_precision",
        r_precision_per_playlist,
        label="R-precision",
        description="the share of a playlist's R songs among the R best",
    ),
    Metric(
        "ndcg",
        ndcg_per_playlist,
        label="NDCG",
        description="the gain of a playlist's songs, discounted by rank, over that of a perfect "
        "ranking",
        takes_k=True,
    ),
    Metric(
        "novelty",
        novelty_per_playlist,
        label="Novelty",
        description="how unpopular the K best songs are, in bits",
        takes_k=True,
        default_k=10,
        averaging="users",
        direction="none",
        reads=("popularity",),
        curve="Novelty",
    ),
    Metric(
        "spread",
        spread_per_playlist,
        label="Spread",
        description="the entropy of the softmax of a playlist's scores",
        direction="none",
    ),
    Metric(
        "spread_frequency",
        recommendation_counts,
        label="SpreadFrequency",
        description="the entropy of how often each song is among the K best, over all queries",
        takes_k=True,
        default_k=10,
        averaging="all queries",
        direction="none",
        finish=entropy,
    ),
    Metric(
        "coverage",
        coverage,
        label="Coverage",
        description="the share of all candidates that are among the K best of some query",
        takes_k=True,
        default_k=10,
        averaging="all queries",
        direction="none",
        finish=expected_coverage,
    ),
    Metric(
        "gini",
        recommendation_counts,
        label="Gini",
        description="how unevenly the K best songs of all queries are spread over the candidates, "
        "from 0 (all alike) to 1",
        takes_k=True,
        default_k=10,
        averaging="all queries",
        direction="none",
        finish=gini,
    ),
    Metric(
        "tail_share",
        tail_share_per_playlist,
        label="TailShare",
        description="the share of the K best songs that are not among the fifth of candidates that "
        "are most popular",
        takes_k=True,
        default_k=10,
        direction="none",
        reads=("popularity",),
    ),
    Metric(
        "intra_list_distance",
        intra_list_distance_per_playlist,
        label="ListDistance",
        description="the mean cosine distance of two of the K best songs, by the training "
        "playlists that hold them",
        takes_k=True,
        default_k=10,
        direction="none",
        reads=("song_playlists",),
    ),
    Metric(
        "neg_bottom_push_loss",
        _negative_bottom_push,
        label="-BottomPush",
        description="minus the share of other candidates above a playlist's song, smoothed",
    ),
]


def metric_record(name: str) -> Metric:
    """Return the record of a metric by its name or an alias, without any "@"."""
    for record in RECORDS:
        if name == record.name or name in record.aliases:
            return record
    names = [*(r.name for r in RECORDS), *(alias for r in RECORDS for alias in r.aliases)]
    with_k = [*_names_with_k(), *(alias for r in RECORDS if r.takes_k for alias in r.aliases)]
    raise ValueError(
        f"A metric must be one of {names}, where {with_k} may end in '@' and a number of songs; "
        f"got {name!r}. Change the name."
    )


def _names_with_k() -> list[str]:
    return [record.name for record in RECORDS if record.takes_k]


@dataclass(frozen=True)
class ChosenMetric:
    """A metric with the number of songs that counts.

    Parameters
    ----------
    text : str
        The name by which its value is reported, such as "hit_rate@10".

    record : Metric
        The metric.

    k : int or None
        How many of the best songs count, for the metrics that take it.
    """

    text: str
    record: Metric
    k: int | None = None

    @property
    def label(self) -> str:
        """The name in tables of results, such as "HitRate@10"."""
        name = self.text.partition("@")[0]
        label = self.record.aliases.get(name, self.record.label)
        return label + (f"@{self.k}" if self.k is not None else "")

    def options(self, test_set: HasRankings) -> dict[str, Any]:
        """Return the options of the metric's function."""
        options: dict[str, Any] = {"k": self.k} if self.record.takes_k else {}
        return options | {name: getattr(test_set, name) for name in self.record.reads}


def parse_metric(text: str, k: int | None = None) -> ChosenMetric:
    """Read a name such as "auc" or "hit_rate@10"."""
    name, at, after = str(text).partition("@")
    record = metric_record(name)
    if at:
        if k is not None or not after.isdecimal():
            raise ValueError(
                f"`k` must be given once, as an integer; got {text!r} and k={k!r}. Write "
                f"e.g. '{name}@10'."
            )
        k = int(after)
    if k is not None and not record.takes_k:
        raise ValueError(
            f"`k` must be given to {_names_with_k()} only; got {k!r} for {record.name!r}. Leave "
            "it out."
        )
    return ChosenMetric(str(text), record, record.default_k if k is None else check_k(k))


def parse_metrics(texts: Sequence[str]) -> list[ChosenMetric]:
    """Read the names of metrics, which must be distinct."""
    if not texts:
        raise ValueError("There must be at least one metric; got none. Pass e.g. 'auc'.")
    if len(set(texts)) < len(texts):
        raise ValueError(f"Metrics must be distinct; got {list(texts)}. Name each once.")
    return [parse_metric(text) for text in texts]


class Collector:
    """Collect the values of a metric block by block.

    Parameters
    ----------
    metric : ChosenMetric
        What to compute.

    test_set : HasRankings
        The playlists.

    groups : ndarray of shape (n_playlists,) or None, default=None
        Codes of groups of playlists. A metric with averaging="all queries" has a value for each
        group. None: all playlists are one group.

    Attributes
    ----------
    values : ndarray of shape (n_playlists,)
        One value per playlist; NaN where it is not defined. For averaging="all queries", each
        playlist has the value of its group.
    """

    def __init__(
        self,
        metric: ChosenMetric,
        test_set: HasRankings,
        groups: NDArray[np.intp] | None = None,
    ) -> None:
        self.metric = metric
        self._users = test_set.users if metric.record.averaging == "users" else None
        self._options = metric.options(test_set)
        n_playlists = len(test_set.playlists)
        self._groups = np.zeros(n_playlists, dtype=np.intp) if groups is None else groups
        self._values = np.full(n_playlists, np.nan)
        n_groups = 0 if metric.record.finish is None else int(self._groups.max(initial=0)) + 1
        self._sums = np.zeros((n_groups, len(test_set.popularity)))

    def compute(self, positions: NDArray[np.intp], ranking: Ranking) -> dict[int, Values]:
        """Return the values of one block of playlists, by group.

        Values per playlist come as the only entry.
        """
        function, options = self.metric.record.function, self._options
        if self.metric.record.finish is None:
            return {0: function(ranking, **options)}
        groups = self._groups[positions]
        found = np.unique(groups)
        if len(found) == 1:
            return {int(found[0]): function(ranking, **options)}
        return {
            int(g): function(ranking.take(np.flatnonzero(groups == g)), **options) for g in found
        }

    def add(self, positions: NDArray[np.intp], computed: dict[int, Values]) -> None:
        """Add the values of one block."""
        if self.metric.record.finish is None:
            self._values[positions] = computed[0]
        else:
            for group, sums in computed.items():
                self._sums[group] += sums

    @property
    def values(self) -> Values:
        """One value per playlist, when all blocks are added."""
        finish = self.metric.record.finish
        if finish is None:
            return self._values
        return np.array([finish(sums) for sums in self._sums])[self._groups]

    def mean(self) -> float:
        """Return the mean over the playlists, or users, for which the metric is defined."""
        if self.metric.record.finish is not None:
            return float(self.metric.record.finish(self._sums.sum(axis=0)))
        if np.isnan(self._values).all():
            raise ValueError(
                f"{self.metric.text} needs a playlist with at least one candidate that is not in "
                f"it; got none among {len(self._values)} playlists. Score a table whose playlists "
                "differ."
            )
        return float(
            average_playlists(self._values, "macro", name=self.metric.text, users=self._users)
        )


def compute_metrics(test_set: HasRankings, metrics: Iterable[ChosenMetric]) -> list[Collector]:
    """Score every playlist of a test set once, and compute all metrics."""
    collectors = [Collector(metric, test_set) for metric in metrics]
    for positions, ranking in test_set.rankings():
        for collector in collectors:
            collector.add(positions, collector.compute(positions, ranking))
    return collectors
