"""Training tables with memberships held out, to learn what history is worth.

A membership must not explain itself: weights of history terms are fitted on playlists, and on
halves of playlists, that neither the history nor the weights of users have seen.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

N_FOLDS = 5


class Rehearsal(NamedTuple):
    """A training table without some of its memberships, and what to find instead.

    Attributes
    ----------
    kept : csr_array of shape (n_playlists, n_songs)
        Memberships that are left.

    held : csr_array of shape (n_playlists, n_songs)
        Memberships that are held out.

    new : ndarray
        Playlists that are held out as a whole; their users have others.

    known : ndarray
        Playlists half of whose songs are held out.
    """

    kept: csr_array
    held: csr_array
    new: np.ndarray
    known: np.ndarray


def rehearsals(membership, user_of_playlist, most, rng):
    """Hold out playlists, fold by fold: every other one as a whole, and half of the others.

    The playlists of a user are dealt to folds, so that a fold never has all of them. After the
    last fold, all come again in the other role.

    Parameters
    ----------
    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist.

    user_of_playlist : ndarray of shape (n_playlists,)
        Code of the owner of each playlist.

    most : int
        How many playlists to draw in all, at most; folds end when there are enough.

    rng : RandomState
        Source of chance.

    Yields
    ------
    rehearsal : Rehearsal
        The table without a fold.
    """
    has_others = np.bincount(user_of_playlist)[user_of_playlist] > 1
    has_half = np.diff(membership.indptr) > 1
    folds = _deal(user_of_playlist, rng)
    for role in (0, 1):
        for fold in folds:
            rows = fold[:most]
            most -= len(rows)
            whole = np.arange(len(rows)) % 2 == role
            new, known = rows[whole & has_others[rows]], rows[~whole & has_half[rows]]
            if len(new) or len(known):
                yield _hold_out(membership, np.sort(new), np.sort(known), rng)


def _deal(user_of_playlist, rng):
    """Deal playlists to folds, those of a user to different ones.

    Each fold has its users in random order, one after the other: the first playlists then belong to
    few users, and only these have to be fitted again.
    """
    order = rng.permutation(len(user_of_playlist))
    order = order[np.argsort(user_of_playlist[order], kind="stable")]
    folds = []
    for number in range(N_FOLDS):
        fold = order[number::N_FOLDS]
        place_of_user = rng.permutation(user_of_playlist.max() + 1)
        folds.append(fold[np.argsort(place_of_user[user_of_playlist[fold]], kind="stable")])
    return folds


def _hold_out(membership, new, known, rng):
    lengths = np.diff(membership.indptr)
    playlists = np.repeat(np.arange(len(lengths)), lengths)
    # A random order within each playlist, whose first songs are held out.
    order = np.lexsort((rng.uniform(size=len(playlists)), playlists))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order)) - membership.indptr[playlists]
    n_held = np.zeros(len(lengths), dtype=np.intp)
    n_held[new] = lengths[new]
    n_held[known] = lengths[known] // 2
    held = place < n_held[playlists]
    kept = _with_entries(membership, ~held)
    return Rehearsal(kept, _with_entries(membership, held), new, known)


def _with_entries(membership, chosen):
    """Keep some of the stored entries."""
    ends = np.concatenate([[0], np.cumsum(chosen)])[membership.indptr]
    return csr_array(
        (membership.data[chosen], membership.indices[chosen], ends), shape=membership.shape
    )
