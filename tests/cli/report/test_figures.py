"""Curves against the number of songs."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from skmtc.cli.report._figures import PAPER, draw_curves, figure_bytes


def _figure(theme="light"):
    one = np.array([[0.1, 0.5, 0.9], [0.0, 0.4, 0.8], [0.2, 0.6, 1.0]])
    curves = {"one": one, "absent": None, "other": one / 2}
    return draw_curves("hit_rate", [1, 10, 100], curves, title="Hit rate", theme=theme)


def test_curves_and_bands_are_the_arrays():
    figure = _figure()
    axes = figure.axes[0]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "other"]
    np.testing.assert_array_equal(axes.lines[2].get_ydata(), [0.05, 0.25, 0.45])
    assert np.isnan(axes.lines[1].get_ydata()).all()
    assert len(axes.collections) == 2
    (band,) = axes.collections[0].get_paths()
    assert set(band.vertices[:, 1]) == {0.0, 0.4, 0.8, 0.2, 0.6, 1.0}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_has_the_colours_of_its_theme(theme):
    figure = _figure(theme)
    axes = figure.axes[0]
    for part in (figure, axes):
        assert to_hex(part.get_facecolor()) == PAPER[theme]
    ink = to_hex(axes.xaxis.label.get_color())
    assert ink != PAPER[theme]
    assert to_hex(axes.title.get_color()) == ink


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
    assert axes.get_legend() is None
    assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
