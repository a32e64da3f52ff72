"""The common weights: song by song the same sums as playlist by playlist."""

import numpy as np
import pytest
from problems import make_objective
from scipy.optimize import minimize
from scipy.sparse import csr_array

from skmtc.optimize.prox_newton._shared import best_common_weights


def _value(objective, shared):
    coef = objective.zeros()
    coef[0] = shared
    return objective.value(coef)


@pytest.mark.parametrize("push", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_other_common_weights_are_better(push, convert, fit_intercept):
    objective = make_objective(0, push=push, features=convert, fit_intercept=fit_intercept)
    features = objective.features if fit_intercept else objective.features[:, :-1]
    l1 = objective.n_playlists * objective.shared_l1
    found = best_common_weights(objective, features, l1, tol=1e-12)
    slow = minimize(
        lambda shared: _value(objective, shared),
        np.zeros(objective.n_features),
        method="Powell",
        options={"xtol": 1e-10, "ftol": 1e-14, "maxiter": 10_000},
    )
    assert _value(objective, found) <= slow.fun * (1 + 1e-9)
