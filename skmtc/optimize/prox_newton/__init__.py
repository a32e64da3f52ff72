"""The proximal Newton solver: few passes over the data, and much work between them.

In the order of the data flow: `_problem` sorts playlists by user and evaluates iterates, `_solver`
is the loop, and `_prox_newton` an iteration of it. The surrogate between two passes is minimised by
`_rows`, one row per user, or by `_inner`, one row per playlist, with steps of the users
(`_user_step` on `_surrogate`) and of the shared weights (`_shared`); `_curvature` is what passes
teach, `_subsample` what the first iterations see. `_exact` solves small problems, and
`_fixed_shared` those of users alone; `_state` bounds the suboptimality.
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
