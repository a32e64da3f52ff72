"""Splitters that hold out users."""

import numpy as np

from skmtc._typing import Column, Seed
from skmtc.model_selection._base_splitter import (
    ColdKFold,
    ColdSplitter,
    Parts,
    check_share,
    known,
)
from skmtc.model_selection._cold_playlists import folds_with_known_songs

# What to do with users who are the last in training with a song.
RARE_SONGS = ("auto", "skip", "leave out")
# With "auto", users are skipped if at least this share of the requested users is held out then.
FEWEST_HELD = 0.5


class ColdUserSplit(ColdSplitter):
    """Hold out all playlists of some users, as the paper does.

    Every song of the test set is in training: a user is skipped if holding out all of the user's
    playlists would remove a song from training. All rows are used: users who are not held out are
    in the training set.

    Where users have many songs, as DJs have, nearly all of them have one that nobody else has. If
    less than half of the users to hold out are left, none is skipped; instead the rows of these
    songs are left out of the test set (`rare_songs`).

    Parameters
    ----------
    n_splits : int, default=1
        Number of splits, drawn independently.

    user_size : float, default=0.3
        Share of users to hold out. Users who are skipped are replaced by others, as
        long as there are any.

    rare_songs : {"auto", "skip", "leave out"}, default="auto"
        What to do if a song would leave training. "skip" skips the user, as the paper does. "leave
        out" holds out the user, and leaves out the user's rows with this song. "auto" skips users
        if at least half of the users to hold out are found.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and each playlist is
        its own user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed. With an int, splits depend on nothing but the ids that are together in rows: not on
        the order of rows, and not on the names of ids as long as these sort alike.

    See Also
    --------
    ColdUserKFold : Hold out every user once.

    Examples
    --------
    Nobody else has song "s3", so "cat" cannot be held out; one of the others is:

    >>> import pandas as pd
    >>> from skmtc.model_selection import ColdUserSplit
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "bob", "cat", "cat"],
    ...     "playlist": ["gym", "gym", "run", "run", "sun", "sun"],
    ...     "song": ["s1", "s2", "s1", "s2", "s2", "s3"],
    ... })
    >>> (train, test), = ColdUserSplit(random_state=0).split(X)
    >>> len(test), "cat" in set(X["user"].iloc[test])
    (2, False)
    """

    setting = "cold users"
    _fewest_splits = 1

    def __init__(
        self,
        n_splits: int = 1,
        *,
        user_size: float = 0.3,
        rare_songs: str = "auto",
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.n_splits = n_splits
        self.user_size = user_size
        self.rare_songs = rare_songs
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def _parts(self, rows, rng):
        check_share("user_size", self.user_size)
        if self.rare_songs not in RARE_SONGS:
            raise ValueError(
                f"`rare_songs` must be one of {list(RARE_SONGS)}; got {self.rare_songs!r}. Change "
                "`rare_songs`."
            )
        n_wanted = max(1, round(self.user_size * rows.n_users))
        for _ in range(self.n_splits):
            turn = rng.permutation(rows.n_users)
            held = _hold_out_users(*rows.user_songs, rows.n_songs, turn, n_wanted)
            is_short = held.sum() < FEWEST_HELD * n_wanted
            if self.rare_songs == "leave out" or (self.rare_songs == "auto" and is_short):
                held = turn < n_wanted
            cold = held[rows.users]
            # All test songs are in training; without skipped users, by leaving out rows.
            test = cold & known(rows.songs, ~cold, rows.n_songs)[rows.songs]
            yield Parts(
                ~cold,
                test,
                left_out={"song not in training": int((cold & ~test).sum())},
                passed_over={
                    "users: a song would leave training": _n_passed_over(held, turn, n_wanted)
                },
            )


class ColdUserKFold(ColdKFold):
    """Hold out every user exactly once.

    Test rows whose song is then in no training playlist are left out.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.

    shuffle : bool, default=False
        Whether to assign users to folds in random order instead of by id.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and each playlist is
        its own user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    See Also
    --------
    ColdUserSplit : The protocol of the paper.

    Examples
    --------
    Song "s3" is in one playlist only, so its row cannot be tested:

    >>> import pandas as pd
    >>> from skmtc.model_selection import ColdUserKFold
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "run", "run"],
    ...     "song": ["s1", "s2", "s1", "s2", "s3"],
    ... })
    >>> for train, test in ColdUserKFold(n_splits=2).split(X):
    ...     print(train, test)
    [2 3 4] [0 1]
    [0 1] [2 3]
    """

    setting = "cold users"

    def _parts(self, rows, rng):
        fold = self._folds(self._order(rows.n_users, rng), "users")
        yield from folds_with_known_songs(rows, fold[rows.users], self.n_splits)


def _hold_out_users(users, songs, n_songs, turn, n_wanted):
    """Hold out users in turn, but skip users who are the last in training with a song.

    The outcome is that of going through users one by one. It is reached in a few rounds, each of
    them linear in the pairs of users and songs: in a round, of the users who would together take
    a song out of training, all but the one whose turn comes last are held out.

    Parameters
    ----------
    users, songs : ndarray of shape (n_pairs,)
        Which user has which song.

    n_songs : int
        Number of songs.

    turn : ndarray of shape (n_users,)
        Place of each user in the order.

    n_wanted : int
        How many users to hold out, if possible.

    Returns
    -------
    held : ndarray of bool of shape (n_users,)
        Who is held out.
    """
    order = np.argsort(turn)
    held = np.zeros(len(turn), dtype=bool)
    while True:
        in_training = ~held[users]
        n_left = np.bincount(songs[in_training], minlength=n_songs)
        decided = held.copy()
        decided[users[in_training & (n_left[songs] == 1)]] = True
        asked = order[~decided[order]][: n_wanted - int(held.sum())]
        if len(asked) == 0:
            return held
        # The first of these users is always held out, so the loop ends.
        leaving = held.copy()
        leaving[asked] = True
        held |= leaving & ~_last_with_a_song(users, songs, n_songs, turn, leaving)


def _last_with_a_song(users, songs, n_songs, turn, leaving):
    """Return who comes last of the users of a song that all leave training."""
    in_training = known(songs, ~leaving[users], n_songs)
    gone = ~in_training[songs]
    users, songs = users[gone], songs[gone]
    last = np.full(n_songs, -1)
    np.maximum.at(last, songs, turn[users])
    stays = np.zeros(len(turn), dtype=bool)
    stays[users[turn[users] == last[songs]]] = True
    return stays


def _n_passed_over(held, turn, n_wanted):
    """Count users who were skipped."""
    last = turn[held].max(initial=-1) if held.sum() == n_wanted else len(turn)
    return int((~held & (turn < last)).sum())
