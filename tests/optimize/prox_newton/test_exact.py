"""Newton steps with exact Hessians: their pieces, and odd problems against an oracle."""

import numpy as np
import pytest
from problems import (
    Transcribed,
    make_coef,
    make_objective,
    make_odd_problem,
    minimise_split,
    transcribed_objective,
)
from scipy.sparse import csr_array

from skmtc.optimize import MultitaskObjective, solve_prox_newton
from skmtc.optimize.prox_newton import FixedShared, _exact, solve_users
from skmtc.optimize.prox_newton._exact import (
    Coefficients,
    ExactModel,
    ExactNewton,
    coefficients_of,
    is_small,
    suboptimality,
)
from skmtc.optimize.prox_newton._exact_losses import ExactLosses
from skmtc.optimize.prox_newton._problem import SortedProblem

LOSSES = ["classification", "ranking"]
TOL = 1e-3


@pytest.mark.parametrize("seed", range(30))
def test_odd_problems_are_solved_to_tol(seed):
    features, membership, owners, parameters = make_odd_problem(seed)
    objective = MultitaskObjective(features, membership, owners, **parameters)
    result = solve_prox_newton(objective, tol=TOL)
    assert result.converged
    assert result.optimality <= TOL
    oracle = Transcribed(objective)
    value = oracle.value(result.coef)
    assert value <= minimise_split(oracle, ftol=1e-9)[0] * (1 + TOL)
    assert result.objective == pytest.approx(value, rel=1e-9)
    lowest = np.array(result.history["objective"]) * (1 - np.array(result.history["dual_gap"]))
    assert lowest.max() <= value * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_odd_users_are_solved_to_tol_one_by_one(seed):
    features, membership, owners, parameters = make_odd_problem(seed)
    rng = np.random.default_rng(seed)
    width = features.shape[1] + parameters["fit_intercept"]
    shared = rng.choice([0.0, 0.3, 1.0]) * rng.normal(size=width)
    objective = FixedShared(
        features, membership, owners, shared=shared, **parameters | {"shared_l1": 0.0}
    )
    result = solve_users(objective, tol=TOL)
    assert result.converged
    np.testing.assert_array_equal(result.coef[0], shared)
    for user in range(objective.n_users):
        rows = np.flatnonzero(owners == user)
        oracle = Transcribed(objective.take(rows), shared)
        coef = np.vstack([shared, result.coef[1 + user], result.coef[1 + objective.n_users + rows]])
        assert oracle.value(coef) <= minimise_split(oracle, ftol=1e-9)[0] * (1 + TOL)


def _tables(seed):
    """Draw three features in [0, 1] and 18 playlists of two users."""
    rng = np.random.default_rng(seed)
    columns = [rng.random(20), rng.random(20) < 0.5, rng.random(20) < 0.1]
    held = np.zeros((18, 20), dtype=int)
    for row in held:
        row[rng.choice(20, rng.choice([1, 2, 5, 10]), replace=False)] = 1
    return np.column_stack(columns).astype(np.float32), csr_array(held), np.arange(18) % 2


@pytest.mark.parametrize("seed", range(5))
def test_weak_playlist_penalties_are_solved_to_tol(seed):
    # Weights of playlists are then large, and steps with shared curvature short.
    objective = MultitaskObjective(*_tables(seed), user_l2=0.3, playlist_l1=0.001, shared_l1=0.01)
    result = solve_prox_newton(objective, tol=TOL)
    assert result.converged
    oracle = Transcribed(objective)
    assert oracle.value(result.coef) <= minimise_split(oracle, ftol=1e-9)[0] * (1 + TOL)


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("push", [0.3, 1.0])
@pytest.mark.parametrize("exact", [True, False])
def test_the_constant_of_a_ranking_loss_has_no_weight(convert, push, exact, monkeypatch):
    # Losses of thousands, a flat direction and a weak penalty: rounding must not move it.
    if not exact:
        monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 0)
    features, held, owners = _tables(0)
    objective = MultitaskObjective(
        convert(features), held, owners, loss="ranking", push=push, shared_l1=1e-4
    )
    start = make_coef(objective, scale=0.1)
    for coef0 in (None, start):
        result = solve_prox_newton(objective, coef0, tol=1e-2)
        assert (result.coef[:, -1] == 0).all()
        assert result.objective == pytest.approx(objective.value(result.coef), rel=1e-5)


def _exact_losses(loss, push, features=np.asarray):
    objective = make_objective(0, loss=loss, push=push, features=features)
    problem = SortedProblem(objective)
    return problem, ExactLosses(problem.objective, problem.features)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("push", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("features", [np.asarray, csr_array])
def test_gradients_and_hessians_are_derivatives(loss, push, features):
    problem, losses = _exact_losses(loss, push, features)
    rng = np.random.default_rng(0)
    shape = (problem.given.n_playlists, problem.given.n_features)
    weights, step = rng.normal(scale=0.3, size=shape), 1e-5 * rng.normal(size=shape)
    at = losses.expand(weights)
    np.testing.assert_allclose(losses.losses(weights), at.losses)
    np.testing.assert_allclose(losses.gradients(weights)[1], at.gradients)
    up, down = losses.expand(weights + step), losses.expand(weights - step)
    slopes = np.einsum("nd,nd->n", at.gradients, step)
    np.testing.assert_allclose((up.losses - down.losses) / 2, slopes, rtol=1e-5, atol=1e-12)
    images = np.einsum("nij,nj->ni", at.hessians, step)
    change = (up.gradients - down.gradients) / 2
    np.testing.assert_allclose(change, images, rtol=1e-5, atol=1e-6 * np.abs(images).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_those_of_the_objective(loss):
    problem, losses = _exact_losses(loss, 2.0)
    coef = make_coef(problem.given)
    at = coefficients_of(problem, coef)
    newton = ExactNewton(losses, problem.users, problem.penalties, fixed_shared=False)
    expansion = losses.expand(newton.weights(at))
    value = newton.values(at, expansion.losses).sum() / problem.given.n_playlists
    smooth, gradient = transcribed_objective(problem.given)(coef)
    assert value == pytest.approx(smooth + np.sum(np.abs(coef) * problem.given.l1))
    np.testing.assert_allclose(expansion.gradients.sum(axis=0), gradient[0] * len(at.playlist))


class _Quadratic:
    """The second-order model as an objective, playlists in the order of their users."""

    def __init__(self, problem, expansion, at):
        self.shape, self.l1 = problem.given.shape, problem.given.l1 * problem.given.n_playlists
        self.problem, self.expansion = problem, expansion
        self.at = np.vstack([at.shared, at.user, at.playlist])

    def zeros(self):
        return np.zeros(self.shape)

    def value_and_gradient(self, coef):
        shared, user, playlist = self.problem.given.split(coef - self.at)
        users, penalties = self.problem.users, self.problem.penalties
        moves = shared + users.spread(user) + playlist
        images = np.einsum("nij,nj->ni", self.expansion.hessians, moves)
        slopes, weights = self.expansion.gradients + images, self.problem.given.split(coef)[1]
        value = np.sum((self.expansion.gradients + 0.5 * images) * moves)
        by_user = users.sum(slopes) + 2 * penalties.user_l2 * weights
        gradient = np.vstack([slopes.sum(axis=0), by_user, slopes])
        return value + penalties.user_l2 * np.sum(weights**2), gradient


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("playlist_l1", [0.01, 0.15, 1.0])
def test_the_model_is_minimised(loss, playlist_l1):
    problem = SortedProblem(make_objective(1, loss=loss, playlist_l1=playlist_l1))
    losses = ExactLosses(problem.objective, problem.features)
    at = coefficients_of(problem, make_coef(problem.given, scale=0.2))
    expansion = losses.expand(at.shared + problem.users.spread(at.user) + at.playlist)
    model = ExactModel(expansion, at, problem.users, problem.penalties, fixed_shared=False)
    step, gains = model.minimise()
    slow = _Quadratic(problem, expansion, at)
    best, _ = minimise_split(slow)
    start = slow.value_and_gradient(slow.at)[0] + np.sum(np.abs(slow.at) * slow.l1)
    assert gains.sum() == pytest.approx(start - best, rel=1e-5)
    assert ((at.playlist + step.playlist) == 0).any()


def test_the_bound_allows_for_the_curvature_within_the_step():
    gains = np.array([1.0, 1.0, 1.0, np.nan])
    bounds = suboptimality(gains, np.array([0.0, 1.0, 1.01, 0.5]))
    # e^t - 1 - t >= theta t^2 / 2 for |t| <= rho, with equality at t = -rho
    assert bounds[0] == pytest.approx(1.0, rel=1e-3)
    assert bounds[1] == pytest.approx(1 / (2 * np.exp(-1)))
    assert bounds[2] == np.inf
    assert not bounds[3] <= 1.0


def test_users_of_fixed_shared_weights_do_not_touch_each_other():
    objective = make_objective(3)
    problem = SortedProblem(objective)
    losses = ExactLosses(problem.objective, problem.features)
    newton = ExactNewton(losses, problem.users, problem.penalties, fixed_shared=True)
    at = coefficients_of(problem, make_coef(objective))
    move = newton.step(at, losses.expand(newton.weights(at)))
    other = Coefficients(at.shared, at.user.copy(), at.playlist)
    other.user[0] += 0.5
    other_move = newton.step(other, losses.expand(newton.weights(other)))
    np.testing.assert_array_equal(move.at.shared, at.shared)
    np.testing.assert_allclose(move.at.user[1:], other_move.at.user[1:], atol=1e-9)
    assert not np.array_equal(move.at.user[0], other_move.at.user[0])
    assert (move.decreases > 0).all()


def test_only_small_problems_have_exact_hessians(monkeypatch):
    objective = make_objective(0)
    assert is_small(objective)
    monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 10)
    assert not is_small(objective)
    monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 1e9)
    monkeypatch.setattr(_exact, "MOST_WEIGHTS", 10)
    assert not is_small(objective)
