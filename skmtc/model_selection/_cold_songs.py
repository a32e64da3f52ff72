"""Splitters that hold out songs."""

import warnings

import numpy as np
import pandas as pd

from skmtc._table import column_label, shown
from skmtc._table.dates import has_dates, is_event_name, is_release_name, read_dates
from skmtc._typing import Column, Seed
from skmtc.model_selection._base_splitter import (
    ColdKFold,
    ColdSplitter,
    Parts,
    check_count,
    check_share,
    known,
)
from skmtc.model_selection._created_dates import AUTO, find_created

NO_SONG_LEFT = "playlist has no other song"
AT_RANDOM = "at random"  # what `describe` shows where no release tells which songs are cold

# A guessed column describes songs if at most this share of them has several values.
MOST_DIFFERING = 0.01


class ColdSongSplit(ColdSplitter):
    """Hold out the latest released songs, as the paper does.

    The rows of these songs are the test set. Playlists whose songs are all held out are left out
    of both sides, and songs whose release is not known stay in training.

    Parameters
    ----------
    n_splits : int, default=1
        Number of splits. With more than one, these are successive windows of release: the last
        split tests the latest songs, the one before it those released just before, and so on.
        Each trains on the songs released before its window, and leaves out those released after
        it. If `released=None`, splits are drawn independently.

    n_songs : int or None, default=None
        Number of songs to hold out in each split. None: use `song_size`.

    song_size : float, default=0.1
        Share of all songs to hold out in each split; not used if `n_songs` is given.

    released : str, int or None, default="auto"
        Column of the release of each song, by name or position: numbers, dates or strings in ISO
        form. Songs released at the same time are held out in random order. None: songs are drawn at
        random. "auto" takes, of these, the first that there is: the column "year"; another column
        of songs that is named like a release, such as "release_date"; any dates of songs; the
        first date on which a playlist has the song, if there are dates of playlists or rows, such
        as "created_at". Without any, songs are drawn at random, and a warning says so.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed. With an int, splits depend on nothing but the ids that are together in rows and the
        releases: not on the order of rows, and not on the names of ids as long as these sort
        alike.

    See Also
    --------
    ColdSongKFold : Hold out every song once.

    Examples
    --------
    The latest song is "s3". The second playlist has no other, so it cannot be trained on or
    tested:

    >>> import pandas as pd
    >>> from skmtc.model_selection import ColdSongSplit
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob"],
    ...     "playlist": ["gym", "gym", "gym", "run"],
    ...     "song": ["s1", "s2", "s3", "s3"],
    ...     "year": [1999, 2001, 2009, 2009],
    ... })
    >>> for train, test in ColdSongSplit(n_songs=1).split(X):
    ...     print(train, test)
    [0 1] [2]
    """

    setting = "cold songs"
    _fewest_splits = 1

    def __init__(
        self,
        n_splits: int = 1,
        *,
        n_songs: int | None = None,
        song_size: float = 0.1,
        released: Column | None = "auto",
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.n_splits = n_splits
        self.n_songs = n_songs
        self.song_size = song_size
        self.released = released
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def _parts(self, rows, rng):
        n_held = self._n_held(rows.n_songs)
        release, source = self._releases(rows)
        facts = {"held_out_by": source}
        if release is None:
            for _ in range(self.n_splits):
                cold = np.zeros(rows.n_songs, dtype=bool)
                cold[rng.permutation(rows.n_songs)[:n_held]] = True
                yield _parts_of_songs(rows, cold, facts=facts)
            return
        order = np.flatnonzero(~np.isnan(release))
        order = order[np.lexsort([rng.permutation(len(order)), release[order]])]
        self._check_song_counts(len(order), n_held, rows.n_songs)
        for window in range(self.n_splits, 0, -1):
            first = len(order) - window * n_held
            cold, later = np.zeros((2, rows.n_songs), dtype=bool)
            cold[order[first : first + n_held]] = True
            later[order[first + n_held :]] = True
            yield _parts_of_songs(rows, cold, later, facts)

    def _n_held(self, n_songs):
        if self.n_songs is None:
            check_share("song_size", self.song_size)
            return max(1, round(self.song_size * n_songs))
        check_count("n_songs", self.n_songs, 1)
        if self.n_songs >= n_songs:
            raise ValueError(
                f"`n_songs` must be below the number of songs, {n_songs}; got {self.n_songs}. "
                "Hold out fewer songs."
            )
        return self.n_songs

    def _releases(self, rows):
        """Return the release of each song as a number, NaN where it is not known, and its source.

        Without releases, the first is None.
        """
        if self.released is None:
            return None, AT_RANDOM
        if isinstance(self.released, str) and self.released == AUTO:
            return _guess_releases(rows)
        label = column_label(rows.frame, self.released)
        if label is None:
            raise ValueError(
                f"The table must have a column {self.released!r} of releases; got "
                f"{list(rows.frame.columns)}. Name the one to use with `released=`, or pass None "
                "to hold out random songs."
            )
        times = _read_releases(rows.frame[label], label)
        release = _earliest(rows, times)
        # NaN differs from itself; of a song, all rows or none must have a release.
        wrong = np.flatnonzero(~((times == release[rows.songs]) | np.isnan(release[rows.songs])))
        if len(wrong):
            raise ValueError(
                f"A song must have one release; got {shown(rows.frame[label].iloc[wrong[0]])} in "
                f"row {wrong[0]} and another in a row of the same song ({len(wrong)} such rows). "
                f"Correct column {label!r}."
            )
        return release, str(label)

    def _check_song_counts(self, n_released, n_held, n_songs):
        n_needed = self.n_splits * n_held
        if n_needed > n_released or n_needed >= n_songs:
            raise ValueError(
                f"There must be enough songs with a known release: {self.n_splits} windows of "
                f"{n_held}, and a song to train on; got {n_released} of {n_songs} songs with a "
                "release. Hold out fewer songs, or pass fewer splits."
            )


class ColdSongKFold(ColdKFold):
    """Hold out every song exactly once.

    Test rows whose playlist then has no song in training are left out.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.

    shuffle : bool, default=False
        Whether to assign songs to folds in random order instead of by id.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    See Also
    --------
    ColdSongSplit : The protocol of the paper.

    Examples
    --------
    The playlist "run" has one song only, so it is unknown when its song is cold:

    >>> import pandas as pd
    >>> from skmtc.model_selection import ColdSongKFold
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob"],
    ...     "playlist": ["gym", "gym", "run"],
    ...     "song": ["s1", "s2", "s2"],
    ... })
    >>> for train, test in ColdSongKFold(n_splits=2).split(X):
    ...     print(train, test)
    [1 2] [0]
    [0] [1]
    """

    setting = "cold songs"

    def _parts(self, rows, rng):
        fold = self._folds(self._order(rows.n_songs, rng), "songs")
        for number in range(self.n_splits):
            yield _parts_of_songs(rows, fold == number)


def _read_releases(column, label):
    """Return releases as numbers whose order is that of time; NaN for missing ones."""
    column = column.infer_objects()
    if _has_numbers(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return read_dates(column, label)


def _earliest(rows, times):
    """Return the earliest time of each song; NaN without any."""
    earliest = np.full(rows.n_songs, np.nan)
    np.fmin.at(earliest, rows.songs, times)
    return earliest


def _guess_releases(rows):
    """Return when each song appeared, and which column tells; None, with a warning, if none."""
    for label in _release_candidates(rows.frame, rows.columns):
        times = _read_releases(rows.frame[label], label)
        release = _earliest(rows, times)
        differs = np.zeros(rows.n_songs, dtype=bool)
        differs[rows.songs[times > release[rows.songs]]] = True
        if not np.isnan(release).all() and differs.sum() <= MOST_DIFFERING * rows.n_songs:
            return release, str(label)
    created = find_created(rows)
    if created is not None:
        return _earliest(rows, created.of_row), f"{created.label} of the first playlist"
    warnings.warn(
        "Songs to hold out are drawn at random: no column has one release per song, or dates of "
        f"playlists; got {list(rows.frame.columns)}. Name the column to use with `released=`, or "
        "pass released=None for random songs.",
        stacklevel=5,
    )
    return None, AT_RANDOM


def _release_candidates(frame, columns):
    """Return the columns that may tell releases, the likeliest first."""
    labels = [c for c in frame.columns if c not in columns and not is_event_name(c)]
    named = [c for c in labels if is_release_name(c)]
    named = [c for c in named if has_dates(frame[c], c) or _has_numbers(frame[c])]
    dated = [c for c in labels if c not in named and has_dates(frame[c], c)]
    return [*sorted(named, key=lambda label: str(label).lower() != "year"), *dated]


def _has_numbers(column):
    column = column.infer_objects()
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _parts_of_songs(rows, cold, later=None, facts=None):
    """Split by songs: which are cold, and which are on neither side, being released later."""
    is_cold = cold[rows.songs]
    is_later = np.zeros(len(is_cold), dtype=bool) if later is None else later[rows.songs]
    train = ~is_cold & ~is_later
    test = is_cold & known(rows.playlists, train, rows.n_playlists)[rows.playlists]
    left_out = {NO_SONG_LEFT: int((is_cold & ~test).sum())}
    if later is not None:
        left_out["song released later"] = int(is_later.sum())
    return Parts(train, test, left_out=left_out, facts=facts or {})
