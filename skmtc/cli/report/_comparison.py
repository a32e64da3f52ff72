"""What rankers did in one setting."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from skmtc._paired import paired_differences
from skmtc.cli.report._examples import Example
from skmtc.metrics import RECORDS

# Metrics that are drawn against the number of songs K, with the titles of their figures.
CURVES = {record.name: record.curve for record in RECORDS if record.curve is not None}


@dataclass
class Comparison:
    """What rankers did in one setting.

    Attributes
    ----------
    setting : str
        Name of the setting.

    metrics : list of str
        What the table shows.

    rows : DataFrame
        One row per ranker, named so by its index: the metrics, the values of the curves,
        fit_time, score_time and error.

    lengths : list of int
        Numbers of songs K of the curves.

    split : dict
        Counts of the split, as its splitter describes it.

    playlists : DataFrame
        One row per ranker that did not fail and test playlist, with the metrics.

    n_playlists : int
        Number of playlists of the whole table.

    meaning : str
        What the setting is about.

    intervals : dict of str to DataFrame
        Mean, low and high of each metric and length, by ranker that did not fail.

    examples : list of Example
        A few test playlists, with what the rankers recommend.
    """

    setting: str
    metrics: list[str]
    rows: pd.DataFrame
    lengths: list[int]
    split: dict[str, int]
    playlists: pd.DataFrame
    n_playlists: int
    meaning: str
    intervals: dict[str, pd.DataFrame] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)

    @cached_property
    def differences(self):
        """Paired differences of rankers to the best one, by each metric."""
        return paired_differences(self.playlists, self.metrics)

    def differences_by(self, metric):
        """Return the differences by one metric, by ranker; none if all rankers failed."""
        found = self.differences
        return found[found["metric"] == metric].set_index("ranker")

    def curve(self, metric):
        """Return the values of a metric against K, by ranker; failed rankers have none."""
        labels = [f"{metric}@{k}" for k in self.lengths]
        good = self.rows[self.rows["error"] == ""]
        return {name: good.loc[name, labels].to_numpy(dtype=float) for name in good.index}

    def bands(self, metric):
        """Return the values of a metric against K with the ends of their intervals, by ranker."""
        labels = [f"{metric}@{k}" for k in self.lengths]
        return {
            name: found.loc[labels, ["mean", "low", "high"]].to_numpy(dtype=float).T
            for name, found in self.intervals.items()
        }

    def interval(self, name, metric):
        """Return the ends of the interval of a mean; None if there is none."""
        if name not in self.intervals:
            return None
        low, high = self.intervals[name].loc[metric, ["low", "high"]]
        return None if np.isnan(low) else (float(low), float(high))

    def is_flat(self, metric):
        """Check whether a metric is the same for all rankers and lengths."""
        values = np.array(list(self.curve(metric).values()))
        return values.size > 0 and bool(np.ptp(values) < 1e-9)
