"""The l1 penalty."""

import numpy as np

from skmtc.optimize._penalty import l1_value, pseudo_gradient, soft_threshold


def test_soft_threshold_minimises_its_definition():
    values = np.linspace(-3, 3, 25)
    grid = np.linspace(-4, 4, 8001)
    for threshold in (0.0, 0.7, 5.0):
        costs = 0.5 * (grid[:, None] - values) ** 2 + threshold * np.abs(grid[:, None])
        best = grid[costs.argmin(axis=0)]
        np.testing.assert_allclose(soft_threshold(values, threshold), best, atol=1e-3)


def test_pseudo_gradient_is_the_subgradient_of_smallest_norm():
    coef = np.array([[-2.0, 0.0, 0.0, 0.0, 2.0]])
    gradient = np.array([[1.0, 3.0, 0.5, -3.0, 1.0]])
    # Away from zero: gradient +- 1; at zero: the nearest to zero of the interval gradient +- 1.
    expected = [[0.0, 2.0, 0.0, -2.0, 2.0]]
    np.testing.assert_array_equal(pseudo_gradient(coef, gradient, np.array([[1.0]])), expected)


def test_value_weighs_each_row():
    coef = np.array([[1.0, -2.0], [3.0, 0.0]])
    assert l1_value(coef, np.array([[10.0], [1.0]])) == 33.0
