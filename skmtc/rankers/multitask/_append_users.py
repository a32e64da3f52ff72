"""New playlists, users and songs of a fitted ranker, with the shared weights fixed."""

import numpy as np

from skmtc.optimize import SOLVERS
from skmtc.optimize.prox_newton import FixedShared
from skmtc.rankers.features import append_attributes, append_song_vectors
from skmtc.rankers.fitting import append_rows
from skmtc.rankers.multitask._ranker_objective import (
    in_working_precision,
    lambdas,
    problem_parameters,
    solver_options,
)
from skmtc.rankers.multitask._solution import warn_if_not_converged


def append_users(ranker, appended, playlist_weights):
    """Solve the problems of the users whose playlists change; return the new fitted attributes.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        Fitted ranker, which is not changed.

    appended : AppendedTable
        Known and new rows.

    playlist_weights : ndarray of shape (n_playlists,) or None
        Weights of known and new playlists.

    Returns
    -------
    attributes : dict
        Features, weights and history terms, by name.
    """
    vectors = append_song_vectors(ranker, appended)
    user_coef = append_rows(appended.user_source, ranker.user_coef_, 0.0)
    playlist_coef = append_rows(appended.playlist_source, ranker.playlist_coef_, 0.0)
    if len(appended.named_users):
        _solve_users(ranker, appended, vectors, user_coef, playlist_coef, playlist_weights)
    n_users, n_playlists = len(appended.users), len(appended.playlists)
    return {
        "song_vectors_": vectors,
        "user_attributes_": append_attributes(ranker, "user", appended),
        "playlist_attributes_": append_attributes(ranker, "playlist", appended),
        "user_coef_": user_coef,
        "playlist_coef_": playlist_coef,
        "playlist_weight_": playlist_weights,
        "lambdas_": lambdas(ranker, n_users, n_playlists) if n_playlists else ranker.lambdas_,
        "history_": None if ranker.history_ is None else ranker.history_.appended(appended),
    }


def _solve_users(ranker, appended, vectors, user_coef, playlist_coef, weights):
    """Solve for the named users and their playlists; write the weights into the arrays."""
    features = vectors[:, :-1] if ranker.fit_intercept else vectors
    users = appended.named_users
    rows = np.flatnonzero(np.isin(appended.user_of_playlist, users))
    objective = FixedShared(
        in_working_precision(ranker, features),
        appended.membership[rows],
        np.searchsorted(users, appended.user_of_playlist[rows]),
        shared=ranker.shared_coef_,
        sample_weight=None if weights is None else weights[rows],
        **problem_parameters(ranker, appended),
    )
    coef0 = np.vstack([ranker.shared_coef_, user_coef[users], playlist_coef[rows]])
    result = SOLVERS[ranker.solver].solve_users(objective, coef0, **solver_options(ranker))
    warn_if_not_converged(ranker, result, features)
    _, user_coef[users], playlist_coef[rows] = objective.split(result.coef)
