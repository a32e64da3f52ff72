"""The proximal Newton solver: few passes over the data, and much work between them.

In the order of the data flow: `_problem` sorts playlists by user and evaluates iterates,
`_surrogate` and `_curvature` model the loss between two passes, `_inner` minimises the model by
steps of the shared weights (`_shared`) and of the users (`_user_step`), `_solver` is the loop,
`_certificate` bounds the suboptimality, and `_fixed_shared` solves for new users only.
"""

from skmtc.optimize.prox_newton._fixed_shared import FixedShared, solve_users
from skmtc.optimize.prox_newton._shared import lasso_step
from skmtc.optimize.prox_newton._solver import prox_newton_path, solve_prox_newton

__all__ = [
    "FixedShared",
    "lasso_step",
    "prox_newton_path",
    "solve_prox_newton",
    "solve_users",
]
