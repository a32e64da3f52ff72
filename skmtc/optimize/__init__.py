"""The maths: arrays in, arrays out.

:class:`MultitaskObjective` holds the formula; solvers are functions of an objective and a start
that return a :class:`SolverResult`. Nothing here knows of tables or estimators.
"""

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._owlqn import solve_owlqn
from skmtc.optimize._result import SolverResult
from skmtc.optimize.prox_newton import solve_prox_newton

__all__ = ["MultitaskObjective", "SolverResult", "solve_owlqn", "solve_prox_newton"]
