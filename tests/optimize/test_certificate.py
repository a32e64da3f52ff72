"""Bounds on the distance to the minimum."""

import numpy as np
import pytest
from problems import make_coef, make_objective, minimise_split

from skmtc.optimize._certificate import duality_gap, kkt_residual
from skmtc.optimize._point import SortedProblem


@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("push", [0.5, 1.0, 4.0])
def test_the_gap_bounds_the_distance_at_any_point(loss, push):
    objective = make_objective(0, loss=loss, push=push)
    best, minimiser = minimise_split(objective)
    problem = SortedProblem(objective)
    n = objective.n_playlists
    for share in (0.0, 0.5, 0.99, 1.0):
        coef = share * minimiser + (1 - share) * make_coef(objective, scale=0.2)
        point = problem.evaluate(*problem.totals_of(coef))
        value = problem.value(point)
        assert value / n == pytest.approx(objective.value(coef))
        gap = duality_gap(
            value,
            point.losses,
            point.gradients,
            point.totals.playlist,
            point.shared,
            problem.users,
            problem.penalties,
        )
        distance = value - n * best
        assert gap.full >= distance - 1e-9 * value
        assert gap.restricted <= gap.full + 1e-9 * value
        assert gap.full <= value
        if np.abs(minimiser[0]).sum() <= 2 * np.abs(coef[0]).sum() + 1:
            assert gap.restricted >= distance - 1e-9 * value
    assert gap.full <= 1e-2 * value  # at the minimum the bound is tight


@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_the_residual_is_that_of_the_objective(loss):
    objective = make_objective(0, loss=loss)
    problem = SortedProblem(objective)
    _, minimiser = minimise_split(objective)
    for coef in (make_coef(objective), objective.zeros(), minimiser):
        point = problem.evaluate(*problem.totals_of(coef))
        residual = kkt_residual(
            point.gradients, point.totals, point.shared, problem.users, problem.penalties
        )
        # Playlist weights of zero stay zero in the totals only up to rounding.
        assert residual == pytest.approx(objective.kkt_residual(coef), rel=1e-6, abs=1e-6)
