"""Users with the shared weights fixed: the optimum of each, and nothing but users moves."""

import numpy as np
import pytest
from problems import make_problem, minimise_split
from scipy.sparse import csr_array

from skmtc.optimize import solve_owlqn
from skmtc.optimize._risks import playlist_losses, risk_terms
from skmtc.optimize.prox_newton._fixed_shared import FixedShared, solve_users

PENALTIES = {"user_l2": 0.4, "playlist_l1": 0.1}


def _held(seed, *, features=np.asarray, shape=None, **parameters):
    drawn, membership, owners = make_problem(seed, **(shape or {}))
    shared = np.random.default_rng(seed).normal(scale=0.3, size=drawn.shape[1] + 1)
    return FixedShared(features(drawn), membership, owners, shared=shared, **PENALTIES | parameters)


def _user_parts(objective, coef):
    """Transcribe each user's part of the objective."""
    losses, _ = playlist_losses(objective, risk_terms(objective, objective.weights(coef)))
    _, user, playlist = objective.split(coef)
    costs = losses + objective.playlist_l1 * np.abs(playlist).sum(axis=1)
    by_user = np.bincount(objective.user_of_playlist, costs)
    return by_user + objective.user_l2 * np.sum(user**2, axis=1)


def test_the_gradient_of_held_weights_is_zero_and_the_rest_is_that_of_the_objective():
    objective = _held(0)
    coef = objective.zeros()
    coef[1:] += np.random.default_rng(1).normal(scale=0.3, size=coef[1:].shape)
    value, gradient = objective.value_and_gradient(coef)
    assert (gradient[0] == 0).all()
    for place in [(1, 0), (3, 2), (7, 4)]:
        step = np.zeros_like(coef)
        step[place] = 1e-6
        slope = (objective.value_and_gradient(coef + step)[0] - value) / 1e-6
        assert slope == pytest.approx(gradient[place], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("push", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("features", [np.asarray, csr_array])
def test_agrees_with_an_independent_oracle(push, loss, features):
    objective = _held(0, push=push, loss=loss, features=features)
    best = solve_owlqn(objective, tol=1e-7, max_iter=20_000)
    result = solve_users(objective, tol=1e-9)
    assert result.converged
    ours, theirs = (_user_parts(objective, r.coef) for r in (result, best))
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)
    np.testing.assert_array_equal(result.coef[0], objective.shared)
    np.testing.assert_array_equal(best.coef[0], objective.shared)
    assert result.objective == pytest.approx(ours.sum() / objective.n_playlists)


def test_agrees_with_lbfgsb_user_by_user():
    whole = _held(2, shape={"n_users": 3, "n_playlists": 7})
    result = solve_users(whole, tol=1e-10)
    for user in range(3):
        alone = whole.take(np.flatnonzero(whole.user_of_playlist == user))
        value, _ = minimise_split(_FromShared(alone))
        ours = _user_parts(whole, result.coef)[user]
        assert ours == pytest.approx(value * alone.n_playlists, rel=1e-8)


class _FromShared:
    """An objective by its distance from the start, for an oracle that starts at zero."""

    def __init__(self, objective):
        self.start = objective.zeros()
        self.objective, self.shape, self.l1 = objective, objective.shape, objective.l1

    def zeros(self):
        return np.zeros(self.shape)

    def value_and_gradient(self, coef):
        return self.objective.value_and_gradient(self.start + coef)


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_tol_holds_for_every_user(tol, loss):
    for seed in range(4):
        objective = _held(seed, loss=loss, playlist_l1=0.05)
        best = _user_parts(objective, solve_users(objective, tol=1e-10).coef)
        result = solve_users(objective, tol=tol)
        assert result.converged
        assert (_user_parts(objective, result.coef) <= (1 + tol) * best).all()


@pytest.mark.parametrize("user_l2", [0.3, 0.05, 0.01])
@pytest.mark.parametrize("playlist_l1", [0.5, 0.05])
def test_tol_holds_where_penalties_are_weak_and_directions_are_flat(user_l2, playlist_l1):
    def nearly_dependent(features):
        return features @ np.random.default_rng(7).normal(size=(12, 12)) / 3

    shape = {"n_songs": 60, "n_users": 8, "n_playlists": 24, "n_features": 12}
    for seed in range(4):
        objective = _held(
            seed,
            features=nearly_dependent,
            shape=shape,
            user_l2=user_l2,
            playlist_l1=playlist_l1,
        )
        best = solve_owlqn(objective, tol=1e-7, max_iter=20_000)
        result = solve_users(objective, tol=1e-3)
        assert result.converged
        ours, theirs = (_user_parts(objective, r.coef) for r in (result, best))
        assert (ours <= (1 + 1e-3) * theirs).all()


def test_a_user_does_not_depend_on_the_others():
    whole = _held(3)
    alone = whole.take(np.flatnonzero(whole.user_of_playlist == 2))
    together = _user_parts(whole, solve_users(whole, tol=1e-9).coef)[2]
    assert _user_parts(alone, solve_users(alone, tol=1e-9).coef)[0] == pytest.approx(
        together, rel=1e-8
    )


def test_the_solution_is_recognised_without_an_iteration():
    objective = _held(4)
    best = solve_users(objective, tol=1e-9)
    again = solve_users(objective, best.coef, tol=1e-4)
    assert again.converged
    assert again.n_iter == 0
    np.testing.assert_allclose(again.coef, best.coef, atol=1e-12)


def test_the_same_bits_for_any_number_of_threads():
    shape = {"n_playlists": 600, "n_users": 200}
    one, two = (
        solve_users(_held(5, shape=shape | {"dtype": np.float32}, n_jobs=n)) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.coef, two.coef)


def test_weights_that_overflow_are_left():
    objective = _held(6)
    objective.shared[:] = 300.0
    result = solve_users(objective, tol=1e-4)
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.objective)


def test_the_callback_can_stop_and_max_iter_is_kept():
    objective = _held(7)
    states = []
    result = solve_users(objective, tol=1e-12, callback=lambda s: states.append(s) or True)
    assert result.n_iter == 1
    assert not result.converged
    assert set(states[0]) == {"iteration", "objective", "optimality", "users", "seconds"}
    assert solve_users(objective, tol=1e-12, max_iter=2).n_iter == 2
