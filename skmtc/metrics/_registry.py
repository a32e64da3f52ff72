"""Metrics by name, and the tallies that collect their values block by block."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skmtc.metrics._auc import auc_per_playlist
from skmtc.metrics._average import average_playlists, check_k
from skmtc.metrics._bottom_push import bottom_push_per_playlist
from skmtc.metrics._hit_rate import hit_rate_per_playlist
from skmtc.metrics._ndcg import ndcg_per_playlist
from skmtc.metrics._novelty import novelty_per_playlist
from skmtc.metrics._r_precision import r_precision_per_playlist
from skmtc.metrics._ranking import Ranking
from skmtc.metrics._spread import entropy, recommendation_counts, spread_per_playlist


class TestSetLike(Protocol):
    """What a ranker's `__skmtc_test_set__(X)` must return to be evaluated."""

    users: NDArray[Any]
    playlists: NDArray[Any]
    popularity: NDArray[np.float64]

    def rankings(self) -> Iterator[tuple[NDArray[np.intp], Ranking]]:
        """Yield positions of playlists with their rankings."""


def _negative_bottom_push(ranking: Ranking) -> NDArray[np.float64]:
    return -bottom_push_per_playlist(ranking)


PER_PLAYLIST: dict[str, Callable[..., NDArray[np.float64]]] = {
    "auc": auc_per_playlist,
    "hit_rate": hit_rate_per_playlist,
    "r_precision": r_precision_per_playlist,
    "ndcg": ndcg_per_playlist,
    "novelty": novelty_per_playlist,
    "spread": spread_per_playlist,
    "neg_bottom_push_loss": _negative_bottom_push,
}
FREQUENCY = "spread_frequency"  # the one metric that is about all playlists together
METRICS = (*PER_PLAYLIST, FREQUENCY)
DEFAULT_K = {"hit_rate": 10, "novelty": 10, FREQUENCY: 10, "ndcg": None}
ALIASES = {"recall": "hit_rate"}  # the name that other packages use


@dataclass(frozen=True)
class Metric:
    """A metric that a name stands for.

    Parameters
    ----------
    label : str
        The name by which its value is reported, such as "hit_rate@10".

    name : str
        One of `METRICS`.

    k : int or None
        How many of the best songs count, for the metrics that ask for it.
    """

    label: str
    name: str
    k: int | None = None

    @classmethod
    def parse(cls, label: str, k: int | None = None) -> "Metric":
        """Read a name such as "auc" or "hit_rate@10"."""
        name, at, after = str(label).partition("@")
        name = ALIASES.get(name, name)
        if name not in METRICS:
            raise ValueError(
                f"A metric must be one of {[*METRICS, *ALIASES]}, where "
                f"{[*DEFAULT_K, *ALIASES]} may end in '@' and a number of songs; got {label!r}. "
                "Change the name."
            )
        if at:
            if k is not None or not after.isdecimal():
                raise ValueError(
                    f"`k` must be said once, as an integer; got {label!r} and k={k!r}. Write "
                    f"e.g. '{name}@10'."
                )
            k = int(after)
        if k is not None and name not in DEFAULT_K:
            raise ValueError(
                f"`k` must be given to {list(DEFAULT_K)} only; got {k!r} for {name!r}. Leave it "
                "out."
            )
        return cls(label, name, DEFAULT_K.get(name) if k is None else check_k(k))

    def tally(self, test_set: TestSetLike) -> "PlaylistTally | FrequencyTally":
        """Start collecting values."""
        return (FrequencyTally if self.name == FREQUENCY else PlaylistTally)(self, test_set)


class PlaylistTally:
    """One value per playlist, and their mean.

    Parameters
    ----------
    metric : Metric
        What to compute.

    test_set : TestSetLike
        The playlists.

    Attributes
    ----------
    values : ndarray of shape (n_playlists,)
        One value per playlist; NaN where it is not defined.

    users : ndarray of shape (n_playlists,) or None
        Owners, if the mean is over users.
    """

    def __init__(self, metric: Metric, test_set: TestSetLike) -> None:
        self.metric = metric
        self.values = np.full(len(test_set.playlists), np.nan)
        self.users = test_set.users if metric.name == "novelty" else None
        self._options: dict[str, Any] = {"k": metric.k} if metric.name in DEFAULT_K else {}
        if metric.name == "novelty":
            self._options["popularity"] = test_set.popularity

    def add(self, positions: NDArray[np.intp], ranking: Ranking) -> None:
        """Evaluate one block."""
        self.values[positions] = self.judge(ranking)

    def judge(self, ranking: Ranking) -> NDArray[np.float64]:
        """Return the values of one block."""
        return PER_PLAYLIST[self.metric.name](ranking, **self._options)

    def mean(self) -> float:
        """Return the mean over the playlists, or users, for which the metric is defined."""
        if np.isnan(self.values).all():
            raise ValueError(
                f"{self.metric.label} needs a playlist with at least one candidate that is not in "
                f"it; got none among {len(self.values)} playlists. Score a table whose playlists "
                "differ."
            )
        return float(
            average_playlists(self.values, "macro", name=self.metric.label, users=self.users)
        )


class FrequencyTally:
    """How often each song is recommended.

    Parameters
    ----------
    metric : Metric
        What to compute.

    test_set : TestSetLike
        The playlists.
    """

    def __init__(self, metric: Metric, test_set: TestSetLike) -> None:
        assert metric.k is not None
        self.metric = metric
        self._k = metric.k
        self._counts = np.zeros(len(test_set.popularity))

    def add(self, positions: NDArray[np.intp], ranking: Ranking) -> None:
        """Count one block."""
        self._counts += recommendation_counts(ranking, k=self._k)

    def mean(self) -> float:
        """Return the entropy of the frequencies."""
        return entropy(self._counts)


def judge(test_set: TestSetLike, metrics: Iterable[Metric]) -> list[PlaylistTally | FrequencyTally]:
    """Score every playlist of a test_set once, by all metrics."""
    tallies = [metric.tally(test_set) for metric in metrics]
    for positions, ranking in test_set.rankings():
        for tally in tallies:
            tally.add(positions, ranking)
    return tallies
