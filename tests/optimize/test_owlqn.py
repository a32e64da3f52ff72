"""OWL-QN: the optimum, and the three classic bugs."""

import numpy as np
import pytest
from problems import make_coef, make_objective, minimise_split
from scipy.sparse import csr_array

from skmtc.optimize import MultitaskObjective, solve_owlqn
from skmtc.optimize._owlqn import _direction, _line_search, _two_loop, coefficient_scale
from skmtc.optimize._penalty import pseudo_gradient

PENALTIES = [
    {"user_l2": 1.0, "playlist_l1": 0.5, "shared_l1": 0.05},
    {"user_l2": 0.1, "playlist_l1": 0.1, "shared_l1": 0.01},
    {"user_l2": 0.3, "playlist_l1": 0.02, "shared_l1": 0.2},
]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("penalties", PENALTIES)
def test_agrees_with_an_independent_oracle(seed, penalties):
    objective = make_objective(seed, push=1.0 + seed, **penalties)
    result = solve_owlqn(objective, tol=1e-6, max_iter=5000)
    best, _ = minimise_split(objective)
    assert result.converged
    assert result.optimality <= 1e-6
    assert result.objective == pytest.approx(objective.value(result.coef), rel=1e-12)
    assert abs(result.objective - best) <= 1e-7 * best


def test_the_start_does_not_matter():
    objective = make_objective(3)
    far = solve_owlqn(objective, 3 * make_coef(objective, scale=1.0), tol=1e-7, max_iter=5000)
    near = solve_owlqn(objective, tol=1e-7, max_iter=5000)
    assert far.objective == pytest.approx(near.objective, rel=1e-9)
    again = solve_owlqn(objective, near.coef, tol=1e-7)
    assert again.n_iter == 0


def test_a_start_that_overflows_is_replaced():
    objective = make_objective(3)
    result = solve_owlqn(objective, np.full(objective.shape, 1e5), tol=1e-6, max_iter=5000)
    assert result.converged


def test_the_objective_never_rises():
    objective = make_objective(4, user_l2=1e-3, playlist_l1=1e-3, shared_l1=1e-4)
    values = solve_owlqn(objective, tol=1e-5, max_iter=300).history["objective"]
    assert len(values) > 10
    assert (np.diff(values) <= 0).all()


def test_playlist_weights_are_zero_above_their_threshold():
    held = make_objective(5, playlist_l1=1e6)
    optimum = solve_owlqn(held, tol=1e-9, max_iter=5000).coef
    gradient = held.value_and_gradient(optimum)[1]
    threshold = np.abs(held.split(gradient)[2]).max() * held.n_playlists
    above = solve_owlqn(make_objective(5, playlist_l1=1.001 * threshold), tol=1e-7, max_iter=5000)
    below = solve_owlqn(make_objective(5, playlist_l1=0.9 * threshold), tol=1e-7, max_iter=5000)
    assert not held.split(above.coef)[2].any()
    assert held.split(below.coef)[2].any()


def test_shared_weights_are_zero_above_their_threshold():
    held = make_objective(6, shared_l1=1e6)
    optimum = solve_owlqn(held, tol=1e-9, max_iter=5000).coef
    threshold = np.abs(held.value_and_gradient(optimum)[1][0]).max()
    above = solve_owlqn(make_objective(6, shared_l1=1.001 * threshold), tol=1e-7, max_iter=5000)
    below = solve_owlqn(make_objective(6, shared_l1=0.9 * threshold), tol=1e-7, max_iter=5000)
    assert not above.coef[0].any()
    assert below.coef[0].any()


def test_a_huge_user_penalty_leaves_no_user_weights():
    objective = make_objective(7, user_l2=1e8)
    result = solve_owlqn(objective, tol=1e-6, max_iter=5000)
    assert result.converged
    assert np.abs(objective.split(result.coef)[1]).max() < 1e-6


def test_one_user_with_one_playlist():
    objective = MultitaskObjective(
        [[0.0], [1.0], [-1.0]], [[0, 1, 0]], [0], user_l2=0.5, playlist_l1=0.1, shared_l1=0.01
    )
    result = solve_owlqn(objective, tol=1e-8)
    assert result.converged
    assert result.objective == pytest.approx(minimise_split(objective)[0], rel=1e-9)
    assert objective.weights(result.coef)[0, 0] > 0


def test_sparse_features_reach_the_same_optimum():
    dense = solve_owlqn(make_objective(8), tol=1e-7, max_iter=5000)
    sparse = solve_owlqn(make_objective(8, features=csr_array), tol=1e-7, max_iter=5000)
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-10)


def test_the_callback_sees_every_iteration_and_can_stop():
    states = []
    objective = make_objective(9)

    def stop_after_three(state):
        states.append(state)
        return len(states) == 3

    result = solve_owlqn(objective, tol=1e-12, callback=stop_after_three)
    assert [s["iteration"] for s in states] == [1, 2, 3]
    assert states[-1]["objective"] == result.objective
    assert set(states[0]) >= {"iteration", "objective", "optimality", "seconds"}
    assert not result.converged
    assert "callback" in result.message


def test_max_iter_is_kept():
    result = solve_owlqn(make_objective(9), tol=1e-12, max_iter=4)
    assert result.n_iter == 4
    assert not result.converged
    assert "max_iter" in result.message


def test_rounding_ends_the_search_without_harm():
    objective = make_objective(9, features=lambda x: x.astype(np.float32))
    result = solve_owlqn(objective, tol=1e-15, max_iter=5000)
    assert not result.converged
    assert "rounding" in result.message or "max_iter" in result.message
    assert result.optimality < 1e-3


# Classic bug 1: choosing the wrong orthant at zero.
def test_at_zero_the_search_goes_to_the_orthant_of_minus_the_slope():
    objective = make_objective(10)
    coef = objective.zeros()
    value, gradient = objective.value_and_gradient(coef)
    slope = pseudo_gradient(coef, gradient, objective.l1)
    direction = _direction(slope, [], objective.l1, coefficient_scale(objective))
    new, new_value, _ = _line_search(objective, coef, value, slope, direction, objective.l1, [])
    moved = new != 0
    assert moved.any()
    assert (np.sign(new[moved]) == -np.sign(slope[moved])).all()
    assert new_value < value


# Classic bug 2: a wrong pseudo-gradient away from zero.
def test_the_slope_is_the_directional_derivative_of_the_whole_objective():
    objective = make_objective(11)
    coef = make_coef(objective)
    slope = pseudo_gradient(coef, objective.value_and_gradient(coef)[1], objective.l1)
    direction = -slope
    step = 1e-7
    rise = (objective.value(coef + step * direction) - objective.value(coef)) / step
    assert rise == pytest.approx(np.vdot(slope, direction), rel=1e-4)


# Classic bug 3: not projecting the direction.
def test_the_direction_has_no_entry_that_points_uphill():
    rng = np.random.default_rng(0)
    objective = make_objective(12)
    slope = rng.normal(size=objective.shape)
    pairs = []
    for _ in range(5):
        step = rng.normal(size=objective.shape)
        change = step * rng.uniform(0.1, 10, size=objective.shape)
        change += 0.3 * rng.normal(size=objective.shape)
        pairs.append((step, change, 1 / np.vdot(step, change)))
    raw = _two_loop(slope, pairs, coefficient_scale(objective))
    penalised = np.broadcast_to(objective.l1 > 0, objective.shape)
    assert (raw * slope > 0)[penalised].any()  # there is something to project
    projected = _direction(slope, pairs, objective.l1, coefficient_scale(objective))
    assert (projected * slope <= 0)[penalised].all()
    kept = (raw * slope < 0) | ~penalised
    np.testing.assert_array_equal(projected[kept], raw[kept])


def test_the_two_loops_multiply_by_the_inverse_hessian():
    # With a full memory of conjugate steps of a quadratic, L-BFGS is Newton's method.
    rng = np.random.default_rng(1)
    root = rng.normal(size=(4, 4))
    hessian = root @ root.T + np.eye(4)
    values, vectors = np.linalg.eigh(hessian)
    pairs = [(v, e * v, 1 / e) for e, v in zip(values, vectors.T, strict=True)]
    slope = rng.normal(size=4)
    np.testing.assert_allclose(
        _two_loop(slope, pairs, np.ones(4)), -np.linalg.solve(hessian, slope)
    )
