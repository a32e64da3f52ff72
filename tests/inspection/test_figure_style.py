"""Colours, and what is said without matplotlib."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from skmtc.inspection._figure_style import axes_and_figure, check_names, curve_style

WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None
from skmtc.inspection import HitRateDisplay
display = HitRateDisplay([1, 2], [[0.1, 0.2]])
try:
    display.plot()
except ImportError as error:
    print(error)
"""


def test_without_matplotlib_an_error_says_what_to_install():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_MATPLOTLIB], capture_output=True, text=True, check=True
    )
    assert "pip install matplotlib" in run.stdout


def test_the_import_leaves_matplotlib_alone():
    code = "import sys, skmtc.inspection; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_no_two_of_many_curves_look_alike():
    _, ax = plt.subplots()
    looks = set()
    for _ in range(40):
        style = curve_style(ax, {})
        ax.plot([0, 1], [0, 1], **style)
        looks.add((style["color"], style["marker"], style["linestyle"]))
    assert len(looks) == 40


def test_the_caller_has_the_last_word_also_in_short():
    _, ax = plt.subplots()
    style = curve_style(ax, {"c": "red", "ls": ":", "linewidth": 3})
    assert (style["color"], style["linestyle"], style["linewidth"]) == ("red", ":", 3)
    assert ax.plot([0, 1], [0, 1], **style)


def test_axes_that_are_given_are_used():
    figure, ax = plt.subplots()
    assert axes_and_figure(ax) == (ax, figure)
    assert axes_and_figure(None)[1] is not figure


def test_names_of_curves():
    assert check_names(None, ["a", "b"]) == ["a", "b"]
    assert check_names("x", ["a"]) == ["x"]
    with pytest.raises(ValueError, match="one name for each of the 2 curves; got 'x'"):
        check_names("x", ["a", "b"])


@pytest.mark.parametrize("paper", ["#ffffff", "#171b21"])
def test_every_curve_can_be_seen_on_its_background(paper):
    _, ax = plt.subplots()
    ax.set_facecolor(paper)
    for _ in range(8):
        style = curve_style(ax, {})
        ax.plot([0, 1], [0, 1], **style)
        light = [_luminance(colour) + 0.05 for colour in (style["color"], paper)]
        # The contrast ratio of WCAG; 2 is that of the palette's lightest colours on white.
        assert max(light) / min(light) > 2


def _luminance(colour):
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
