"""The convergence warning."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skmtc.optimize import SolverResult
from skmtc.optimize._result import warn_not_converged


def test_the_warning_tells_what_was_reached_and_what_to_change():
    result = SolverResult(np.zeros((3, 1)), 1.0, 0.25, 7, False, "max_iter was reached")
    with pytest.warns(ConvergenceWarning) as caught:
        warn_not_converged(result, tol=1e-3, max_iter=7)
    message = str(caught[0].message)
    for part in ("2.50e-01", "tol=0.001", "7 iterations", "max_iter=7", "Increase `max_iter`"):
        assert part in message
    with pytest.warns(ConvergenceWarning, match="Feature 'loudness'"):
        warn_not_converged(result, tol=1e-3, max_iter=7, hint="Feature 'loudness' is too large.")
