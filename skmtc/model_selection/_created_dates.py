"""Dates when playlists were created and songs were added."""

import warnings
from dataclasses import dataclass

import numpy as np

from skmtc._table import column_label
from skmtc._table.dates import guess_created, read_dates

AUTO = "auto"


@dataclass
class Created:
    """Dates in seconds since 1970; NaN where they are not known.

    Attributes
    ----------
    label : object
        Column of the dates.

    of_row : ndarray of shape (n_rows,)
        When the song of each row was added: the date of its playlist where all known dates of a
        playlist are the same.

    of_playlist : ndarray of shape (n_playlists,)
        When each playlist was created: its earliest date.
    """

    label: object
    of_row: np.ndarray
    of_playlist: np.ndarray

    def warn_missing(self, rows, outcome):
        """Warn if dates are missing, with the numbers of playlists and rows.

        It is called by `_parts`, so that the warning points to the line that calls `split`.
        """
        lacking = np.isnan(self.of_row)
        if lacking.any():
            n_playlists = int(np.isnan(self.of_playlist).sum())
            warnings.warn(
                f"Dates should be known; got none in column {self.label!r} for {n_playlists:,} of "
                f"{rows.n_playlists:,} playlists, and for {int(lacking.sum()):,} of "
                f"{len(lacking):,} rows. {outcome}",
                stacklevel=4,
            )


def read_created(rows, created):
    """Return the dates of playlists and rows, of the column that is named or guessed.

    Parameters
    ----------
    rows : CodedRows
        The table.

    created : str or int
        Column by name or position; "auto" guesses it.
    """
    if isinstance(created, str) and created == AUTO:
        label = guess_created(rows.frame, rows.columns)
        problem = "a column of dates of playlists or rows, such as 'created_at'"
    else:
        label = column_label(rows.frame, created)
        problem = f"a column {created!r} of dates"
    if label is None:
        raise ValueError(
            f"The table must have {problem}; got {list(rows.frame.columns)}. Name the column to "
            "use with `created=`."
        )
    return dates_of_playlists(rows, label)


def find_created(rows):
    """Return the dates of the column that is guessed; None if there is none."""
    label = guess_created(rows.frame, rows.columns)
    return None if label is None else dates_of_playlists(rows, label)


def dates_of_playlists(rows, label):
    """Return the dates of rows and playlists that a column tells."""
    of_row = read_dates(rows.frame[label], label)
    first, last = np.full((2, rows.n_playlists), np.nan)
    np.fmin.at(first, rows.playlists, of_row)
    np.fmax.at(last, rows.playlists, of_row)
    if not (first < last).any():
        of_row = first[rows.playlists]
    return Created(label, of_row, first)
