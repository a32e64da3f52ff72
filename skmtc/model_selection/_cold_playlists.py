"""New playlists of known users."""

import numpy as np
import pandas as pd

from skmtc._typing import Column, Seed
from skmtc.model_selection._base_splitter import (
    ColdKFold,
    ColdSplitter,
    Parts,
    check_count,
    check_share,
    known,
)
from skmtc.model_selection._created_dates import read_created


class ColdPlaylistSplit(ColdSplitter):
    """Hold out playlists of some users, as the paper does.

    In the test set, every song is in at least `min_song_count` playlists of the whole table and in
    at least one of training, and every user has other playlists in training. All rows are used: a
    playlist that is not held out is trained on.

    Parameters
    ----------
    n_splits : int, default=1
        Number of splits, drawn independently.

    user_size : float, default=0.2
        Share of users of whom playlists are held out. Users are drawn among those who have
        another playlist and one whose songs are all frequent enough; if these are too few, all
        of them are taken.

    playlist_size : float, default=0.5
        Share of the playlists of such a user to hold out: at least one, never all, and only those
        that meet the requirements.

    min_song_count : int, default=5
        In how many playlists of the whole table each song of a test playlist must be.

    created : str, int or None, default=None
        Column of dates by name or position, as for `TimeSplit`. With it, the latest playlists of
        each user are held out, of those that meet the requirements, instead of random ones;
        playlists of one date are held out in random order, and those without a date, which a
        warning counts, stay in training. "auto" takes the column of dates of playlists, else the
        one of rows. None: playlists are drawn at random.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown; then `user_size` is a
        share of playlists.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed. With an int, splits depend on nothing but the ids that are together in rows: not on
        the order of rows, and not on the names of ids as long as these sort alike.

    See Also
    --------
    ColdPlaylistKFold : Hold out every playlist once.
    TimeSplit : Train on the past of all users, test on what comes later.

    Examples
    --------
    One of two users is drawn, and one of her two playlists; all three songs stay in training:

    >>> import pandas as pd
    >>> from skmtc.model_selection import ColdPlaylistSplit
    >>> X = pd.DataFrame({
    ...     "user": ["ana"] * 6 + ["bob"] * 6,
    ...     "playlist": ["gym"] * 3 + ["run"] * 3 + ["sun"] * 3 + ["sea"] * 3,
    ...     "song": ["s1", "s2", "s3"] * 4,
    ... })
    >>> cv = ColdPlaylistSplit(user_size=0.5, min_song_count=4, random_state=0)
    >>> counts = cv.describe(X)
    >>> int(counts["test_playlists"].iloc[0]), int(counts["train_songs"].iloc[0])
    (1, 3)
    """

    setting = "cold playlists"
    _fewest_splits = 1

    def __init__(
        self,
        n_splits: int = 1,
        *,
        user_size: float = 0.2,
        playlist_size: float = 0.5,
        min_song_count: int = 5,
        created: Column | None = None,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.n_splits = n_splits
        self.user_size = user_size
        self.playlist_size = playlist_size
        self.min_song_count = min_song_count
        self.created = created
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def _parts(self, rows, rng):
        check_share("user_size", self.user_size)
        check_share("playlist_size", self.playlist_size)
        check_count("min_song_count", self.min_song_count, 1)
        fit_for_test = self._fit_for_test(rows)
        dates = None
        if self.created is not None:
            created = read_created(rows, self.created)
            created.warn_missing(rows, "Playlists without a date are not held out.")
            dates = created.of_playlist
            fit_for_test = fit_for_test & ~np.isnan(dates)
        for _ in range(self.n_splits):
            drawn, n_lacking = self._sample(rows, fit_for_test, dates, rng)
            # If a song would leave training, its earliest held-out playlist is put back.
            turn = rng.permutation(rows.n_playlists)
            if dates is not None:
                turn = np.argsort(np.lexsort((turn, dates)))
            held = _keep_songs(rows, drawn, turn)
            test = held[rows.playlists]
            passed_over = {
                "users: no playlist fit to hold out": n_lacking,
                "playlists: a song would leave training": int(drawn.sum() - held.sum()),
            }
            yield Parts(~test, test, passed_over=passed_over)

    def _fit_for_test(self, rows):
        """Return which playlists have frequent songs only."""
        playlists, songs = rows.playlist_songs
        rare = np.bincount(songs, minlength=rows.n_songs) < self.min_song_count
        return np.bincount(playlists, weights=rare[songs], minlength=rows.n_playlists) == 0

    def _sample(self, rows, fit_for_test, dates, rng):
        """Sample users, and a share of the playlists of each; say how many users are lacking."""
        n_held_of_user = self._most_held(rows, fit_for_test)
        able = np.flatnonzero(n_held_of_user)
        n_wanted = max(1, round(self.user_size * rows.n_users))
        sampled_user = np.zeros(rows.n_users, dtype=bool)
        sampled_user[rng.permutation(able)[:n_wanted]] = True

        order = _from_latest(rng.permutation(rows.n_playlists), dates)
        order = order[(fit_for_test & sampled_user[rows.user_of_playlist])[order]]
        owners = rows.user_of_playlist[order]
        turn = pd.Series(owners).groupby(owners).cumcount().to_numpy()
        held = np.zeros(rows.n_playlists, dtype=bool)
        held[order[turn < n_held_of_user[owners]]] = True
        return held, max(0, n_wanted - len(able))

    def _most_held(self, rows, fit_for_test):
        """Return how many playlists of each user to hold out."""
        n_fit = np.bincount(rows.user_of_playlist[fit_for_test], minlength=rows.n_users)
        if self.user is None:
            return n_fit
        n_playlists = np.bincount(rows.user_of_playlist, minlength=rows.n_users)
        wanted = np.maximum(1, np.round(self.playlist_size * n_playlists)).astype(int)
        return np.minimum(np.minimum(wanted, n_playlists - 1), n_fit)


class ColdPlaylistKFold(ColdKFold):
    """Hold out every playlist exactly once.

    The playlists of a user go to different folds, so a user with two or more is known
    in every fold; a user with one is as new as the playlist, and counted by `describe`. Test rows
    whose song is then in no training playlist are left out.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.

    shuffle : bool, default=False
        Whether to assign playlists to folds in random order instead of by id.

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
    ColdPlaylistSplit : The protocol of the paper.

    Examples
    --------
    Song "s3" is in one playlist only, so its row cannot be tested:

    >>> import pandas as pd
    >>> from skmtc.model_selection import ColdPlaylistKFold
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "ana", "ana"],
    ...     "playlist": ["gym", "gym", "run", "run", "run"],
    ...     "song": ["s1", "s2", "s1", "s2", "s3"],
    ... })
    >>> for train, test in ColdPlaylistKFold(n_splits=2).split(X):
    ...     print(train, test)
    [2 3 4] [0 1]
    [0 1] [2 3]
    """

    setting = "cold playlists"

    def _parts(self, rows, rng):
        order = self._order(rows.n_playlists, rng)
        owner = rows.user_of_playlist
        turn_of_user = self._order(rows.n_users, rng)
        # Playlists of a user are adjacent, so they go to different folds.
        order = order[np.argsort(turn_of_user[owner[order]], kind="stable")]
        fold = self._folds(order, "playlists")
        yield from folds_with_known_songs(rows, fold[rows.playlists], self.n_splits)


def _from_latest(order, dates):
    """Return playlists with the latest first; in the order given without dates."""
    return order if dates is None else order[np.argsort(-dates[order], kind="stable")]


def folds_with_known_songs(rows, fold_of_row, n_splits):
    """Yield folds, less the test rows whose song is not in training."""
    for fold in range(n_splits):
        cold = fold_of_row == fold
        test = cold & known(rows.songs, ~cold, rows.n_songs)[rows.songs]
        yield Parts(~cold, test, left_out={"song not in training": int((cold & ~test).sum())})


def _keep_songs(rows, held, turn):
    """Put back, for each song that would leave training, its playlist whose turn comes first."""
    playlists, songs = rows.playlist_songs
    in_training = known(songs, ~held[playlists], rows.n_songs)
    gone = ~in_training[songs]
    first = np.full(rows.n_songs, rows.n_playlists)
    np.minimum.at(first, songs[gone], turn[playlists[gone]])
    kept = held.copy()
    kept[playlists[gone][turn[playlists[gone]] == first[songs[gone]]]] = False
    return kept
