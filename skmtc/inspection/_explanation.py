"""Display of the explanation of one score."""

from typing import Any, Self

import numpy as np
import pandas as pd

from skmtc._typing import Table
from skmtc.inspection._explain import OTHERS, explain
from skmtc.inspection._figure_style import COLOURS, axes_and_figure
from skmtc.metrics import find_ranker

PART_COLOURS = [COLOURS[c] for c in ("sky", "orange", "green", "purple", "vermilion", "black")]
# Hatches tell the parts apart without colours.
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")


class ExplanationDisplay:
    """Bars of how much each feature contributes to a score, by part.

    Bars to the right increase the score, bars to the left decrease it, and a mark shows the sum.
    Make it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    contributions : DataFrame of shape (n_features, n_parts)
        What each part (column) of each feature (row) adds to the score, in the order in which
        they are drawn, from the top.

    title : str or None, default=None
        What is explained.

    Attributes
    ----------
    score : float
        The score: the sum of all contributions.

    ax_ : matplotlib Axes
        Where the bars are.

    figure_ : matplotlib Figure
        The figure of these axes.

    bars_ : dict of str to matplotlib BarContainer
        The bars of each part.

    See Also
    --------
    explain : The same as a table, for many rows.

    Examples
    --------
    The new playlist has no weights of its own, so that its part is empty and not drawn:

    >>> import pandas as pd
    >>> from skmtc import MultitaskPlaylistRanker
    >>> from skmtc.inspection import ExplanationDisplay
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "zen", "zen", "nap"],
    ...     "song": ["s1", "s2", "s3", "s4", "s5", "s6"],
    ...     "tempo": [1.5, 1.0, 2.0, -1.0, -1.5, -2.0],
    ... })
    >>> ranker = MultitaskPlaylistRanker(user_l2=0.1).fit(X)
    >>> new = pd.DataFrame({"user": ["ana"], "playlist": ["sun"], "song": ["s7"], "tempo": [1.8]})
    >>> display = ExplanationDisplay.from_estimator(ranker, new)
    >>> display.contributions.index.tolist(), list(display.bars_)
    (['tempo', 'constant'], ['shared', 'user'])
    """

    def __init__(self, contributions: pd.DataFrame, *, title: str | None = None) -> None:
        self.contributions = contributions
        self.title = title

    @property
    def score(self) -> float:
        """The sum of all contributions."""
        return float(self.contributions.to_numpy().sum())

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Plot the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `barh`.

        Returns
        -------
        display : ExplanationDisplay
            This display, with `ax_`, `figure_` and `bars_`.
        """
        height = 1.8 + 0.32 * len(self.contributions)
        self.ax_, self.figure_ = axes_and_figure(ax, figsize=(7.2, height))
        places = np.arange(len(self.contributions))
        self.bars_ = self._draw_bars(places, kwargs)
        total = self.contributions.sum(axis=1)
        self.ax_.plot(total, places, "D", color="black", markersize=5, label="sum")
        self.ax_.axvline(0.0, color="black", linewidth=0.8)
        self.ax_.set_yticks(places, [str(name) for name in self.contributions.index])
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel="contribution to the score", title=self._heading())
        self.ax_.grid(axis="x", alpha=0.3)
        self.ax_.set_axisbelow(True)
        # Beside the bars, so that it covers none of them.
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return self

    @classmethod
    def from_estimator(
        cls, ranker: Any, X: Table, *, top: int | None = 10, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Explain the score of one row, and draw it.

        Parameters
        ----------
        ranker : estimator
            Fitted ranker with weights of features, or Pipeline or search that ends in one.

        X : DataFrame or array of shape (1, n_columns)
            Membership table of one row, such as `X.iloc[[0]]`.

        top : int or None, default=10
            How many features to show, the others being summed; None shows all.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `barh`.

        Returns
        -------
        display : ExplanationDisplay
            The display, drawn.
        """
        n_rows = len(X)
        if n_rows != 1:
            raise ValueError(
                f"A picture explains one row; got {n_rows}. Pass one, e.g. X.iloc[[0]], or use "
                "`explain` for a table."
            )
        explanation = explain(ranker, X, top=top).iloc[0]
        title = _title(*find_ranker(ranker, X))
        return cls.from_explanation(explanation, title=title, ax=ax, **kwargs)

    @classmethod
    def from_explanation(
        cls, explanation: pd.Series, *, title: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw one row of an explanation.

        Parameters
        ----------
        explanation : Series
            A row of the table that :func:`explain` returns.

        title : str or None, default=None
            What is explained.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `barh`.

        Returns
        -------
        display : ExplanationDisplay
            The display, drawn.
        """
        return cls(_by_feature(explanation), title=title).plot(ax, **kwargs)

    def _draw_bars(self, places, kwargs):
        """Stack the bars of parts, from zero to the right and to the left."""
        ends = {True: np.zeros(len(places)), False: np.zeros(len(places))}
        bars = {}
        for number, (part, widths) in enumerate(self.contributions.items()):
            widths = widths.to_numpy()
            if not widths.any():
                continue
            start = np.where(widths > 0, ends[True], ends[False])
            style = {"color": PART_COLOURS[number % len(PART_COLOURS)], "edgecolor": "black"}
            style |= {"hatch": HATCHES[number % len(HATCHES)], "linewidth": 0.6}
            bars[part] = self.ax_.barh(places, widths, left=start, label=part, **style | kwargs)
            ends[True] += np.maximum(widths, 0.0)
            ends[False] += np.minimum(widths, 0.0)
        return bars

    def _heading(self):
        score = f"score {self.score:.3g}"
        return score if self.title is None else f"{self.title}: {score}"


def _by_feature(explanation):
    """Turn a row of (part, feature) into a table, sorted by absolute contribution."""
    parts = list(explanation.index.get_level_values("part").unique())
    long = pd.DataFrame(
        {
            "part": explanation.index.get_level_values("part"),
            "feature": explanation.index.get_level_values("feature"),
            "value": explanation.to_numpy(),
        }
    )
    table = long.pivot_table(index="feature", columns="part", values="value", aggfunc="sum")
    sizes = table.abs().sum(axis=1).sort_values(ascending=False, kind="stable")
    order = [name for name in sizes.index if name != OTHERS]
    order += [OTHERS] if OTHERS in sizes.index else []
    return table.loc[order, parts].fillna(0.0)


def _title(ranker, table):
    """Return which song, playlist and user a row is about."""
    row = ranker.read_table(table)
    columns = ranker.reader.find_columns(row, ("song", "playlist"))
    song, playlist = row[columns.song].iloc[0], row[columns.playlist].iloc[0]
    title = f"{song} in {playlist}"
    return title if columns.user is None else f"{title} of {row[columns.user].iloc[0]}"
