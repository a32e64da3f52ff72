"""Situations: who asks, and for what songs; and what is held out of a table for each of them."""

import warnings
from dataclasses import dataclass

import numpy as np

from skmtc._table import Ids, read_ids
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

# The axes of `StackingRanker.coef_`. The order of `WHO` counts: a situation with too few held-out
# playlists takes the weights of the nearest one.
WHO = ("known playlist", "new playlist", "new user")
WHAT = ("known songs", "new songs")

# What is held out of one training table. Together it leaves about two thirds of the rows.
# New users: their share of all users, which grows in small tables until they have about
# `MIN_PLAYLISTS`, so that weights are fitted on enough of them.
USER_SIZE = 0.1
MOST_USERS = 0.3
MIN_PLAYLISTS = 300
# New playlists: the users of whom half of the playlists are held out, as a share of all users. They
# are drawn among those with several playlists, so where these are few it is all of them.
PLAYLIST_USER_SIZE = 0.2
# New songs: their share of all songs.
SONG_SIZE = 0.1
# Known playlists: the share of the remaining playlists of which half of the songs are held out.
KNOWN_SIZE = 0.1


def who_asks(queries):
    """Return the position of each query in `WHO`."""
    known_user, known_playlist = queries.users >= 0, queries.playlists >= 0
    return np.where(known_playlist, 0, np.where(known_user, 1, 2))


@dataclass
class HoldOut:
    """Rows of a table to fit rankers on, and rows to weigh them by.

    Attributes
    ----------
    kept : ndarray
        Positions of the rows to fit on.

    held : ndarray
        Positions of the rows to score, sorted by their ids.
    """

    kept: np.ndarray
    held: np.ndarray


def default_splitters(ids, n_playlists, seed):
    """Return the splitters that hold out users, playlists and songs, one after the other.

    Parameters
    ----------
    ids : dict
        Names of the columns `user`, `playlist` and `song`.

    n_playlists : int
        Number of playlists of the table.

    seed : int
        Seed of all splitters.

    Returns
    -------
    splitters : list of splitters
        For `hold_out`.
    """
    user_size = min(MOST_USERS, max(USER_SIZE, MIN_PLAYLISTS / n_playlists))
    splitters = [
        ColdUserSplit(user_size=user_size, random_state=seed, **ids),
        ColdSongSplit(song_size=SONG_SIZE, released=None, random_state=seed, **ids),
    ]
    if ids["user"] is not None:  # without users, a new playlist is a new user
        # The splitter's default holds out no playlist with a rare song, and so leaves too few: of
        # the training rows of 30Music 194 in place of 880.
        playlists = ColdPlaylistSplit(
            user_size=PLAYLIST_USER_SIZE, min_song_count=1, random_state=seed, **ids
        )
        splitters.insert(1, playlists)
    return splitters


def hold_out(X, splitters, columns, rng, *, warn=False):
    """Hold out rows of every situation from one table, so that rankers are fitted once for all.

    Each splitter takes its test rows from what the one before has left. Of some playlists that
    remain, half of the songs are held out, too.

    Parameters
    ----------
    X : DataFrame
        Membership table.

    splitters : list of splitters
        Who and what to hold out. One that finds nothing to hold out in a small table is passed
        over.

    columns : IdColumns
        Labels of the id columns.

    rng : RandomState
        Chooses the known playlists and their songs.

    warn : bool, default=False
        Whether to warn of splitters that are passed over.

    Returns
    -------
    hold_out : HoldOut
        Rows to fit on, and rows to score.
    """
    kept = np.arange(len(X))
    for splitter in splitters:
        try:
            train, _ = next(iter(splitter.split(X.iloc[kept])))
        except ValueError as error:  # too few users, playlists or songs to hold any out
            if warn:
                warnings.warn(
                    f"{type(splitter).__name__} of `cv` holds nothing out: {error} Correct it, or "
                    "leave it out.",
                    stacklevel=4,
                )
            continue
        if len(train):
            kept = kept[train]
    # By sorted ids, so that the order of rows does not change what is held out.
    _, playlists = Ids.factorize(read_ids(X, columns.playlist, "playlist"), "playlist")
    _, songs = Ids.factorize(read_ids(X, columns.song, "song"), "song")
    kept = kept[np.lexsort((songs[kept], playlists[kept]))]
    is_kept = np.zeros(len(X), dtype=bool)
    is_kept[kept[~_half_of_some(playlists[kept], rng)]] = True
    held = np.flatnonzero(~is_kept)
    held = held[np.lexsort((songs[held], playlists[held]))]
    return HoldOut(np.flatnonzero(is_kept), held)


def _half_of_some(playlists, rng):
    """Mark half of the rows of a sample of playlists, whose rows lie together."""
    sizes = np.bincount(playlists)
    chosen = (rng.uniform(size=len(sizes)) < KNOWN_SIZE) & (sizes > 1)
    # A random order within each playlist, whose first half is held out.
    order = np.lexsort((rng.uniform(size=len(playlists)), playlists))
    place = np.empty(len(playlists), dtype=np.intp)
    place[order] = np.arange(len(playlists)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return chosen[playlists] & (place < sizes[playlists] // 2)
