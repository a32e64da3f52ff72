"""The maths: arrays in, arrays out.

:class:`MultitaskObjective` holds the formula; solvers are functions of an objective and a start
that return a :class:`SolverResult`. Nothing here knows of tables or estimators.
"""

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._owlqn import solve_owlqn
from skmtc.optimize._result import SolverResult
from skmtc.optimize.prox_newton import solve_prox_newton

__all__ = ["MultitaskObjective", "SolverResult", "solve_owlqn", "solve_prox_newton"]

# Used by other parts of the package; not public.
from skmtc.optimize._bpr_descent import descend_pairs as descend_pairs
from skmtc.optimize._log_rank import solve_log_rank as solve_log_rank
from skmtc.optimize._pair_weights import Pairs as Pairs
from skmtc.optimize._pair_weights import solve_pair_weights as solve_pair_weights
from skmtc.optimize._penalty import PENALTIES as PENALTIES
from skmtc.optimize._result import warn_not_converged as warn_not_converged
from skmtc.optimize._ridge_solvers import RIDGE_SOLVERS as RIDGE_SOLVERS
from skmtc.optimize._ridge_solvers import choose_solver as choose_solver
from skmtc.optimize._ridge_solvers import ridge_coef as ridge_coef
from skmtc.optimize._ridge_solvers import ridge_factors as ridge_factors
from skmtc.optimize._risks import objective_over_all_songs as objective_over_all_songs
from skmtc.optimize._solvers import SOLVERS as SOLVERS
from skmtc.optimize._solvers import Solver as Solver
