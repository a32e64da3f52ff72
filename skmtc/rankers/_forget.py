"""Users who ask to be deleted."""

from difflib import get_close_matches

import numpy as np

from skmtc._table import shown

# An unknown id is compared with this many known ones, its neighbours in sorted order.
MOST_COMPARED = 2000


def who_stays(ranker, users):
    """Tell which users and which playlists of a fitted ranker stay when some users go.

    Returns
    -------
    users, playlists : ndarray of bool
        Which rows stay.
    """
    user_stays = np.ones(len(ranker.users_), dtype=bool)
    user_stays[_known_codes(ranker, users)] = False
    return user_stays, user_stays[ranker.user_of_playlist_]


def _known_codes(ranker, users):
    if isinstance(users, str) or np.ndim(users) != 1:
        raise TypeError(
            f"`users` must be a list of user ids; got {users!r}. Put a single id in a list."
        )
    if len(users) == 0:
        return np.empty(0, dtype=np.intp)
    users = np.asarray(users)
    codes = ranker._ids("user").codes(users)
    if (codes < 0).any():
        unknown = users[codes < 0]
        raise ValueError(
            f"Users to forget must be known to the ranker; got {len(unknown)} unknown of "
            f"{len(users)}, the first {shown(unknown[0])}; the nearest known are "
            f"{_nearest(unknown[0], ranker.users_)}. Correct or leave out these ids; nothing was "
            "forgotten."
        )
    return codes


def _nearest(wanted, known):
    place = int(np.searchsorted(known, wanted))
    start = max(0, place - MOST_COMPARED // 2)
    names = {str(one): one for one in known[start : start + MOST_COMPARED]}
    close = get_close_matches(str(wanted), names, n=3, cutoff=0.0)
    return "[" + ", ".join(shown(names[name]) for name in close) + "]"
