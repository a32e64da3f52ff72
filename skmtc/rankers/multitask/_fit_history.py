"""History terms of a ranker: their weights are fitted on playlists that its fit leaves out."""

from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from skmtc._table import Songs
from skmtc.optimize import SOLVERS, MultitaskObjective
from skmtc.rankers.features import fit_song_features
from skmtc.rankers.history import read_history
from skmtc.rankers.multitask._ranker_objective import in_working_precision, problem_parameters
from skmtc.rankers.multitask._song_sample import sampled_song_weight

# Tolerance of fits without held-out playlists, which only serve to fit a few weights.
HOLD_OUT_TOL = 1e-2


def check_history(history, loss):
    """Raise an error if the parameter `history` is invalid, or does not go with the loss."""
    history = read_history(history)
    if history is None:
        return
    history.check()
    if loss != "classification":
        raise ValueError(
            "`history` needs loss='classification', because scores of a ranking loss have no "
            f"level that terms could be added to; got loss={loss!r}. Pass history=None."
        )


def fit_history(ranker, table, frame):
    """Fit the weights of history terms, with all other weights fixed.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The ranker, whose parameter `history` names the terms.

    table : MembershipTable
        Training table.

    frame : DataFrame
        All its rows.

    Returns
    -------
    history : HistoryTerms or None
        Fitted terms; None if the ranker has none.
    """
    history = read_history(ranker.history)
    if history is None:
        return None
    rng = check_random_state(check_random_state(ranker.random_state).randint(2**31 - 1))
    return clone(history).learn(
        table,
        partial(_fit_without, ranker, table, frame),
        artist=ranker.artist,
        random_state=rng,
        n_jobs=ranker.n_jobs,
    )


def _fit_without(ranker, table, frame, fold):
    """Fit features, and the users of held-out playlists, on what a fold keeps.

    Returns
    -------
    weights_of : callable
        Returns the weights of playlists, given whether they count as known.

    song_vectors : array or csr_array of shape (n_songs, n_features)
        Vectors of all songs; held-out songs are transformed like new ones.

    converged : bool
        Whether the solver reached its tolerance.
    """
    # 1. Features of the songs that are not held out.
    songs = np.flatnonzero(~fold.is_new_song)
    kept, owners = fold.kept[:, songs], table.user_of_playlist
    part = replace(table, membership=kept, song_rows=table.song_rows.iloc[songs])
    features = fit_song_features(ranker, part, frame)
    # 2. The objective of the users of held-out playlists only.
    asked = owners[np.concatenate([fold.new, fold.known])]
    lengths = np.diff(kept.indptr)
    teaches = (lengths > 0) & (lengths < len(songs))
    rows = np.flatnonzero(np.isin(owners, asked) & teaches)
    users = np.unique(owners[rows])
    vectors = _vectors_of_all(ranker, features, table, songs)
    user_coef = np.zeros((len(table.users), vectors.shape[1]))
    playlist_coef = np.zeros((len(owners), vectors.shape[1]))
    if len(rows) == 0:  # a small table, of which the fold keeps no playlist of these users
        return lambda playlists, _: user_coef[owners[playlists]], vectors, True
    objective = MultitaskObjective(
        in_working_precision(ranker, features.matrix),
        kept[rows],
        np.searchsorted(users, owners[rows]),
        sample_weight=None if table.playlist_weights is None else table.playlist_weights[rows],
        song_weight=sampled_song_weight(ranker, kept[rows]),
        **problem_parameters(ranker, table),
    )
    options = {"tol": max(ranker.tol, HOLD_OUT_TOL), "max_iter": ranker.max_iter}
    result = SOLVERS[ranker.solver].solve(objective, **options)
    # 3. Weights of all users and playlists; zero where nothing was fitted.
    shared, user_coef[users], playlist_coef[rows] = objective.split(result.coef)

    def weights_of(playlists, are_known):
        weights = shared + user_coef[owners[playlists]]
        return weights + playlist_coef[playlists] if are_known else weights

    return weights_of, vectors, result.converged


def _vectors_of_all(ranker, features, table, songs):
    """Return the vectors of all songs by features that were fitted on some of them."""
    fitted = copy(ranker)
    vars(fitted).update(vars(ranker) | features.attributes)  # with the reader of this fit
    codes = np.full(len(table.songs), -1)
    codes[songs] = np.arange(len(songs))
    new_rows = table.song_rows.iloc[np.flatnonzero(codes < 0)]
    return fitted.vectors_of_songs(Songs(table.songs.values, codes, new_rows))
