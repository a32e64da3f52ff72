"""The proximal Newton solver: few passes over the data, and much work between them.

In the order of the data flow:

- `_problem` sorts playlists by user and evaluates iterates; `_state` bounds their suboptimality;
- `_solver` is the loop, and `_prox_newton` an iteration of it for large problems; `_subsample`
  samples the songs of the first iterations;
- `_rows` minimises the surrogate between two passes with one row per user, `_inner` with one row
  per playlist, by steps of the users (`_user_step` on `_surrogate`) and of the shared weights
  (`_shared`); `_curvature` learns the curvature of the surrogate from two passes;
- `_exact` solves small problems, and `_fixed_shared` those of users with fixed shared weights.
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
