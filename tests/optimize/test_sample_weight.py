"""Weights of playlists: finite differences, copies of playlists, and every solver."""

import numpy as np
import pytest
from problems import make_coef, make_objective, make_problem, minimise_split, transcribed_risk
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array, vstack

from skmtc.optimize import MultitaskObjective, solve_owlqn, solve_prox_newton
from skmtc.optimize._risks import playlist_losses, risk_terms
from skmtc.optimize.prox_newton import _exact
from skmtc.optimize.prox_newton._exact_losses import ExactLosses
from skmtc.optimize.prox_newton._fixed_shared import FixedShared, solve_users
from skmtc.optimize.prox_newton._problem import SortedProblem

LOSSES = ["classification", "ranking"]
PENALTIES = {"user_l2": 0.4, "playlist_l1": 0.15, "shared_l1": 0.02}


def _weights(n_playlists, seed=3):
    return np.random.default_rng(seed).uniform(0.2, 3.0, n_playlists)


def _weighted(seed, **parameters):
    return make_objective(seed, sample_weight=_weights(12), **parameters)


def _with_copy(playlist, **parameters):
    """Return a problem where one playlist has weight 2, and one where it stands twice."""
    features, membership, owners = make_problem(0)
    twice = vstack([membership, membership[[playlist]]])
    n = len(owners)
    weight = np.ones(n)
    weight[playlist] = 2.0
    # `shared_l1` is scaled by the number of playlists.
    more = parameters | {"shared_l1": parameters["shared_l1"] * n / (n + 1)}
    return (
        MultitaskObjective(features, membership, owners, sample_weight=weight, **parameters),
        MultitaskObjective(features, csr_array(twice), [*owners, owners[playlist]], **more),
    )


@pytest.mark.parametrize("push", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_equals_finite_differences(loss, push):
    objective = _weighted(0, loss=loss, push=push)
    coef = make_coef(objective, scale=0.2)

    def smooth(flat):
        return objective.value_and_gradient(flat.reshape(objective.shape))[0]

    expected = approx_fprime(coef.ravel(), smooth, 1e-7).reshape(objective.shape)
    gradient = objective.value_and_gradient(coef)[1]
    np.testing.assert_allclose(gradient, expected, atol=2e-6 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize(
    ("loss", "kind"), [("classification", "classification"), ("ranking", "p-norm push")]
)
def test_losses_are_the_papers_times_the_weights(loss, kind):
    features, membership, owners = make_problem(1)
    weight = _weights(len(owners))
    objective = MultitaskObjective(
        features, membership, owners, loss=loss, push=2.0, sample_weight=weight
    )
    coef = make_coef(objective)
    weights = objective.weights(coef)
    losses, _ = playlist_losses(objective, risk_terms(objective, weights))
    extended = np.hstack([features, np.ones((len(features), 1))])
    for i in range(len(owners)):
        risk = transcribed_risk(extended, membership[[i]], weights[[i]], 2.0, kind)
        np.testing.assert_allclose(losses[i], weight[i] * risk, rtol=1e-12)
    np.testing.assert_allclose(objective.risk(coef, kind), losses.mean())


@pytest.mark.parametrize("loss", LOSSES)
def test_weight_two_is_the_playlist_twice_but_for_its_penalty(loss):
    weighted, twice = _with_copy(4, loss=loss, **PENALTIES)
    coef = make_coef(weighted)
    copied = np.vstack([coef, coef[1 + weighted.n_users + 4]])
    own = 0.15 * np.abs(copied[-1]).sum()  # the copy pays for its weights once more
    assert own > 0
    total = weighted.n_playlists * weighted.value(coef)
    np.testing.assert_allclose(total, twice.n_playlists * twice.value(copied) - own)


@pytest.mark.parametrize("loss", LOSSES)
def test_without_playlist_weights_both_have_the_same_minimum(loss):
    strict = PENALTIES | {"playlist_l1": 1e3}  # no playlist has weights of its own
    weighted, twice = _with_copy(4, loss=loss, **strict)
    found = solve_prox_newton(weighted, tol=1e-9)
    expected = solve_prox_newton(twice, tol=1e-9)
    np.testing.assert_allclose(
        found.objective * weighted.n_playlists, expected.objective * twice.n_playlists, rtol=1e-8
    )
    rows = 1 + weighted.n_users
    np.testing.assert_allclose(found.coef[:rows], expected.coef[:rows], atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_weights_scale_the_penalties(loss):
    # 3 (loss + penalties) has the minimiser of loss + penalties.
    tripled = make_objective(
        2, loss=loss, sample_weight=np.full(12, 3.0), **{k: 3 * v for k, v in PENALTIES.items()}
    )
    plain = make_objective(2, loss=loss, **PENALTIES)
    coef = make_coef(plain)
    np.testing.assert_allclose(tripled.value(coef), 3 * plain.value(coef))
    found = solve_prox_newton(tripled, tol=1e-9)
    assert found.objective == pytest.approx(3 * solve_prox_newton(plain, tol=1e-9).objective)


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_derivatives(loss):
    problem = SortedProblem(_weighted(3, loss=loss, push=2.0))
    losses = ExactLosses(problem.objective, problem.features)
    weights = np.random.default_rng(0).normal(scale=0.3, size=(12, problem.features.shape[1]))
    at = losses.expand(weights)
    terms = risk_terms(problem.objective, weights)
    expected, gradients = playlist_losses(problem.objective, terms)
    np.testing.assert_allclose(at.losses, expected)
    np.testing.assert_allclose(at.gradients, gradients, atol=1e-12)
    step = 1e-6
    for feature in range(weights.shape[1]):
        moved = weights.copy()
        moved[:, feature] += step
        rise = (losses.gradients(moved)[1] - at.gradients) / step
        np.testing.assert_allclose(at.hessians[:, feature], rise, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("push", [1.0, 3.0])
def test_solvers_agree_with_the_oracle(loss, small, push, monkeypatch):
    if not small:
        monkeypatch.setattr(_exact, "MOST_WEIGHTS", 0)
    objective = _weighted(5, loss=loss, push=push)
    best, _ = minimise_split(objective)
    result = solve_prox_newton(objective, tol=1e-5)
    assert result.converged
    assert result.objective <= best * (1 + 1e-5)
    assert result.objective == pytest.approx(objective.value(result.coef), rel=1e-9)
    # The duality gap stays a bound.
    gaps = np.array(result.history["dual_gap"])
    values = np.array(result.history["objective"])
    assert np.all(values * (1 - gaps) <= best * (1 + 1e-9))
    slow = solve_owlqn(objective, tol=1e-5, max_iter=5000)
    assert slow.objective == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("small", [True, False])
def test_users_with_fixed_shared_weights(loss, small, monkeypatch):
    if not small:
        monkeypatch.setattr(_exact, "MOST_WEIGHTS", 0)
    features, membership, owners = make_problem(5)
    shared = np.random.default_rng(1).normal(scale=0.2, size=5)
    objective = FixedShared(
        features,
        membership,
        owners,
        shared=shared,
        user_l2=0.4,
        playlist_l1=0.15,
        loss=loss,
        sample_weight=_weights(12),
    )
    result = solve_users(objective, tol=1e-5)
    slow = solve_owlqn(objective, tol=1e-7, max_iter=5000)
    assert result.converged
    assert result.objective <= slow.objective * (1 + 1e-5)
    some = objective.take(np.flatnonzero(owners <= 1))
    np.testing.assert_array_equal(some.sample_weight, _weights(12)[owners <= 1])


@pytest.mark.parametrize(
    "weight", [np.ones(11), np.zeros(12), np.full(12, np.nan), -np.ones(12), np.ones((12, 1))]
)
def test_bad_weights(weight):
    with pytest.raises(ValueError, match="one positive number per playlist"):
        make_objective(0, sample_weight=weight)
