"""The steps of `MultitaskPlaylistRanker`: objective, solution, history, appended rows."""

from skmtc.rankers.multitask._append_users import append_users
from skmtc.rankers.multitask._fit_history import check_history, fit_history
from skmtc.rankers.multitask._playlist_weights import append_weights, weight_playlists
from skmtc.rankers.multitask._ranker_objective import (
    check_penalties,
    make_objective,
    objective_penalties,
    solver_options,
    starting_point,
)
from skmtc.rankers.multitask._solution import (
    coef_attributes,
    no_solution,
    solution_attributes,
    warn_if_inexact,
)

__all__ = [
    "append_users",
    "append_weights",
    "check_history",
    "check_penalties",
    "coef_attributes",
    "fit_history",
    "make_objective",
    "no_solution",
    "objective_penalties",
    "solution_attributes",
    "solver_options",
    "starting_point",
    "warn_if_inexact",
    "weight_playlists",
]
