"""Curves of a metric against the length of recommendations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from skmtc._typing import Table
from skmtc.inspection._figure_style import axes_and_figure, check_names, curve_style, finish_curves
from skmtc.inspection._score_decomposition import last_step
from skmtc.metrics import average_playlists, check_k, find_ranker

LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class CurveDisplay:
    """Base of displays of a metric against K.

    Subclasses set `metric`, the name of the metric in tables, and `ylabel`, and
    return in `_means` its means for the playlists of a test set.
    """

    metric: str
    ylabel: str
    _means: Callable[..., Any]

    def __init__(
        self,
        k: Any,
        values: Any,
        *,
        names: Sequence[str | None] | None = None,
        low: Any = None,
        high: Any = None,
    ) -> None:
        self.k = np.asarray(k)
        self.values = np.atleast_2d(np.asarray(values, dtype=float))
        self.names = [None] * len(self.values) if names is None else list(names)
        _check_shapes(self.k, self.values, self.names)
        self.low, self.high = _check_intervals(low, high, self.values.shape)

    def plot(
        self, ax: Any = None, *, name: str | Sequence[str] | None = None, **kwargs: Any
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        name : str, list of str or None, default=None
            Names of the curves in the legend. None: those of the display.

        **kwargs : dict
            Passed on to matplotlib's `plot`, for every curve.

        Returns
        -------
        display : object
            This display, with `ax_`, `figure_`, `lines_` and `bands_`.
        """
        self.ax_, self.figure_ = axes_and_figure(ax)
        self.lines_, self.bands_ = [], []
        for values, label in zip(self.values, check_names(name, self.names), strict=True):
            style = curve_style(self.ax_, kwargs)
            self.lines_ += self.ax_.plot(self.k, values, label=label, **style)
        for line, low, high in zip(self.lines_, self.low, self.high, strict=True):
            if not np.isnan(low).all():
                band = {"color": line.get_color(), "alpha": 0.15, "linewidth": 0}
                self.bands_.append(self.ax_.fill_between(self.k, low, high, **band))
        self.ax_.set_xscale("log")
        ticks = _ticks(self.k)
        self.ax_.set_xticks(ticks, [f"{k:,}" for k in ticks])
        self.ax_.set_xticks([], minor=True)
        # All curves may be the same, at the top; leave room for others.
        highest = self.ax_.dataLim.ymax
        self.ax_.set_ylim(0.0, 1.05 * highest if 0 < highest < np.inf else None, auto=True)
        finish_curves(self.ax_, self.lines_, xlabel="songs recommended (K)", ylabel=self.ylabel)
        return self

    @classmethod
    def from_estimator(
        cls,
        ranker: Any,
        X: Table,
        *,
        k: Any = None,
        candidates: Any = "auto",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Evaluate a fitted ranker on a test table, and draw its curve.

        Parameters
        ----------
        ranker : estimator
            Fitted ranker, or Pipeline or search that ends in one.

        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table: the songs that ought to rank high for each playlist.

        k : sequence of int or None, default=None
            Numbers of songs to recommend. None: 1, 2, 5, 10, … up to 1000 or the number of
            candidates. Songs are ranked once, whatever the number of lengths.

        candidates : {"auto", "all"}, default="auto"
            Which songs to rank; as for :func:`skmtc.evaluate`.

        name : str or None, default=None
            Name of the curve. None: that of the ranker's class.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `plot`.

        Returns
        -------
        display : object
            The display, drawn.
        """
        name = type(last_step(ranker)).__name__ if name is None else name
        return cls.from_estimators({name: ranker}, X, k=k, candidates=candidates, ax=ax, **kwargs)

    @classmethod
    def from_estimators(
        cls,
        rankers: Mapping[str, Any],
        X: Table,
        *,
        k: Any = None,
        candidates: Any = "auto",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Evaluate fitted rankers on a test table, and draw a curve of each.

        Parameters
        ----------
        rankers : dict of str to estimator
            Fitted rankers, or Pipelines or searches that end in one, by name.

        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table: the songs that ought to rank high for each playlist.

        k : sequence of int or None, default=None
            Numbers of songs to recommend, as for `from_estimator`.

        candidates : {"auto", "all"}, default="auto"
            Which songs to rank; as for :func:`skmtc.evaluate`.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `plot`, for every curve.

        Returns
        -------
        display : object
            The display, drawn.
        """
        if not isinstance(rankers, dict) or not rankers:
            raise TypeError(
                f"`rankers` must be a dict of fitted estimators by name; got {rankers!r}. Pass "
                "e.g. {'popularity': ranker}, or use `from_estimator` for one."
            )
        values = []
        for ranker in rankers.values():
            found, table = find_ranker(ranker, X)
            test_set = found.__skmtc_test_set__(table, candidates=candidates)
            # Lengths up to the number of candidates of the first ranker; others mostly have the
            # same, and where there are fewer songs all are recommended.
            k = _lengths(k, len(test_set.songs))
            values.append(cls._means(test_set, k))
        return cls(k, values, names=list(rankers)).plot(ax, **kwargs)

    @classmethod
    def from_evaluations(cls, table: pd.DataFrame, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw curves of the means in a table.

        Parameters
        ----------
        table : DataFrame
            One row per ranker, with its name as index, and one column per length, called
            e.g. "hit_rate@10" or "novelty@10": the result of :func:`skmtc.compare` for one
            splitter. Other columns are not drawn.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `plot`, for every curve.

        Returns
        -------
        display : object
            The display, drawn.
        """
        if isinstance(table.columns, pd.MultiIndex):
            table = _only_splitter(table)
        columns = {}
        for label in table.columns:
            metric, _, k = str(label).partition("@")
            if metric == cls.metric and k.isdecimal():
                columns[int(k)] = label
        if not columns:
            raise ValueError(
                f"The table must have columns such as '{cls.metric}@10'; got "
                f"{[str(c) for c in table.columns]}. Name these metrics in `compare`."
            )
        lengths = sorted(columns)
        values = table[[columns[length] for length in lengths]].to_numpy()
        return cls(lengths, values, names=[str(name) for name in table.index]).plot(ax, **kwargs)


def mean_curve(test_set, k, curves, *, name, users=None):
    """Rank the songs of every playlist once, and return the mean of a metric at each length.

    `curves` returns the values of a block of playlists at all lengths. The mean is over users, if
    these are given.
    """
    values = np.full((len(test_set.playlists), len(k)), np.nan)
    for positions, ranking in test_set.rankings():
        values[positions] = curves(ranking, k)
    return [
        average_playlists(values[:, j], "macro", name=f"{name}@{length}", users=users)
        for j, length in enumerate(k)
    ]


def _lengths(k, n_songs):
    if k is None:
        return [length for length in LENGTHS if length <= n_songs]
    lengths = sorted({check_k(length) for length in np.ravel(k).tolist()})
    if not lengths:
        raise ValueError("`k` must have at least one number of songs; got none. Pass e.g. [10].")
    return lengths


def _ticks(k):
    """Choose the lengths to label, which do not overlap on a logarithmic axis."""
    return [length for length in LENGTHS if k.min() <= length <= k.max()] or k.tolist()


def _only_splitter(table):
    names = list(table.columns.get_level_values(0).unique())
    if len(names) > 1:
        raise ValueError(
            f"The table must be about one splitter; got {names}. Choose one, e.g. "
            f"table[{names[0]!r}]."
        )
    return table[names[0]]


def _check_intervals(low, high, shape):
    """Return the ends of intervals; NaN where there are none."""
    if (low is None) != (high is None):
        raise ValueError(
            "`low` and `high` must be given together; got one of them. Pass both, or none."
        )
    ends = []
    for name, values in (("low", low), ("high", high)):
        values = np.full(shape, np.nan) if values is None else np.asarray(values, dtype=float)
        values = np.atleast_2d(values)
        if values.shape != shape:
            raise ValueError(
                f"`{name}` must have the shape of the values, {shape}; got {values.shape}. Pass "
                "one end per curve and length."
            )
        ends.append(values)
    return ends


def _check_shapes(k, values, names):
    if values.shape != (len(names), len(k)):
        raise ValueError(
            "There must be one name per curve and one value per curve and length; got "
            f"{len(names)} names, {len(k)} lengths and values of shape {values.shape}. Make them "
            "of one size."
        )
