"""Matplotlib imported on demand, and a colour-blind safe style."""

# The palette of Okabe and Ito, without the yellow that is hard to see on white. The numbers of
# colours, markers and lines are coprime, so that combinations repeat late.
COLOURS = {
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "black": "#000000",
}
# Colours that are too dark on a dark background, and their replacements.
ON_DARK = {"#000000": "#FFFFFF", "#0072B2": "#3D9BDC"}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINESTYLES = ("-", "--", "-.")


def import_pyplot():
    """Return matplotlib's pyplot; raise if it is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib; got an environment without it. Install it with "
            "`pip install matplotlib`."
        ) from error
    return plt


def axes_and_figure(ax, **figure_options):
    """Return the axes to draw in and their figure; a new one for None."""
    plt = import_pyplot()
    if ax is None:
        _, ax = plt.subplots(layout="constrained", **figure_options)
    return ax, ax.figure


def curve_style(ax, kwargs):
    """Return the style of the next curve in some axes; `kwargs` take precedence."""
    number = len(ax.get_lines())
    colours = list(COLOURS.values())
    if is_dark(ax):
        colours = [ON_DARK.get(colour, colour) for colour in colours]
    style = {
        "color": colours[number % len(colours)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": LINESTYLES[number % len(LINESTYLES)],
        "markersize": 5,
    }
    short = {"c": "color", "ls": "linestyle", "ms": "markersize", "lw": "linewidth"}
    return style | {short.get(name, name): value for name, value in kwargs.items()}


def is_dark(ax):
    """Check whether the background of axes is dark."""
    from matplotlib.colors import to_rgb

    # The weights of luma approximate perceived brightness.
    luma = sum(
        w * c for w, c in zip((0.299, 0.587, 0.114), to_rgb(ax.get_facecolor()), strict=True)
    )
    return luma < 0.5


def finish_curves(ax, lines, *, xlabel, ylabel):
    """Label axes with curves."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(alpha=0.3)
    if any(not line.get_label().startswith("_") for line in lines):
        ax.legend()


def check_names(name, names):
    """Return the names to draw curves by: those given, or the display's own."""
    if name is None:
        return list(names)
    given = [name] if isinstance(name, str) else list(name)
    if len(given) != len(names):
        raise ValueError(
            f"`name` must have one name for each of the {len(names)} curves; got {name!r}. Pass a "
            "list of names."
        )
    return given
