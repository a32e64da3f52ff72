"""Display of cold-start splits."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from skmtc._typing import Table
from skmtc._utils.validation import check_number
from skmtc.inspection._figure_style import COLOURS, import_pyplot
from skmtc.inspection._split_grid import ABSENT, ABSENT_COLD, LEFT_OUT, TEST, TRAIN, cut_grid

# Light for training, dark for test, so that they differ in shades of grey too.
STATE_COLOURS = {
    ABSENT: "#FFFFFF",
    ABSENT_COLD: "#FBE3D0",
    TRAIN: COLOURS["sky"],
    TEST: "#A63603",
    LEFT_OUT: "#777777",
}
STATE_NAMES = {
    TRAIN: "in training",
    TEST: "in test",
    LEFT_OUT: "left out",
    ABSENT_COLD: "new to the ranker",
}


class ColdStartDisplay:
    """Grids of songs by playlists that show what splitters hold out, one panel each.

    As in the paper's figure of its three settings, rows are songs, and columns are playlists
    grouped by user. A cell is coloured if the song is in the playlist, by where the splitter puts
    this row of the table. What is cold comes last: new users and new playlists on the right, new
    songs at the bottom. Make it with `from_splitter` or `from_splitters`.

    Parameters
    ----------
    grids : list of SplitGrid
        What to draw, one for each panel.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels.

    figure_ : matplotlib Figure
        Their figure.

    images_ : list of matplotlib AxesImage
        The grid of each panel.

    See Also
    --------
    skmtc.model_selection : The splitters, whose `describe` counts what they leave out.

    Examples
    --------
    The latest song, "s3", is cold. As it is the only song of the second playlist, that row is
    left out (4), the other row of it is tested (3):

    >>> import pandas as pd
    >>> from skmtc.inspection import ColdStartDisplay
    >>> from skmtc.model_selection import ColdSongSplit
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob"],
    ...     "playlist": ["gym", "gym", "gym", "run"],
    ...     "song": ["s1", "s2", "s3", "s3"],
    ...     "year": [1999, 2001, 2009, 2009],
    ... })
    >>> display = ColdStartDisplay.from_splitter(ColdSongSplit(n_songs=1), X)
    >>> grid, = display.grids
    >>> grid.songs.tolist(), grid.playlists.tolist()
    (['s1', 's2', 's3'], ['gym', 'run'])
    >>> grid.states.tolist()
    [[2, 1], [2, 1], [3, 4]]
    """

    def __init__(self, grids: Sequence[Any]) -> None:
        self.grids = list(grids)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Plot the panels.

        Parameters
        ----------
        ax : matplotlib Axes, array of these or None, default=None
            Where to draw, one for each panel; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `imshow`.

        Returns
        -------
        display : ColdStartDisplay
            This display, with `axes_`, `figure_` and `images_`.
        """
        self.axes_ = _panels(ax, len(self.grids))
        self.figure_ = self.axes_[0].figure
        self.images_ = [
            _draw(panel, grid, kwargs) for panel, grid in zip(self.axes_, self.grids, strict=True)
        ]
        self._draw_legend(self.axes_[-1] if ax is not None else None)
        return self

    @classmethod
    def from_splitter(
        cls,
        splitter: Any,
        X: Table,
        *,
        split: int = 0,
        max_songs: int = 40,
        max_playlists: int = 40,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot what one splitter does to a table.

        Parameters
        ----------
        splitter : splitter
            Who is cold; see :mod:`skmtc.model_selection`. Any splitter of rows will do.

        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table.

        split : int, default=0
            Which of its splits to draw.

        max_songs : int, default=40
            Most songs to draw: those that are in most of the playlists drawn, new and known ones
            in the proportion of the table.

        max_playlists : int, default=40
            Most playlists to draw, of users with and without test rows in the proportion of the
            table; at most an eighth of them of one user, as long as there are others.

        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `imshow`.

        Returns
        -------
        display : ColdStartDisplay
            The display, drawn.
        """
        options = {"split": split, "max_songs": max_songs, "max_playlists": max_playlists}
        return cls.from_splitters([splitter], X, ax=ax, **options, **kwargs)

    @classmethod
    def from_splitters(
        cls,
        splitters: Any,
        X: Table,
        *,
        split: int = 0,
        max_songs: int = 40,
        max_playlists: int = 40,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot what several splitters do to one table, side by side.

        Parameters
        ----------
        splitters : list of splitters, or dict of these by name
            Who is cold; the paper's figure has `ColdPlaylistSplit`, `ColdUserSplit` and
            `ColdSongSplit`.

        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table.

        split : int, default=0
            Which split of each to draw.

        max_songs : int, default=40
            Most songs to draw, as for `from_splitter`.

        max_playlists : int, default=40
            Most playlists to draw, as for `from_splitter`.

        ax : array of matplotlib Axes or None, default=None
            Where to draw, one for each splitter; None makes a new figure.

        **kwargs : dict
            Passed on to matplotlib's `imshow`.

        Returns
        -------
        display : ColdStartDisplay
            The display, drawn.
        """
        check_number("split", split, at_least=0, whole=True)
        check_number("max_songs", max_songs, at_least=1, whole=True)
        check_number("max_playlists", max_playlists, at_least=1, whole=True)
        limits = {"most_songs": max_songs, "most_playlists": max_playlists}
        grids = [
            cut_grid(splitter, X, split=split, title=title, **limits)
            for title, splitter in _titled(splitters)
        ]
        return cls(grids).plot(ax, **kwargs)

    def _draw_legend(self, panel):
        from matplotlib.patches import Patch

        found = set().union(*(np.unique(grid.states).tolist() for grid in self.grids))
        patches = [
            Patch(facecolor=STATE_COLOURS[state], edgecolor="black", linewidth=0.5, label=name)
            for state, name in STATE_NAMES.items()
            if state in found
        ]
        if panel is None:
            self.figure_.legend(handles=patches, loc="outside lower center", ncols=len(patches))
        else:  # the caller arranges the figure
            panel.legend(handles=patches, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _titled(splitters):
    """Return splitters with the titles of their panels."""
    if isinstance(splitters, dict):
        titled = list(splitters.items())
    else:
        titled = [(getattr(s, "setting", type(s).__name__), s) for s in splitters]
    if not titled:
        raise ValueError("There must be at least one splitter; got none. Pass e.g. three.")
    return titled


def _panels(ax, n_panels):
    """Return an array of axes, one per panel."""
    plt = import_pyplot()
    if ax is None:
        figure = plt.figure(figsize=(0.6 + 3.9 * n_panels, 4.6), layout="constrained")
        figure.get_layout_engine().set(wspace=0.06)
        return figure.subplots(1, n_panels, squeeze=False)[0]
    axes = np.ravel(ax)
    if len(axes) != n_panels:
        raise ValueError(
            f"`ax` must be one axes for each of the {n_panels} panels; got {len(axes)}. Make them "
            f"with plt.subplots(1, {n_panels})."
        )
    return axes


def _draw(panel, grid, kwargs):
    """Draw one grid, with lines between users."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    colours = ListedColormap([STATE_COLOURS[state] for state in sorted(STATE_COLOURS)])
    norm = BoundaryNorm(np.arange(len(STATE_COLOURS) + 1) - 0.5, len(STATE_COLOURS))
    style = {"cmap": colours, "norm": norm, "aspect": "auto", "interpolation": "nearest"}
    image = panel.imshow(grid.states, **style | kwargs)
    for place in np.flatnonzero(grid.users[1:] != grid.users[:-1]):
        panel.axvline(place + 0.5, color="#666666", linewidth=0.6)
    n_songs, n_playlists = grid.states.shape
    panel.set(
        title=grid.title,
        xlabel=f"playlists, by user{_of(n_playlists, grid.n_playlists)}",
        ylabel=f"songs{_of(n_songs, grid.n_songs)}",
        xticks=[],
        yticks=[],
    )
    return image


def _of(n_drawn, n_all):
    """Describe how much of a table is drawn, if not all of it."""
    return f" ({n_drawn} of {n_all:,})" if n_drawn < n_all else f" ({n_all:,})"
