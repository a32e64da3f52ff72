"""Bounds on the distance to the minimum."""

import numpy as np
import pytest
from problems import make_coef, make_objective, make_problem, minimise_split

from skmtc.optimize import solve_owlqn
from skmtc.optimize.prox_newton._fixed_shared import FixedShared
from skmtc.optimize.prox_newton._problem import SortedProblem
from skmtc.optimize.prox_newton._state import duality_gap, kkt_residual, user_gaps


@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("push", [0.5, 1.0, 4.0])
def test_the_gap_bounds_the_distance_at_any_point(loss, push):
    objective = make_objective(0, loss=loss, push=push)
    best, minimiser = minimise_split(objective)
    problem = SortedProblem(objective)
    n = objective.n_playlists
    for share in (0.0, 0.5, 0.99, 1.0):
        coef = share * minimiser + (1 - share) * make_coef(objective, scale=0.2)
        if loss == "ranking":
            coef[:, -1] = 0.0  # what solvers know of the constant feature
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


@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("push", [0.5, 1.0, 4.0])
def test_the_gaps_of_users_bound_their_distances_with_shared_weights_held(loss, push):
    features, membership, owners = make_problem(0)
    held = FixedShared(
        features, membership, owners, shared=np.full(5, 0.2), playlist_l1=0.1, push=push, loss=loss
    )
    minimiser = solve_owlqn(held, tol=1e-8, max_iter=20_000).coef
    problem = SortedProblem(held)
    rng = np.random.default_rng(0)

    def values_and_gaps(coef):
        point = problem.evaluate(*problem.totals_of(coef))
        values = problem.user_values(point, point.shared)
        arrays = point.losses, point.gradients, point.totals.playlist, point.shared
        return values, user_gaps(values, *arrays, problem.users, problem.penalties)

    best, gaps = values_and_gaps(minimiser)
    assert (gaps <= 1e-5 * best).all()  # at the minimum the bound is tight
    for scale in (0.01, 0.1, 0.5):
        coef = minimiser.copy()
        coef[1:] += rng.normal(scale=scale, size=coef[1:].shape)
        values, gaps = values_and_gaps(coef)
        assert (gaps >= values - best - 1e-9 * best).all()
        assert (gaps <= values).all()
