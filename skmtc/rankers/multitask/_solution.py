"""The result of a solver as fitted attributes, and the warnings if it is inexact."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skmtc.optimize import objective_over_all_songs, warn_not_converged
from skmtc.rankers.features import largest_feature
from skmtc.rankers.multitask._ranker_objective import lambdas
from skmtc.rankers.multitask._song_sample import sample_seed

# Standardised features stay below this; larger ones are probably in an unsuitable unit.
LARGE_FEATURE = 100.0
# If the bound on the relative suboptimality is above this, `tol` was reached by short steps only.
LOOSE_GAP = 0.1


def solution_attributes(ranker, objective, result):
    """Return the fitted attributes of a result, by name.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The ranker that is fitted.

    objective : MultitaskObjective
        What was minimised.

    result : SolverResult
        The minimum.

    Returns
    -------
    attributes : dict
        Weights, penalties, and the log of the solver.
    """
    history, catalogue_objective = result.history, (result.objective, 0.0)
    if objective.song_weight is not None:
        catalogue_objective = objective_over_all_songs(
            objective, result.coef, result.objective, sample_seed(ranker)
        )
    return coef_attributes(objective, result.coef) | {
        "lambdas_": lambdas(ranker, objective.n_users, objective.n_playlists),
        "objective_": result.objective,
        "catalogue_objective_": catalogue_objective,
        "optimality_": result.optimality,
        "n_iter_": result.n_iter,
        "solver_history_": history,
        "dual_gap_": history["dual_gap"][-1] if "dual_gap" in history else np.nan,
    }


def coef_attributes(objective, coef):
    """Return coefficients as shared, user and playlist weights."""
    names = ("shared_coef_", "user_coef_", "playlist_coef_")
    return {name: part.copy() for name, part in zip(names, objective.split(coef), strict=True)}


def no_solution(ranker):
    """Return fitted attributes with weights of zero, for a table of full playlists only."""
    n_features = len(ranker.feature_names_out_)
    no_rows = np.zeros((0, n_features))
    return {
        "shared_coef_": np.zeros(n_features),
        "user_coef_": no_rows,
        "playlist_coef_": no_rows,
        "lambdas_": (np.inf, np.inf, float(ranker.shared_l1)),
        "objective_": 0.0,
        "catalogue_objective_": (0.0, 0.0),
        "optimality_": 0.0,
        "dual_gap_": 0.0,
        "solver_history_": {},
        "n_iter_": 0,
        "history_": None,
    }


def warn_if_inexact(ranker, result, features):
    """Warn if a solver did not converge, or if it did but features of unlike sizes misled it.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The ranker that is fitted.

    result : SolverResult
        Where the solver stopped.

    features : array or csr_array of shape (n_songs, n_features)
        Features, without the constant one.
    """
    warn_if_not_converged(ranker, result, features)
    hint = _scaling_hint(ranker, features)
    gap = result.history.get("restricted_gap", [0.0])[-1]
    if result.converged and hint and gap > LOOSE_GAP:
        warnings.warn(
            f"The solver reached tol={ranker.tol:g}, but features of unlike sizes make its steps "
            f"short, so that the result may be inexact: the bound on the relative suboptimality "
            f"is {gap:.2g}. {hint}",
            ConvergenceWarning,
            stacklevel=2,
        )


def warn_if_not_converged(ranker, result, features):
    """Warn if a solver did not converge, and name a feature that is too large."""
    if not result.converged:
        hint = _scaling_hint(ranker, features)
        warn_not_converged(result, tol=ranker.tol, max_iter=ranker.max_iter, hint=hint)


def _scaling_hint(ranker, features):
    if features.shape[1] == 0:
        return ""
    name, size = largest_feature(features, ranker.feature_names_out_)
    if size <= LARGE_FEATURE:
        return ""
    return (
        f"Feature {name!r} reaches {size:.3g}: rescale it, e.g. with "
        "make_song_features(X) as `song_features`; otherwise lower `tol` or increase "
        "`max_iter`."
    )
