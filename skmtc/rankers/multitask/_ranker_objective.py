"""From the parameters of a ranker and a table to an objective and the options of its solver."""

import numpy as np
from sklearn.utils import check_random_state

from skmtc._table import Ids
from skmtc._utils.validation import check_number
from skmtc.optimize import PENALTIES, SOLVERS, MultitaskObjective
from skmtc.rankers.multitask._song_sample import sampled_song_weight

# Down to this tolerance, products of single precision are exact enough, and twice as fast.
SINGLE_PRECISION_TOL = 1e-5


def check_penalties(penalties):
    """Raise an error if a penalty is no number or is negative."""
    for name, value in penalties.items():
        check_number(name, value, at_least=0)


def make_objective(ranker, features, table):
    """Return the objective of a ranker for a table.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The parameters.

    features : array or csr_array of shape (n_songs, n_features)
        Features of the songs of the table, without the constant one.

    table : MembershipTable
        Training table.

    Returns
    -------
    objective : MultitaskObjective
        The objective.
    """
    return MultitaskObjective(
        in_working_precision(ranker, features),
        table.membership,
        table.user_of_playlist,
        sample_weight=table.playlist_weights,
        song_weight=sampled_song_weight(ranker, table.membership),
        **problem_parameters(ranker, table),
    )


def problem_parameters(ranker, table):
    """Return the parameters of `MultitaskObjective` for a table."""
    names = ("push", "loss", "fit_intercept", "n_jobs")
    return objective_penalties(ranker, table) | {name: getattr(ranker, name) for name in names}


def objective_penalties(ranker, table):
    """Return the penalties as `MultitaskObjective` scales them."""
    shared_l1 = lambdas(ranker, len(table.users), len(table.playlists))[2]
    return {name: getattr(ranker, name) for name in PENALTIES} | {"shared_l1": shared_l1}


def lambdas(ranker, n_users, n_playlists):
    """Return the penalties in the paper's scaling."""
    return (
        ranker.user_l2 / n_playlists,
        ranker.playlist_l1 / n_playlists,
        ranker.shared_l1 * n_users / n_playlists,
    )


def in_working_precision(ranker, features):
    """Return features in single precision if the solver and the tolerance allow it."""
    solver = SOLVERS[ranker.solver]
    if solver.takes_single_precision and ranker.tol >= SINGLE_PRECISION_TOL:
        return features.astype(np.float32)
    return features


def solver_options(ranker, iteration_ends=None):
    """Return the options that all solvers take.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The parameters.

    iteration_ends : callable, default=None
        Called with the state of the solver after each iteration. The solver stops if it returns
        True.

    Returns
    -------
    options : dict
        Keyword arguments of the solver.
    """

    def callback(state):
        if ranker.verbose:
            _print_iteration(state)
        return iteration_ends is not None and iteration_ends(state)

    return {
        "tol": ranker.tol,
        "max_iter": ranker.max_iter,
        "random_state": check_random_state(ranker.random_state).randint(2**31 - 1),
        "callback": callback,
    }


def starting_point(ranker, table, objective, saved=None):
    """Return where a solver starts: at a checkpoint, at the previous fit, or at zero.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The ranker, with the weights of the previous fit if there is one.

    table : MembershipTable
        Training table.

    objective : MultitaskObjective
        What is minimised.

    saved : SolverResult, default=None
        State of an interrupted fit.

    Returns
    -------
    start : dict
        Keyword arguments of the solver.
    """
    if saved is not None:
        return {"coef0": saved.coef, "history0": saved.history}
    return {"coef0": _previous_coef(ranker, table, objective) if ranker.warm_start else None}


def _previous_coef(ranker, table, objective):
    """Return the coefficients of the previous fit in the order of a new table.

    Weights of new users and playlists are zero. Return None if there is no previous fit, or if it
    had another number of features.
    """
    coef = objective.zeros()
    shared, user, playlist = objective.split(coef)
    if not hasattr(ranker, "shared_coef_") or len(ranker.shared_coef_) != len(shared):
        return None
    shared[:] = ranker.shared_coef_
    for role, rows in (("user", user), ("playlist", playlist)):
        codes = Ids(getattr(ranker, f"{role}s_"), role).codes(table.ids[role].index)
        rows[codes >= 0] = getattr(ranker, f"{role}_coef_")[codes[codes >= 0]]
    return coef


def _print_iteration(state):
    print(
        f"iteration {state['iteration']:4d}  objective {state['objective']:.8f}  "
        f"optimality {state['optimality']:.2e}  {state['seconds']:.2f} s"
    )
