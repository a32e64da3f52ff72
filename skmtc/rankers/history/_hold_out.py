"""Training tables with memberships held out, to fit the weights of history terms on.

Weights fitted on training memberships would let each membership predict itself. So they are fitted
on playlists, halves of playlists and songs that neither the history nor the weights of users have
seen.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

N_FOLDS = 5


class HoldOut(NamedTuple):
    """A training table without some of its memberships.

    Attributes
    ----------
    kept : csr_array of shape (n_playlists, n_songs)
        Memberships to fit on.

    held : csr_array of shape (n_playlists, n_songs)
        Memberships that are held out.

    new : ndarray
        Playlists that are held out as a whole; their users keep others.

    known : ndarray
        Playlists half of whose songs are held out.

    is_new_song : ndarray of bool of shape (n_songs,)
        Songs that are held out of every playlist.
    """

    kept: csr_array
    held: csr_array
    new: np.ndarray
    known: np.ndarray
    is_new_song: np.ndarray


def hold_outs(membership, user_of_playlist, most, rng, *, song_size=0.0):
    """Hold out playlists, fold by fold: every other one as a whole, half of the songs of the rest.

    The playlists of a user are dealt to different folds, so that a fold never has all of them.
    After the last fold, all playlists come again in the other role.

    Parameters
    ----------
    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist.

    user_of_playlist : ndarray of shape (n_playlists,)
        Code of the owner of each playlist.

    most : int
        Maximum number of playlists to hold out, over all folds.

    rng : RandomState
        Random number generator.

    song_size : float, default=0.0
        Share of the songs that each fold holds out of every playlist.

    Yields
    ------
    hold_out : HoldOut
        The table without a fold.
    """
    has_others = np.bincount(user_of_playlist)[user_of_playlist] > 1
    has_half = np.diff(membership.indptr) > 1
    n_new_songs = int(song_size * membership.shape[1])
    folds = _deal(user_of_playlist, rng)
    for role in (0, 1):
        for fold in folds:
            rows = fold[:most]
            most -= len(rows)
            whole = np.arange(len(rows)) % 2 == role
            new, known = rows[whole & has_others[rows]], rows[~whole & has_half[rows]]
            if len(new) or len(known):
                is_new_song = np.zeros(membership.shape[1], dtype=bool)
                if n_new_songs:
                    is_new_song[rng.permutation(len(is_new_song))[:n_new_songs]] = True
                parts = _hold_out(membership, new, known, is_new_song, rng)
                yield _with_tests_only(*parts, user_of_playlist, new, known, is_new_song)


def _deal(user_of_playlist, rng):
    """Deal playlists to folds, those of a user to different ones.

    Each fold lists its users in random order, one after the other: the first playlists of a fold
    then belong to few users, and only these have to be fitted again.
    """
    order = rng.permutation(len(user_of_playlist))
    order = order[np.argsort(user_of_playlist[order], kind="stable")]
    folds = []
    for number in range(N_FOLDS):
        fold = order[number::N_FOLDS]
        rank_of_user = rng.permutation(user_of_playlist.max() + 1)
        folds.append(fold[np.argsort(rank_of_user[user_of_playlist[fold]], kind="stable")])
    return folds


def _hold_out(membership, new, known, is_new_song, rng):
    """Return the memberships that are kept and those that are held out."""
    lengths = np.diff(membership.indptr)
    playlists = np.repeat(np.arange(len(lengths)), lengths)
    # Shuffle each playlist; the first songs of the shuffled playlist are held out.
    order = np.lexsort((rng.uniform(size=len(playlists)), playlists))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order)) - membership.indptr[playlists]
    n_held = np.zeros(len(lengths), dtype=np.intp)
    n_held[new] = lengths[new]
    n_held[known] = lengths[known] // 2
    held = (place < n_held[playlists]) | is_new_song[membership.indices]
    return _with_entries(membership, ~held), _with_entries(membership, held)


def _with_tests_only(kept, held, user_of_playlist, new, known, is_new_song):
    """Drop test playlists that held-out songs have left without a history."""
    has_songs = np.diff(kept.indptr) > 0
    user_has_songs = np.bincount(user_of_playlist[has_songs], minlength=user_of_playlist.max() + 1)
    new = new[user_has_songs[user_of_playlist[new]] > 0]
    return HoldOut(kept, held, np.sort(new), np.sort(known[has_songs[known]]), is_new_song)


def _with_entries(membership, chosen):
    """Keep some of the stored entries."""
    ends = np.concatenate([[0], np.cumsum(chosen)])[membership.indptr]
    return csr_array(
        (membership.data[chosen], membership.indices[chosen], ends), shape=membership.shape
    )
