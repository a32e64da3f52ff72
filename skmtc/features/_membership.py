"""The second argument of `fit`: which songs are in which playlists, and where."""

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array, check_consistent_length


def read_membership(y, n_songs):
    """Give the songs x playlists matrix of positions that `y` stands for.

    None and one-dimensional targets stand for a single playlist of all songs in order, so that
    encoders work in any pipeline.
    """
    if y is None:
        return _one_playlist(n_songs)
    if not issparse(y):
        y = np.asarray(y)
        if y.ndim != 2:
            check_consistent_length(np.empty(n_songs), y)
            return _one_playlist(n_songs)
    membership = csr_array(check_array(y, accept_sparse="csr", ensure_min_features=0), copy=True)
    if membership.shape[0] != n_songs:
        raise ValueError(
            "The membership matrix must have one row per song; got shape "
            f"{membership.shape} for {n_songs} songs. Pass it as songs x playlists: transpose a "
            "playlists x songs matrix."
        )
    if membership.nnz and membership.data.min() < 0:
        raise ValueError(
            "The membership matrix must hold positions from 1 on, and 0 for no membership; got "
            f"{membership.data.min()}. Number the songs of each playlist from 1."
        )
    membership.eliminate_zeros()
    return membership


def n_playlists_of_song(membership):
    """Count the playlists that hold each song."""
    return np.diff(membership.indptr)


def _one_playlist(n_songs):
    return csr_array(np.arange(1, n_songs + 1)[:, None])
