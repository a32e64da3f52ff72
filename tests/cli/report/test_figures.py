"""Curves against the number of songs."""

from itertools import pairwise

import numpy as np
import pytest

from skmtc.cli.report._figures import COLOURS, MARKERS, draw_curves, figure_bytes, style_of


def _figure(theme="light"):
    curves = {"one": [0.1, 0.5, 0.9], "other": [0.2, 0.3, 0.4]}
    styles = {name: style_of(i, theme) for i, name in enumerate(curves)}
    return draw_curves(
        [1, 10, 100], curves, title="Hit rate", ylabel="Hit rate@K", styles=styles, theme=theme
    )


def test_curves_are_the_arrays():
    axes = _figure().axes[0]
    assert [line.get_label() for line in axes.lines] == ["one", "other"]
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), [0.2, 0.3, 0.4])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10", "100"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_curves_are_told_apart_by_more_than_colour(theme):
    styles = [style_of(i, theme) for i in range(3 * len(COLOURS))]
    assert len({(s["color"], s["marker"], s["linestyle"]) for s in styles}) == len(styles)
    assert len({s["marker"] for s in styles[: len(MARKERS)]}) == len(MARKERS)


@pytest.mark.parametrize("form", ["png", "svg"])
def test_the_same_figure_gives_the_same_bytes(form):
    one, again = (figure_bytes(_figure(), form) for _ in range(2))
    assert one == again
    assert one != figure_bytes(_figure("dark"), form)


def test_no_label_overlaps_another():
    figure = _figure()
    figure.draw_without_rendering()
    (legend,) = figure.legends
    axes = figure.axes[0]
    assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
