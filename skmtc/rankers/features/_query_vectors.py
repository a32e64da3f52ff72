"""The vectors of queries: weights of the playlist and the user, or of similar ones for new ids."""

import numpy as np

from skmtc._utils.sparse import one_hot
from skmtc.rankers.features._attributes import attributes_of
from skmtc.rankers.features._neighbors import similar_playlists, similar_users


def sum_of_weights(ranker, queries):
    """Add up shared weights, those of the user or of similar users, and of the playlist.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted ranker with `shared_coef_`, `user_coef_` and `playlist_coef_`.

    queries : Queries
        Queries to score.

    Returns
    -------
    vectors : ndarray of shape (n_queries, n_features)
        Weights of each query.
    """
    vectors = np.tile(ranker.shared_coef_, (len(queries), 1))
    user, playlist = queries.users >= 0, queries.playlists >= 0
    vectors[user] += ranker.user_coef_[queries.users[user]]
    vectors[playlist] += ranker.playlist_coef_[queries.playlists[playlist]]
    similar = None if user.all() else weigh_similar_users(ranker, queries.rows[~user])
    if similar is not None:
        vectors[~user] += similar @ ranker.user_coef_
    return vectors


def weights_of_similar_playlists(ranker, rows):
    """Return the mean user and playlist weights of the playlists most similar to new ones.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted ranker with `user_coef_`, `playlist_coef_` and the parameter `playlist_features`.

    rows : DataFrame
        One row per new playlist.

    Returns
    -------
    weights : ndarray of shape (n_new, n_features) or None
        Rows of zeros for playlists that are similar to none; None if playlists have no attributes.
    """
    if ranker.playlist_features_ is None or len(ranker.playlists_) == 0:
        return None
    attributes = attributes_of(ranker, "playlist", rows)
    if attributes is None:
        return None
    similar = similar_playlists(attributes, ranker.playlist_attributes_, ranker.n_neighbors)
    of_users = similar @ one_hot(ranker.user_of_playlist_, len(ranker.users_))
    return of_users @ ranker.user_coef_ + similar @ ranker.playlist_coef_


def first_known(ranker, queries, *, playlists, users, otherwise):
    """Return the vector of the playlist, else of the user, else the mean of similar users.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted ranker.

    queries : Queries
        Queries to score.

    playlists : ndarray of shape (n_playlists, n_dimensions) or None
        Vectors of playlists. None: a playlist has the vector of its user.

    users : ndarray of shape (n_users, n_dimensions)
        Vectors of users.

    otherwise : ndarray of shape (n_dimensions,)
        Vector of a new user who is similar to none.

    Returns
    -------
    vectors : ndarray of shape (n_queries, n_dimensions)
        Vector of each query.
    """
    vectors = np.tile(otherwise, (len(queries), 1))
    user = queries.users >= 0
    similar = None if user.all() else weigh_similar_users(ranker, queries.rows[~user])
    if similar is not None:
        described = np.diff(similar.indptr) > 0
        vectors[np.flatnonzero(~user)[described]] = similar[described] @ users
    vectors[user] = users[queries.users[user]]
    if playlists is not None:
        playlist = queries.playlists >= 0
        vectors[playlist] = playlists[queries.playlists[playlist]]
    return vectors


def weigh_similar_users(ranker, rows):
    """Return weights of known users for new ones; None if new users have no attributes."""
    if ranker.user_features_ is None or len(ranker.users_) == 0:
        return None
    attributes = attributes_of(ranker, "user", rows)
    if attributes is None:
        return None
    return similar_users(attributes, ranker.user_attributes_, ranker.n_neighbors)
