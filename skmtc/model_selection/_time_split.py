"""Time splits, and weights that decay with age."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from skmtc._table.dates import SECONDS_PER_DAY, read_date, read_dates, to_timestamps
from skmtc._typing import Column, Table
from skmtc.model_selection._base_splitter import ColdSplitter, Parts, check_share, known
from skmtc.model_selection._created_dates import read_created

KNOWN_USER, NEW_USER = "known user", "new user"
KNOWN_SONGS, NEW_SONGS, MIXED_SONGS = "known songs", "new songs", "known and new songs"


class TimeSplit(ColdSplitter):
    """Train on the past, and test on playlists created later.

    No training row is dated on or after the cut-off. Test playlists are those created from then on,
    in all settings: of known and of new users, with known and with new songs. `label_playlists`
    returns the setting of each, and `describe` counts them. Rows without a date are left out of
    both sets; a warning counts them.

    Parameters
    ----------
    n_splits : int, default=1
        Number of splits. With more than one, these are successive windows of time: the last split
        tests the latest playlists, the one before it those created just before, and so on. Each
        trains on all that is earlier than its window, and leaves out what is later.

    playlist_size : float, default=0.2
        Share of the playlists with a date to test in each split. Playlists of the same date stay
        together, so the cut-off is the date that comes nearest to it. Not used if `cutoff` is
        given.

    cutoff : date, str, int, float or None, default=None
        Train before this date, test from it on: a date, a string such as "2014-01-01", a year or
        unix time in seconds. None: use `playlist_size`. Needs ``n_splits=1``.

    created : str or int, default="auto"
        Column of dates by name or position: dates of pandas, strings in ISO form, years, numbers
        such as 20130510, or unix time. If rows of one playlist differ, they tell when each song was
        added, and the earliest is when the playlist was created; a song that was added to an
        earlier playlist after the cut-off is on neither side. "auto" takes the column of dates of
        playlists, else the one of rows.

    new_songs : bool, default=True
        Whether to test songs that no training playlist has. With False their rows are left out, for
        rankers that cannot score them.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and every test playlist
        is one of a new user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    See Also
    --------
    ColdPlaylistSplit : With `created`, the latest playlists of each user are held out.
    half_life_weights : Weights of rows that decay with age.

    Examples
    --------
    The latest playlist is of a new user, and has a new song:

    >>> import pandas as pd
    >>> from skmtc.model_selection import TimeSplit
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "sun", "sun"],
    ...     "song": ["s1", "s2", "s1", "s2", "s3"],
    ...     "created_at": ["2012-05-03", "2012-05-03", "2013-01-30", "2014-02-11", "2014-02-11"],
    ... })
    >>> cv = TimeSplit(cutoff="2014-01-01")
    >>> for train, test in cv.split(X):
    ...     print(train, test)
    [0 1 2] [3 4]
    >>> cv.label_playlists()[["playlist", "who", "what", "n_new_songs"]]
      playlist       who                 what  n_new_songs
    0      sun  new user  known and new songs            1
    """

    setting = "later playlists"
    random_state = None  # not random
    _fewest_splits = 1

    def __init__(
        self,
        n_splits: int = 1,
        *,
        playlist_size: float = 0.2,
        cutoff: Any = None,
        created: Column = "auto",
        new_songs: bool = True,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
    ) -> None:
        self.n_splits = n_splits
        self.playlist_size = playlist_size
        self.cutoff = cutoff
        self.created = created
        self.new_songs = new_songs
        self.user = user
        self.playlist = playlist
        self.song = song

    def label_playlists(self, X: Table | None = None) -> pd.DataFrame:
        """Return the setting of every test playlist.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns), default=None
            Membership table to split. None: the splits that were made last.

        Returns
        -------
        playlists : DataFrame
            One row per split and test playlist: `split`, `user` (if there are users), `playlist`,
            `created`, `who` ("known user" or "new user"), `what` ("known songs", "new songs" or
            "known and new songs"), and the numbers `n_songs` and `n_new_songs` of songs to test.
        """
        self.describe(X)
        return pd.concat(self._labelled, ignore_index=True)

    def _parts(self, rows, rng):
        self._labelled = []
        created = read_created(rows, self.created)
        cutoffs = self._cutoffs(created.of_playlist)
        created.warn_missing(rows, "They are neither trained on nor tested.")
        of_row, of_playlist = created.of_row, created.of_playlist[rows.playlists]
        dated = ~np.isnan(of_row)
        for start, end in zip(cutoffs, [*cutoffs[1:], np.inf], strict=True):
            # Comparisons with NaN are False, so rows without a date are on neither side.
            train = of_row < start
            test = dated & (of_playlist >= start) & (of_playlist < end)
            is_known = known(rows.songs, train, rows.n_songs)[rows.songs]
            left_out = {
                "no date": int((~dated).sum()),
                "song added later": int((dated & (of_playlist < start) & ~train).sum()),
                "playlist created later": int((dated & (of_playlist >= end)).sum()),
            }
            if not self.new_songs:
                left_out["song not in training"] = int((test & ~is_known).sum())
                test = test & is_known
            labels = _labels(rows, created, train, test, is_known, len(self._labelled))
            self._labelled.append(labels)
            yield Parts(
                train, test, left_out=left_out, facts=_facts(start, labels, rows, test, is_known)
            )

    def _cutoffs(self, dates):
        """Return the start of each window, in order."""
        if self.cutoff is not None:
            if self.n_splits != 1:
                raise ValueError(
                    f"`n_splits` must be 1 with a `cutoff`; got {self.n_splits!r}. Pass "
                    "cutoff=None for successive windows."
                )
            return [read_date(self.cutoff, "cutoff")]
        check_share("playlist_size", self.playlist_size)
        dates = np.sort(dates[~np.isnan(dates)])
        n_held = max(1, round(self.playlist_size * len(dates)))
        starts = np.unique(dates)[1:]  # training needs earlier rows
        if self.n_splits * n_held >= len(dates) or len(starts) < self.n_splits:
            raise ValueError(
                f"There must be enough playlists with a date: {self.n_splits} windows of {n_held}, "
                f"and a playlist to train on; got {len(dates)} with {len(starts) + 1} distinct "
                "dates. Pass a lower `playlist_size` or fewer splits."
            )
        n_later = len(dates) - np.searchsorted(dates, starts)
        wanted = n_held * np.arange(self.n_splits, 0, -1)
        nearest = np.abs(n_later - wanted[:, None]).argmin(axis=1)
        if len(np.unique(nearest)) < self.n_splits:
            raise ValueError(
                f"There must be enough distinct dates for {self.n_splits} windows of {n_held} "
                f"playlists; got {len(starts) + 1}, and windows that start on the same one. Pass "
                "another `playlist_size` or fewer splits."
            )
        return list(starts[nearest])


def _labels(rows, created, train, test, is_known, number):
    """Return one row per test playlist, in the order of ids."""
    playlists, first = np.unique(rows.playlists[test], return_index=True)
    at = np.flatnonzero(test)[first]
    pairs = pd.DataFrame({"playlist": rows.playlists, "song": rows.songs, "new": ~is_known})[test]
    counts = pairs.drop_duplicates(["playlist", "song"]).groupby("playlist")["new"]
    n_songs, n_new = counts.size().to_numpy(), counts.sum().to_numpy().astype(np.int64)
    known_user = known(rows.users, train, rows.n_users)[rows.users[at]]
    columns = {"split": np.full(len(at), number)}
    for role in ("user", "playlist"):
        label = getattr(rows.columns, role)
        if label is not None:
            columns[role] = rows.frame[label].to_numpy()[at]
    return pd.DataFrame(
        columns
        | {
            "created": to_timestamps(created.of_playlist[playlists]),
            "who": np.where(known_user, KNOWN_USER, NEW_USER),
            "what": np.select(
                [n_new == 0, n_new == n_songs], [KNOWN_SONGS, NEW_SONGS], MIXED_SONGS
            ),
            "n_songs": n_songs,
            "n_new_songs": n_new,
        }
    )


def _facts(start, labels, rows, test, is_known):
    facts = {"cutoff": to_timestamps([start])[0]}
    facts["test_new_songs"] = len(pd.unique(rows.songs[test & ~is_known]))
    for who in (KNOWN_USER, NEW_USER):
        facts[f"test_playlists: {who}"] = int((labels["who"] == who).sum())
    for what in (KNOWN_SONGS, MIXED_SONGS, NEW_SONGS):
        facts[f"test_playlists: {what}"] = int((labels["what"] == what).sum())
    return facts


def half_life_weights(
    dates: ArrayLike, half_life: float, *, now: Any = None
) -> NDArray[np.float64]:
    """Compute weights of rows that decay with age.

    A row that is `half_life` days older than another counts half as much: the weight is
    ``0.5 ** (age / half_life)``, where `age` is the number of days from the date to `now`.

    Parameters
    ----------
    dates : Series or array of shape (n_rows,)
        Date of each row: dates of pandas, strings in ISO form, years, numbers such as 20130510, or
        unix time.

    half_life : float
        Days after which a row counts half.

    now : date, str, int, float or None, default=None
        The date whose rows have weight 1; later rows have weight 1, too. None: the latest date.

    Returns
    -------
    weights : ndarray of shape (n_rows,)
        Between 0 and 1. A row whose date is missing has the mean of the other weights.

    See Also
    --------
    TimeSplit : Train on the past, test on what comes later.

    Examples
    --------
    >>> from skmtc.model_selection import half_life_weights
    >>> half_life_weights(["2014-01-01", "2013-12-02", "2013-11-02"], half_life=30)
    array([1.  , 0.5 , 0.25])
    """
    if not (isinstance(half_life, int | float | np.number) and 0 < half_life < np.inf):
        raise ValueError(
            f"`half_life` must be a number of days above 0; got {half_life!r}. Change `half_life`."
        )
    column = dates if isinstance(dates, pd.Series) else pd.Series(dates)
    seconds = read_dates(column, column.name if column.name is not None else "dates")
    there = np.isfinite(seconds)
    if not there.any():
        raise ValueError(
            f"There must be a date to compute weights of; got none in {len(seconds)} rows. Pass "
            "the column of dates."
        )
    latest = seconds[there].max() if now is None else read_date(now, "now")
    age = np.maximum(0.0, latest - seconds) / SECONDS_PER_DAY
    weights = 0.5 ** (age / half_life)
    weights[~there] = weights[there].mean()
    return weights
