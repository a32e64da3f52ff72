"""Weights of songs outside playlists: transcriptions, copies of songs, and every solver."""

import numpy as np
import pytest
from problems import Transcribed, make_coef, make_objective, make_problem, minimise_split
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array, hstack

from skmtc._kernels import loading
from skmtc.optimize import MultitaskObjective, solve_owlqn, solve_prox_newton
from skmtc.optimize._risks import playlist_losses, risk_terms
from skmtc.optimize.prox_newton import _exact, _prox_newton
from skmtc.optimize.prox_newton._exact_losses import ExactLosses
from skmtc.optimize.prox_newton._fixed_shared import FixedShared, solve_users
from skmtc.optimize.prox_newton._problem import SortedProblem

LOSSES = ["classification", "ranking"]
FORMS = [np.asarray, csr_array]
RISKS = ["classification", "p-norm push", "bottom-push", "bottom-push exponential"]
PENALTIES = {"user_l2": 0.4, "playlist_l1": 0.15, "shared_l1": 0.02}


def _song_weight(n_songs=25, seed=3):
    """Draw weights of songs, a third of them zero; song 0 is in no playlist."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 3.0, n_songs) * (rng.random(n_songs) > 1 / 3)
    weight[0] = 1.5
    return weight


@pytest.fixture(params=["small", "large", "compiled"])
def size(request, monkeypatch):
    """Solve small problems as they are, as if they were large, and by compiled loops."""
    if request.param != "small":
        monkeypatch.setattr(_exact, "MOST_WEIGHTS", 0)
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(loading, "WORTHWHILE_WEIGHTS", 0)
    return request.param


def _weighted(seed, **parameters):
    return make_objective(seed, song_weight=_song_weight(), **parameters)


@pytest.mark.parametrize("push", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", FORMS)
def test_value_and_gradient_equal_the_formula(form, loss, push):
    objective = _weighted(0, loss=loss, push=push, features=form)
    coef = make_coef(objective, scale=0.2)
    value, gradient = objective.value_and_gradient(coef)
    slow = Transcribed(objective)
    expected, slopes = slow.value_and_gradient(coef)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes, atol=1e-12 * np.abs(slopes).max())

    def smooth(flat):
        return objective.value_and_gradient(flat.reshape(objective.shape))[0]

    differences = approx_fprime(coef.ravel(), smooth, 1e-7).reshape(objective.shape)
    tolerance = 2e-6 * max(1, np.abs(differences).max())
    np.testing.assert_allclose(gradient, differences, atol=tolerance)


@pytest.mark.parametrize("loss", LOSSES)
def test_weight_two_is_the_song_twice(loss):
    features, membership, owners = make_problem(1)
    weight = np.ones(25)
    weight[[0, 7]] = 2.0
    # The copy of song 7 must be in no playlist that song 7 is in, so leave these playlists out.
    rows = np.flatnonzero(membership.toarray()[:, 7] == 0)
    _, owners = np.unique(owners[rows], return_inverse=True)
    membership = membership[rows]
    twice = hstack([membership, csr_array((len(rows), 2))])
    weighted = MultitaskObjective(features, membership, owners, song_weight=weight, loss=loss)
    copied = MultitaskObjective(
        np.vstack([features, features[[0, 7]]]), csr_array(twice), owners, loss=loss
    )
    coef = make_coef(weighted)
    np.testing.assert_allclose(weighted.value(coef), copied.value(coef))
    for kind in RISKS:
        np.testing.assert_allclose(weighted.risk(coef, kind), copied.risk(coef, kind))


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_weights_change_nothing(loss):
    plain, weighted = (
        make_objective(2, loss=loss, song_weight=weight) for weight in (None, np.full(25, 7.0))
    )
    coef = make_coef(plain)
    np.testing.assert_allclose(weighted.value(coef), plain.value(coef))
    fits = [solve_prox_newton(objective, tol=1e-9) for objective in (plain, weighted)]
    np.testing.assert_allclose(fits[1].objective, fits[0].objective, rtol=1e-9)


def test_songs_without_weight_may_have_any_scores():
    features, membership, owners = make_problem(4)
    unused = np.flatnonzero(membership.sum(axis=0) == 0)
    weight = np.ones(25)
    weight[unused] = 0.0
    far = features.copy()
    far[unused] = 1e6
    near, away = (
        solve_prox_newton(
            MultitaskObjective(x, membership, owners, song_weight=weight, **PENALTIES), tol=1e-6
        )
        for x in (features, far)
    )
    assert away.converged
    np.testing.assert_allclose(away.objective, near.objective, rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_derivatives(loss):
    problem = SortedProblem(_weighted(3, loss=loss, push=2.0))
    losses = ExactLosses(problem.objective, problem.features)
    weights = np.random.default_rng(0).normal(scale=0.3, size=(12, problem.features.shape[1]))
    at = losses.expand(weights)
    expected, gradients = playlist_losses(problem.objective, risk_terms(problem.objective, weights))
    np.testing.assert_allclose(at.losses, expected)
    np.testing.assert_allclose(at.gradients, gradients, atol=1e-12)
    step = 1e-6
    for feature in range(weights.shape[1]):
        moved = weights.copy()
        moved[:, feature] += step
        rise = (losses.gradients(moved)[1] - at.gradients) / step
        np.testing.assert_allclose(at.hessians[:, feature], rise, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("size")
def test_points_that_need_no_pass(loss, form, dtype):
    problem = SortedProblem(_weighted(5, loss=loss, features=lambda x: form(x.astype(dtype))))
    shared = np.random.default_rng(0).normal(scale=0.3, size=problem.features.shape[1])
    point = problem.evaluate_common(shared)
    passed = problem.evaluate(point.totals, shared)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    for name in ("log_negative", "mean", "losses", "gradients"):
        expected = getattr(passed, name)
        np.testing.assert_allclose(getattr(point, name), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("size")
def test_solvers_agree_with_the_oracle(loss, dtype):
    objective = _weighted(5, loss=loss, features=lambda x: x.astype(dtype))
    best, _ = minimise_split(Transcribed(objective))
    tol = 1e-5 if dtype == np.float64 else 1e-4
    result = solve_prox_newton(objective, tol=tol)
    assert result.converged
    assert Transcribed(objective).value(result.coef) <= best * (1 + tol)
    gaps = np.array(result.history["dual_gap"])
    values = np.array(result.history["objective"])
    assert np.all(values * (1 - gaps) <= best * (1 + 1e-7 if dtype == np.float64 else 1 + 1e-5))
    slow = solve_owlqn(objective, tol=1e-5, max_iter=5000)
    assert slow.objective == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.usefixtures("size")
def test_users_with_fixed_shared_weights(loss):
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
        song_weight=_song_weight(),
    )
    result = solve_users(objective, tol=1e-5)
    oracle = Transcribed(objective, shared)
    best, _ = minimise_split(oracle)
    assert result.converged
    assert oracle.value(result.coef) <= best * (1 + 1e-5)


@pytest.mark.parametrize("compiled", [False, True])
def test_sampled_iterations_keep_the_weights(compiled, monkeypatch):
    # As in a fit on a sample of songs: most have no weight, own songs count in full.
    shape = {"n_playlists": 60, "n_users": 20, "n_songs": 4000, "n_features": 3}
    features, _, owners = make_problem(6, **shape)
    rng = np.random.default_rng(0)
    held = np.zeros((60, 4000), dtype=np.int32)
    for row in held:
        row[np.argsort(-(features @ rng.normal(size=3) + rng.gumbel(size=4000)))[:15]] = 1
    weight = np.where(rng.random(4000) < 0.3, rng.uniform(1, 4, 4000), 0.0)
    monkeypatch.setattr(_exact, "MOST_WEIGHTS", 0)
    monkeypatch.setattr(_prox_newton, "SONGS_PER_FEATURE", 5)
    monkeypatch.setattr(_prox_newton, "FINE_SONGS_PER_FEATURE", 8)
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr(loading, "WORTHWHILE_WEIGHTS", 0)
    objective = MultitaskObjective(
        features.astype(np.float32), csr_array(held), owners, song_weight=weight, **PENALTIES
    )
    fits = [solve_prox_newton(objective, tol=1e-3, random_state=0)]
    objective.n_jobs = 2
    fits.append(solve_prox_newton(objective, tol=1e-3, random_state=0))
    np.testing.assert_array_equal(fits[1].coef, fits[0].coef)
    assert 0 < fits[0].history["passes"][0] < 3
    slow = solve_owlqn(objective, tol=1e-5, max_iter=5000)
    assert fits[0].converged
    assert fits[0].objective <= slow.objective * (1 + 1e-3)


def test_passes_leave_out_songs_without_weight():
    objective = _weighted(0)
    assert objective.tiled_pass.n_songs == np.count_nonzero(objective.song_weight)
    some = objective.reordered(np.arange(12)[::-1])
    np.testing.assert_array_equal(some.negative_weights, objective.negative_weights[::-1])


@pytest.mark.parametrize(
    "weight", [np.ones(24), np.full(25, np.nan), -np.ones(25), np.ones((25, 1))]
)
def test_bad_weights(weight):
    with pytest.raises(ValueError, match="one number per song"):
        make_objective(0, song_weight=weight)


def test_a_playlist_with_all_sampled_songs():
    features, membership, owners = make_problem(0)
    weight = np.zeros(25)
    weight[membership.indices[:2]] = 1.0
    with pytest.raises(ValueError, match="Sample more songs"):
        MultitaskObjective(features, membership, owners, song_weight=weight)
