"""The colours of the panels are the split."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from random_tables import dense_table

from skmtc.inspection import ColdStartDisplay
from skmtc.inspection._cold_start import STATE_COLOURS
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

X = dense_table(n_users=20, n_songs=30)
PAPER = [
    ColdPlaylistSplit(min_song_count=1, random_state=0),
    ColdUserSplit(random_state=0),
    ColdSongSplit(song_size=0.2, random_state=0),
]


def test_three_panels_have_the_colours_of_their_splits():
    display = ColdStartDisplay.from_splitters(PAPER, X)
    assert len(display.axes_) == len(display.images_) == 3
    for panel, image, grid in zip(display.axes_, display.images_, display.grids, strict=True):
        drawn = image.to_rgba(image.get_array())
        for state, colour in STATE_COLOURS.items():
            of_state = drawn[grid.states == state]
            assert np.allclose(of_state, to_rgba(colour), atol=1e-6)
        assert list(panel.images) == [image]
    titles = [panel.get_title() for panel in display.axes_]
    assert titles == ["cold playlists", "cold users", "cold songs"]


def test_colours_of_states_are_distinct_also_in_grey():
    grey = [np.dot(to_rgba(c)[:3], [0.299, 0.587, 0.114]) for c in STATE_COLOURS.values()]
    assert np.diff(np.sort(grey)).min() > 0.08


def test_lines_separate_users():
    display = ColdStartDisplay.from_splitter(PAPER[0], X)
    (grid,) = display.grids
    lines = [line.get_xdata()[0] for line in display.axes_[0].get_lines()]
    changes = np.flatnonzero(grid.users[1:] != grid.users[:-1])
    assert lines == (changes + 0.5).tolist()


def test_labels_say_how_much_is_drawn():
    display = ColdStartDisplay.from_splitter(PAPER[0], X, max_songs=7, max_playlists=9)
    n_playlists = X["playlist"].nunique()
    assert display.axes_[0].get_xlabel() == f"playlists, by user (9 of {n_playlists})"
    assert display.axes_[0].get_ylabel() == "songs (7 of 30)"
    whole = ColdStartDisplay.from_splitter(PAPER[0], X, max_songs=99, max_playlists=99)
    assert whole.axes_[0].get_ylabel() == "songs (30)"


def test_the_legend_names_what_is_there():
    def legend(cv):
        figure = ColdStartDisplay.from_splitter(cv, X, max_playlists=99).figure_
        return [text.get_text() for text in figure.legends[0].get_texts()]

    assert legend(PAPER[1]) == ["in training", "in test", "new to the ranker"]
    windows = ColdSongSplit(2, song_size=0.2, random_state=0)
    assert legend(windows) == ["in training", "in test", "left out", "new to the ranker"]


def test_names_and_axes_may_be_given():
    figure, axes = plt.subplots(1, 2)
    named = dict(zip("ab", PAPER[:2], strict=True))
    display = ColdStartDisplay.from_splitters(named, X, ax=axes)
    assert display.figure_ is figure
    assert [panel.get_title() for panel in axes] == ["a", "b"]
    assert axes[1].get_legend() is not None
    with pytest.raises(ValueError, match="one axes for each of the 3 panels; got 2"):
        ColdStartDisplay.from_splitters(PAPER, X, ax=axes)


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="`max_songs` must be an integer of 1 or more"):
        ColdStartDisplay.from_splitter(PAPER[0], X, max_songs=0)
    with pytest.raises(ValueError, match="`split` must be an integer of 0 or more"):
        ColdStartDisplay.from_splitter(PAPER[0], X, split=-1)
    with pytest.raises(ValueError, match="at least one splitter"):
        ColdStartDisplay.from_splitters([], X)
