"""The fast solver: the optimum, descent, robustness, determinism."""

import warnings

import numpy as np
import pytest
from problems import make_coef, make_objective, make_problem, minimise_split
from scipy.sparse import csr_array

from skmtc._kernels import loading
from skmtc.optimize import MultitaskObjective, _pass, solve_owlqn, solve_prox_newton
from skmtc.optimize.prox_newton import _exact, _problem

PUSHES = [0.5, 1.0, 2.0, 8.0]


@pytest.fixture
def no_exact_hessians(monkeypatch):
    """Solve small problems as if they were large."""
    monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 0)


@pytest.fixture(params=["small", "as if large"])
def both_sizes(request):
    """Solve by exact Hessians, and by surrogates."""
    if request.param != "small":
        request.getfixturevalue("no_exact_hessians")


def _is_sound(objective, result):
    """Check what must hold whether or not it converged."""
    values = np.array(result.history["objective"])
    assert np.isfinite(result.coef).all()
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert result.objective == pytest.approx(objective.value(result.coef), rel=1e-6)
    # The dual never exceeds the objective, here or later.
    lowest = values * (1 - np.array(result.history["dual_gap"]))
    assert lowest.max() <= values.min() * (1 + 1e-6)
    assert result.converged or result.message != "optimality is at most tol"
    return True


@pytest.mark.usefixtures("both_sizes")
@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_agrees_with_an_independent_oracle(push, loss, convert):
    objective = make_objective(0, push=push, loss=loss, features=convert, playlist_l1=0.1)
    best, _ = minimise_split(objective)
    result = solve_prox_newton(objective, tol=1e-8)
    assert result.converged
    assert abs(result.objective - best) <= 1e-6 * best
    assert _is_sound(objective, result)


@pytest.mark.usefixtures("both_sizes")
@pytest.mark.parametrize("push", PUSHES)
def test_agrees_with_owlqn(push):
    objective = make_objective(1, push=push)
    slow = solve_owlqn(objective, tol=1e-6, max_iter=5000)
    fast = solve_prox_newton(objective, tol=1e-8)
    assert fast.objective == pytest.approx(slow.objective, rel=1e-6)
    # Weights of zero are exactly zero.
    zero = slow.coef == 0
    assert zero[6:].any()
    assert (fast.coef[6:][zero[6:]] == 0).mean() > 0.9


@pytest.mark.usefixtures("both_sizes")
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_tol_is_the_relative_suboptimality(tol, loss):
    for seed in range(4):
        objective = make_objective(seed, user_l2=0.1, playlist_l1=0.05, loss=loss)
        best = solve_prox_newton(objective, tol=1e-9).objective
        result = solve_prox_newton(objective, tol=tol)
        assert result.converged
        assert result.optimality <= tol
        assert result.objective <= best * (1 + tol)


@pytest.mark.usefixtures("both_sizes")
def test_users_of_one_and_of_many_playlists():
    rng = np.random.default_rng(0)
    features, held, _ = make_problem(2, n_playlists=760, n_users=60, n_songs=40)
    owners = np.concatenate([np.zeros(700, dtype=int), np.arange(1, 61)])
    order = rng.permutation(760)
    objective = MultitaskObjective(features, held[order], owners[order], user_l2=5.0, n_jobs=2)
    result = solve_prox_newton(objective, tol=1e-8)
    slow = solve_owlqn(objective, tol=1e-5, max_iter=5000)
    assert result.objective == pytest.approx(slow.objective, rel=1e-6)
    assert _is_sound(objective, result)


def _large():
    """Make a problem that is large enough for the sample of songs."""
    rng = np.random.default_rng(3)
    n_playlists, n_users, n_songs, n_features = 300, 40, 2500, 8
    features = rng.normal(size=(n_songs, n_features)).astype(np.float32)
    owners = np.concatenate([np.arange(n_users), rng.integers(0, n_users, n_playlists - n_users)])
    weights = rng.normal(scale=0.7, size=(n_users, n_features))[owners]
    scores = weights @ features.T + rng.gumbel(size=(n_playlists, n_songs))
    songs = np.argsort(-scores, axis=1)[:, :10]
    rows = np.repeat(np.arange(n_playlists), 10)
    return features, csr_array((np.ones(3000), (rows, songs.ravel()))), owners


@pytest.mark.usefixtures("no_exact_hessians")
def test_few_passes_are_enough():
    features, membership, owners = _large()
    objective = MultitaskObjective(features, membership, owners, n_jobs=2)
    result = solve_prox_newton(objective)
    assert result.converged
    assert result.history["passes"][-1] <= 5
    best = solve_prox_newton(objective, tol=1e-7).objective
    first = result.history["objective"][0]  # after the sampled stage and one full pass
    assert first <= 1.05 * best
    assert result.objective <= 1.001 * best
    assert _is_sound(objective, result)


@pytest.mark.usefixtures("no_exact_hessians")
@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_the_sample_serves_all_kinds_of_problems(loss, fit_intercept, convert):
    features, membership, owners = _large()
    features = np.where(np.abs(features) > 3, 10 * features, features)  # outliers
    objective = MultitaskObjective(
        convert(features), membership, owners, loss=loss, fit_intercept=fit_intercept, n_jobs=2
    )
    result = solve_prox_newton(objective)
    assert result.converged
    assert result.history["passes"][0] % 1 != 0  # it did start with a sample
    assert _is_sound(objective, result)
    assert result.objective <= 1.001 * solve_prox_newton(objective, tol=1e-6).objective


@pytest.mark.usefixtures("no_exact_hessians")
def test_compiled_loops_serve_sparse_features(monkeypatch):
    features, membership, owners = _large()
    features = np.where(np.abs(features) > 1, features, 0)
    monkeypatch.setattr(loading, "WORTHWHILE_WEIGHTS", 0)
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 64)
    sweep, calls = loading.compiled_sweep(), []

    def counted(*arguments):
        calls.append(arguments[0][0])  # the features
        return sweep(*arguments)

    monkeypatch.setattr(loading, "compiled_sweep", lambda: counted)
    sparse = solve_prox_newton(
        MultitaskObjective(csr_array(features), membership, owners, loss="ranking")
    )
    assert all(len(rows) < len(features) for rows in calls)  # the songs of a block alone
    n_calls = len(calls)
    assert n_calls > 0
    dense = solve_prox_newton(MultitaskObjective(features, membership, owners, loss="ranking"))
    assert len(calls) > n_calls
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-3)


def test_blocks_are_smaller_where_songs_have_many_features(monkeypatch):
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 16)
    monkeypatch.setattr(_problem, "BLOCK_FEATURES", 4)
    objectives = (make_objective(0, shape={"n_features": n, "n_users": 12}) for n in (3, 15))
    narrow, wide = (len(_problem.SortedProblem(objective).blocks) for objective in objectives)
    assert (narrow, wide) == (1, 4)  # 16 playlists in a block, or 16 / (16 / 4)


@pytest.mark.usefixtures("both_sizes")
def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(_pass, "BLOCK_ROWS", 64)
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 64)
    one, two, three = (
        solve_prox_newton(MultitaskObjective(*_large(), n_jobs=n_jobs)).coef for n_jobs in (1, 2, 3)
    )
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)


@pytest.mark.usefixtures("no_exact_hessians")
def test_the_seed_decides_the_sample_and_nothing_else():
    objective = MultitaskObjective(*_large())
    zero, again, one = (solve_prox_newton(objective, random_state=s) for s in (0, 0, 1))
    assert np.array_equal(zero.coef, again.coef)
    assert not np.array_equal(zero.coef, one.coef)
    assert zero.objective == pytest.approx(one.objective, rel=1e-3)


@pytest.mark.usefixtures("both_sizes")
def test_warm_starts_from_any_coefficients():
    objective = make_objective(4)
    best = solve_prox_newton(objective, tol=1e-8)
    again = solve_prox_newton(objective, best.coef, tol=1e-6)
    assert again.n_iter == 1
    for scale in (0.1, 3.0, 1e3, 1e200):
        start = make_coef(objective, scale=scale)
        result = solve_prox_newton(objective, start, tol=1e-8)
        assert result.objective == pytest.approx(best.objective, rel=1e-6)
        assert _is_sound(objective, result)


def test_the_callback_sees_every_iteration_and_can_stop():
    states = []

    def stop_after_two(state):
        states.append(state)
        return len(states) == 2

    result = solve_prox_newton(make_objective(5), tol=1e-12, callback=stop_after_two)
    assert [s["iteration"] for s in states] == [1, 2]
    assert states[-1]["objective"] == result.objective
    assert "callback" in result.message
    assert {"passes", "seconds", "optimality", "dual_gap", "restricted_gap"} <= set(states[0])


NASTY = {
    "outliers": lambda x: np.where(np.random.default_rng(0).random(x.shape) < 0.01, 40 * x, x),
    "all equal": lambda x: np.ones_like(x),
    "duplicated": lambda x: np.hstack([x, x]),
    "zero column": lambda x: np.hstack([x, np.zeros((len(x), 1))]),
    "wrong unit": lambda x: x * np.array([1e4, 1, 1, 1]),
    "far from zero": lambda x: x + 2000,
    "single precision outliers": lambda x: (x**5).astype(np.float32),
}


@pytest.mark.usefixtures("both_sizes")
@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("strength", [1.0, 1e-3])
@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_nasty_features_and_weak_penalties_end_well(name, strength, loss):
    penalties = {"user_l2": 0.5, "playlist_l1": 0.3, "shared_l1": 0.01}
    objective = make_objective(
        6,
        shape={"n_playlists": 40, "n_users": 10, "n_songs": 200},
        features=NASTY[name],
        loss=loss,
        **{k: v * strength for k, v in penalties.items()},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = solve_prox_newton(objective, max_iter=60)
    assert _is_sound(objective, result)
    assert result.objective <= objective.value(objective.zeros()) * (1 + 1e-9)


@pytest.mark.parametrize("shared_l1", [0.0, 0.01])
def test_no_penalty_on_users_and_playlists_reaches_the_minimum(shared_l1):
    shape = {"n_songs": 80, "n_features": 2}
    objective = make_objective(7, shape=shape, user_l2=0.0, playlist_l1=0.0, shared_l1=shared_l1)
    result = solve_prox_newton(objective, tol=1e-6)
    assert _is_sound(objective, result)
    assert result.objective == pytest.approx(minimise_split(objective)[0], rel=1e-4)


@pytest.mark.parametrize(
    ("features", "membership", "owners"),
    [
        ([[0.5], [-0.5]], [[1, 0]], [0]),  # two songs, one playlist
        ([[0.5], [-0.5]], [[1, 0], [0, 1]], [0, 0]),
        (np.arange(9.0)[:, None] / 9, [[1] * 8 + [0], [1] + [0] * 8], [0, 1]),  # all but one
        (np.zeros((4, 0)), [[1, 0, 0, 0]], [0]),  # the constant feature alone
    ],
)
def test_tiny_problems(features, membership, owners):
    objective = MultitaskObjective(features, membership, owners, user_l2=0.1, playlist_l1=0.1)
    result = solve_prox_newton(objective, tol=1e-7)
    assert result.converged
    assert _is_sound(objective, result)
    assert result.objective == pytest.approx(minimise_split(objective)[0], rel=1e-6)


def test_max_iter_is_kept():
    result = solve_prox_newton(make_objective(8), tol=1e-12, max_iter=2)
    assert result.n_iter == 2
    assert not result.converged
    assert "max_iter" in result.message
