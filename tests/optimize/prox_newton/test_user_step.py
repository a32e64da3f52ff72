"""Sweeps over users."""

import numpy as np
import pytest
from problems import make_coef, make_objective
from scipy.optimize import minimize

from skmtc.optimize.prox_newton._problem import (
    SortedProblem,
    Totals,
    Users,
    between,
    user_values,
)
from skmtc.optimize.prox_newton._surrogate import BlockSurrogate, Expansion, PaddedPositives
from skmtc.optimize.prox_newton._user_step import sweep_users


@pytest.fixture(autouse=True)
def overflow_is_quiet():
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        yield  # as in the threads that sweeps run in


def _case(seed=0, **parameters):
    objective = make_objective(seed, **parameters)
    problem = SortedProblem(objective)
    point = problem.evaluate(*problem.totals_of(make_coef(objective, scale=0.1)))
    covariance = np.cov(problem.features.T)
    n = objective.n_playlists
    expansion = Expansion(
        point.totals.playlist, point.log_negative, point.mean, np.ones(n), None, None, covariance
    )
    positives = PaddedPositives(problem.features, problem.objective.membership, objective.push)
    return problem, point, BlockSurrogate(expansion, positives, objective.loss)


def _value(problem, surrogate, totals, shared):
    losses = surrogate.evaluate(totals.playlist).value
    return user_values(losses, totals, shared, problem.users, problem.penalties)


def test_user_values_by_hand():
    users = Users(np.array([0, 2]), np.array([2, 1]))
    totals = Totals(np.array([[1.0], [2.0], [5.0]]), np.array([[1.0], [3.0]]))
    penalties = SortedProblem(make_objective(0)).penalties._replace(user_l2=10.0, playlist_l1=2.0)
    # Losses 1 + 2, distances 0 and 1, user 1 off shared; loss 4, distance 2, user 3 off shared.
    values = user_values(np.array([1.0, 2.0, 4.0]), totals, np.zeros(1), users, penalties)
    assert values.tolist() == [1 + 2 + 2 * (0 + 1) + 10 * 1, 4 + 2 * 2 + 10 * 9]


@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("push", [0.5, 2.0])
def test_many_steps_reach_the_minimum(loss, push):
    problem, point, surrogate = _case(loss=loss, push=push)
    ones = np.ones(problem.given.n_playlists)
    totals, gain = point.totals, 1.0
    before = _value(problem, surrogate, totals, point.shared).sum()
    swept = 0.0
    while gain > 1e-10:
        totals, gain, _, _ = sweep_users(
            surrogate, totals, point.shared, problem.users, problem.penalties, ones, n_steps=200
        )
        gain = gain.sum()
        swept += gain
    after = _value(problem, surrogate, totals, point.shared).sum()
    assert swept == pytest.approx(before - after)

    # A smooth approximation of the absolute value, minimised from where the sweep ended and from
    # the start, finds nothing better.
    n, d = totals.playlist.shape

    def smooth(flat):
        playlist, user = flat[: n * d].reshape(n, d), flat[n * d :].reshape(-1, d)
        at = surrogate.evaluate(playlist)
        away = playlist - problem.users.spread(user)
        soft = np.sqrt(away**2 + 1e-10)
        off = user - point.shared
        value = (
            at.value.sum()
            + problem.penalties.playlist_l1 * soft.sum()
            + problem.penalties.user_l2 * (off**2).sum()
        )
        pull = problem.penalties.playlist_l1 * away / soft
        slopes = [at.gradient + pull, 2 * problem.penalties.user_l2 * off - problem.users.sum(pull)]
        return value, np.concatenate([s.ravel() for s in slopes])

    start = np.concatenate([totals.playlist.ravel(), totals.user.ravel()])
    best = minimize(smooth, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000}).fun
    assert after <= best + 1e-5 * abs(best)


def test_a_few_steps_always_gain():
    for seed in range(5):
        problem, point, surrogate = _case(seed, user_l2=0.01, playlist_l1=0.01)
        ones = np.ones(problem.given.n_playlists)
        before = _value(problem, surrogate, point.totals, point.shared)
        totals, gain, _, _ = sweep_users(
            surrogate, point.totals, point.shared, problem.users, problem.penalties, ones, n_steps=5
        )
        after = _value(problem, surrogate, totals, point.shared)
        assert (after <= before).all()
        np.testing.assert_allclose(gain, before - after, atol=1e-12)
        assert gain.sum() > 0


def test_a_user_has_arrived_when_steps_are_short():
    problem, point, surrogate = _case()
    args = (point.shared, problem.users, problem.penalties, np.ones(problem.given.n_playlists))
    early = sweep_users(surrogate, point.totals, *args, n_steps=2, negligible=1e-9)
    assert not early.converged.any()
    late = sweep_users(surrogate, point.totals, *args, n_steps=500, negligible=1e-9)
    assert late.converged.all()
    # By then hardly anything is left to gain, and starting there is to have converged.
    again = sweep_users(surrogate, late.totals, *args, n_steps=1, negligible=1e-3)
    assert again.converged.all()
    assert again.gains.max() < 0.05 * early.gains.min()


def test_users_do_not_depend_on_each_other():
    problem, point, surrogate = _case()
    ones = np.ones(problem.given.n_playlists)
    args = (point.shared, problem.users, problem.penalties, ones)
    one, *_ = sweep_users(surrogate, point.totals, *args, n_steps=8)
    moved = Totals(point.totals.playlist.copy(), point.totals.user.copy())
    rows = problem.users.spread(np.arange(5)) == 2
    moved.playlist[rows] += 0.3
    moved.user[2] -= 0.2
    two, *_ = sweep_users(surrogate, moved, *args, n_steps=8)
    np.testing.assert_allclose(two.playlist[~rows], one.playlist[~rows])
    assert np.abs(two.playlist[rows] - one.playlist[rows]).max() > 1e-6


def test_steps_that_blow_up_are_taken_back():
    problem, point, surrogate = _case()
    tiny = np.full(problem.given.n_playlists, 1e-6)  # no damping at all
    totals, gain, damping, _ = sweep_users(
        surrogate, point.totals, point.shared, problem.users, problem.penalties, tiny, n_steps=8
    )
    assert np.isfinite(totals.playlist).all()
    assert (gain >= 0).all()
    assert (damping > tiny).all()


def test_between_is_exact_at_both_ends():
    problem, point, _ = _case()
    end = Totals(point.totals.playlist * np.pi, point.totals.user / 3)
    end.playlist[0] = np.nan
    share = np.array([0.0, 1.0, 0.5, 1.0, 0.0])
    mixed = between(point.totals, end, share, problem.users)
    np.testing.assert_array_equal(mixed.user[share == 0], point.totals.user[share == 0])
    np.testing.assert_array_equal(mixed.user[share == 1], end.user[share == 1])
    np.testing.assert_allclose(mixed.user[2], 0.5 * (point.totals.user[2] + end.user[2]))
    assert np.isfinite(mixed.playlist).all()
