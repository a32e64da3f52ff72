"""Draw the picture of the README from measured figures.

The figures are those of ``examples/benchmarks/bench_rankers.py`` on real playlists, in
``docs/benchmarks/rankers_30music_2017.csv``. Run ``python docs/results_picture.py`` to write
``docs/_static/results.svg``.
"""

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
TABLE = HERE / "benchmarks" / "rankers_30music_2017.csv"
STYLE = {
    "font.size": 9,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    "svg.hashsalt": "skmtc",  # the same figures give the same file
}
TITLES = {"cold songs": "new songs", "cold playlists": "new playlists of known users"}
METRICS = {"auc": "AUC", "hit_rate@10": "HitRate@10", "hit_rate@100": "HitRate@100"}
# The axis of each setting and metric; an AUC of 0.5 is that of a random order.
ENDS = {
    ("cold songs", "auc"): (0.5, 1.0),
    ("cold songs", "hit_rate@10"): (0.0, 0.4),
    ("cold songs", "hit_rate@100"): (0.0, 0.8),
    ("cold playlists", "auc"): (0.5, 1.0),
    ("cold playlists", "hit_rate@10"): (0.0, 0.04),
    ("cold playlists", "hit_rate@100"): (0.0, 0.16),
}
OURS, SIMPLE, OTHERS = "#0a7d91", "#b5bfc9", "#d08c60"
RANKERS = {
    "recommended": OURS,
    "MTC with history": OURS,
    "ridge": OURS,
    "item kNN": SIMPLE,
    "own songs first": SIMPLE,
    "popularity": SIMPLE,
    "irspack iALS, one-hot": OTHERS,
    "LightFM": OTHERS,
    "implicit ALS": OTHERS,
    "irspack RP3beta": OTHERS,
    "EASE": OTHERS,
}


def main():
    """Write the picture."""
    with mpl.rc_context(STYLE):
        figure = draw(pd.read_csv(TABLE))
        figure.savefig(HERE / "_static" / "results.svg", metadata={"Date": None})


def draw(table):
    """Return a figure of the metrics of the rankers in each setting."""
    table = table.set_index(["setting", "ranker"])
    names = list(RANKERS)[::-1]  # bars are drawn from below
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    panels = figure.subplots(len(TITLES), len(METRICS), sharey=True)
    for row, (setting, title) in zip(panels, TITLES.items(), strict=True):
        row[0].set_title(title, loc="left", fontweight="bold")
        for panel, (metric, label) in zip(row, METRICS.items(), strict=True):
            values = table.loc[setting, metric].reindex(names)
            _draw_panel(panel, values, *ENDS[setting, metric])
            panel.set_xlabel(label)
    return figure


def _draw_panel(panel, values, low, high):
    """Draw one metric in one setting: bars, or that there is no answer."""
    panel.barh(values.index, values - low, left=low, color=[RANKERS[name] for name in values.index])
    for name, value in values.items():
        told = "no answer" if pd.isna(value) else f"{value:.3f}"
        end = low if pd.isna(value) else value
        panel.text(end + 0.015 * (high - low), name, told, va="center", fontsize=8)
    panel.set_xlim(low, high)
    panel.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
