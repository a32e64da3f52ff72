"""Draw the picture of the README from measured figures.

The figures are those of ``python -m skmtc``, in ``docs/benchmarks/embedded_sample.csv``. Run
``python docs/results_picture.py`` to write ``docs/_static/results.svg``.
"""

from pathlib import Path

import matplotlib as mpl
import pandas as pd

mpl.use("agg")
mpl.rcParams["svg.hashsalt"] = "skmtc"  # the same figures give the same file
mpl.rcParams.update({"font.size": 9, "svg.fonttype": "none", "font.family": "sans-serif"})

HERE = Path(__file__).resolve().parent
TITLES = {
    "cold-playlists": "new playlists of known users",
    "cold-users": "new users",
    "cold-songs": "new songs",
}

OURS = ("multitask", "multitask history", "recommended")


def main():
    """Write the picture."""
    table = pd.read_csv(HERE / "benchmarks" / "embedded_sample.csv")
    draw(table).savefig(HERE / "_static" / "results.svg", metadata={"Date": None})


def draw(table):
    """Give a figure of the AUC of each ranker in the three settings."""
    from matplotlib import pyplot as plt

    table = table.iloc[::-1]  # bars are drawn from below
    figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True, layout="constrained")
    for panel, (setting, title) in zip(panels, TITLES.items(), strict=True):
        part = table[table["setting"] == setting]
        names = part["ranker"].str.replace("-", " ")
        colours = ["#0a7d91" if name in OURS else "#b5bfc9" for name in names]
        bars = panel.barh(names, part["auc"], color=colours)
        panel.bar_label(bars, fmt="%.2f", padding=2)
        panel.set(title=title, xlim=(0.5, 1.0), xlabel="AUC")
        panel.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    main()
