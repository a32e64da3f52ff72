"""Curves against the number of recommended songs, drawn by the displays of `skmtc.inspection`."""

import io

import numpy as np

from skmtc.inspection import HitRateDisplay, NoveltyDisplay

DISPLAYS = {"hit_rate": HitRateDisplay, "novelty": NoveltyDisplay}
INK = {"light": "#1b1f24", "dark": "#e6e9ee"}
PAPER = {"light": "#ffffff", "dark": "#171b21"}


def draw_curves(metric, lengths, curves, *, title, theme="light"):
    """Draw one curve per ranker against the number of songs K, with its interval.

    Parameters
    ----------
    metric : {"hit_rate", "novelty"}
        What is drawn.

    lengths : sequence of int
        Numbers of songs.

    curves : dict of str to array of shape (3, n_lengths)
        Means and both ends of their intervals, by name. A name with None keeps its place among
        colours, and is not drawn.

    title : str
        What is shown.

    theme : {"light", "dark"}, default="light"
        Colours of the page.

    Returns
    -------
    figure : matplotlib Figure
        Not known to pyplot, so that nothing has to be closed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    missing = np.full((3, len(lengths)), np.nan)
    arrays = [missing if curve is None else np.asarray(curve) for curve in curves.values()]
    values, low, high = np.stack(arrays, axis=1)
    names = [None if curve is None else name for name, curve in curves.items()]
    ink, paper = INK[theme], PAPER[theme]
    colours = dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor"], ink)
    colours |= {"xtick.color": ink, "ytick.color": ink, "grid.color": "#8C959F"}
    with rc_context(colours | {"axes.facecolor": paper, "font.size": 11}):
        figure = Figure(figsize=(5.6, 4.6), layout="constrained", facecolor=paper)
        axes = figure.add_subplot()
        DISPLAYS[metric](lengths, values, names=names, low=low, high=high).plot(axes)
        axes.set_title(title, loc="left", fontsize=13)
        axes.spines[["top", "right"]].set_visible(False)
        axes.get_legend().remove()  # below the axes it covers no curve
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    return figure


def figure_bytes(figure, form):
    """Return a figure as a file of the form "png" or "svg", the same bytes for the same figure."""
    import matplotlib

    file = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "skmtc", "svg.fonttype": "path"}):
        figure.savefig(
            file, format=form, dpi=150, facecolor=figure.get_facecolor(), metadata=metadata
        )
    return file.getvalue()
