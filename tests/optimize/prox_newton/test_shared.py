"""Steps of the shared weights."""

import numpy as np
import pytest
from scipy.optimize import minimize

from skmtc.optimize.prox_newton._shared import closest_shared, lasso_step


@pytest.mark.parametrize("l1", [0.0, 0.5, 100.0])
def test_lasso_step_meets_the_optimality_conditions(l1):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    hessian, gradient, shared = root @ root.T + np.eye(6), rng.normal(size=6), rng.normal(size=6)
    step = lasso_step(gradient, hessian, shared, l1, tol=1e-12, max_sweeps=1000)
    slope = gradient + hessian @ step
    at = shared + step
    np.testing.assert_allclose(slope[at != 0], -l1 * np.sign(at[at != 0]), atol=1e-6)
    assert (np.abs(slope[at == 0]) <= l1 + 1e-6).all()


def test_flat_directions_stay_bounded():
    step = lasso_step(np.array([1.0, 1.0, 0.0]), np.diag([1.0, 1.0, 0.0]), np.ones(3), 0.1)
    assert np.isfinite(step).all()
    equal = lasso_step(np.ones(2), np.ones((2, 2)), np.zeros(2), 0.0)
    np.testing.assert_allclose(equal.sum(), -1.0, rtol=1e-3)


@pytest.mark.parametrize(("user_l2", "l1"), [(0.5, 0.7), (2.0, 0.0)])
def test_closest_shared_minimises_the_definition(user_l2, l1):
    totals = np.random.default_rng(1).normal(size=(5, 3))

    def cost(shared):
        return user_l2 * ((totals - shared) ** 2).sum() + l1 * np.abs(shared).sum()

    best = minimize(cost, np.zeros(3), method="Powell", options={"xtol": 1e-10, "ftol": 1e-14})
    np.testing.assert_allclose(closest_shared(totals, user_l2, l1), best.x, atol=1e-5)


def test_free_user_weights_leave_the_shared_weights_nothing():
    assert not closest_shared(np.ones((4, 2)), 0.0, 0.1).any()
