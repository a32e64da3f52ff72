"""Curves against the number of recommended songs: arrays in, picture out."""

import io

# The palette of Okabe and Ito, which people of all kinds of colour vision tell apart; its yellow,
# too faint on white, is replaced by grey. Markers say it again.
COLOURS = ("ink", "#E69F00", "#56B4E9", "#009E73", "#8C8C8C", "#CC79A7", "#0072B2", "#D55E00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STAR = 10.0  # a star is small for its size
INK = {"light": "#1b1f24", "dark": "#e6e9ee"}
PAPER = {"light": "#ffffff", "dark": "#171b21"}
# The darkest blue of the palette can hardly be seen on a dark page.
LIGHTER = {"#0072B2": "#3D9BDC"}


def style_of(position, theme="light"):
    """Return the colour and marker of a curve, by its position among all."""
    colour = COLOURS[position % len(COLOURS)]
    if theme == "dark":
        colour = LIGHTER.get(colour, colour)
    marker = MARKERS[position % len(MARKERS)]
    lines = ("-", "--", ":")
    return {
        "color": INK[theme] if colour == "ink" else colour,
        "marker": marker,
        "markersize": STAR if marker == "*" else 6.5,
        "linestyle": lines[position // len(COLOURS) % len(lines)],
    }


def draw_curves(lengths, curves, *, title, ylabel, styles, theme="light"):
    """Draw one curve per ranker against the number of songs K.

    Parameters
    ----------
    lengths : sequence of int
        Numbers of songs.

    curves : dict of str to array
        Values by name, aligned with `lengths`.

    title, ylabel : str
        What is shown.

    styles : dict of str to dict
        Options of matplotlib's `plot`, by name.

    theme : {"light", "dark"}, default="light"
        Colours of the page.

    Returns
    -------
    figure : matplotlib Figure
        Not known to pyplot, so that nothing has to be closed.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, NullLocator

    figure = Figure(figsize=(5.6, 4.6), layout="constrained", facecolor=PAPER[theme])
    axes = figure.add_subplot(facecolor=PAPER[theme])
    for name, values in curves.items():
        axes.plot(lengths, values, label=name, linewidth=1.8, **styles[name])
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(lengths))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(lengths, [str(k) for k in lengths])
    axes.set_title(title, color=INK[theme], loc="left", fontsize=13)
    axes.set_xlabel("number of recommended songs K", color=INK[theme], fontsize=11)
    axes.set_ylabel(ylabel, color=INK[theme], fontsize=11)
    axes.tick_params(colors=INK[theme], labelsize=10)
    axes.grid(alpha=0.25, color=INK[theme], linewidth=0.6)
    for side, spine in axes.spines.items():
        spine.set_color(INK[theme])
        spine.set_visible(side in ("left", "bottom"))
    figure.legend(
        loc="outside lower center",
        ncols=3,
        frameon=False,
        labelcolor=INK[theme],
        fontsize=10,
    )
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
