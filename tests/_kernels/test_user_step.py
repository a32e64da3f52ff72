"""The compiled sweep against the one in numpy."""

import numpy as np
import pytest
from problems import make_coef, make_objective

from skmtc._kernels import loading
from skmtc._utils.threads import Threads
from skmtc.optimize import MultitaskObjective, solve_prox_newton
from skmtc.optimize.prox_newton._inner import SWEEP_STEPS, InnerProblem
from skmtc.optimize.prox_newton._problem import SortedProblem, Totals
from skmtc.optimize.prox_newton._surrogate import Expansion


@pytest.fixture(autouse=True)
def small_problems_are_worthwhile(monkeypatch):
    monkeypatch.setattr(loading, "WORTHWHILE_WEIGHTS", 0)
    monkeypatch.setattr(loading, "WORTHWHILE_EXPONENTIALS", 0)


def _case(*, pairs=False, scale=1.0, dtype=np.float64, **parameters):
    objective = make_objective(3, **parameters)
    if dtype == np.float32:
        objective = MultitaskObjective(
            np.asarray(objective.features[:, :-1], dtype=dtype),
            objective.membership,
            objective.user_of_playlist,
            **{k: getattr(objective, k) for k in ("user_l2", "playlist_l1", "shared_l1")},
            push=objective.push,
            loss=objective.loss,
        )
    problem = SortedProblem(objective)
    point = problem.evaluate(*problem.totals_of(make_coef(objective, scale=0.1)))
    n, d = point.totals.playlist.shape
    rng = np.random.default_rng(0)
    removed = added = None
    covariance = np.cov(problem.features.T).astype(dtype)
    if pairs:
        removed = (0.1 * rng.normal(size=(n, d)) @ covariance).astype(dtype)
        added = rng.normal(size=(n, d)).astype(dtype)
    expansion = Expansion(
        point.totals.playlist,
        point.log_negative.astype(dtype),
        point.mean,
        np.full(n, scale, dtype=dtype),
        removed,
        added,
        covariance,
    )
    return InnerProblem(problem, expansion, Threads(1)), point


def _sweep_one_by_one(inner, point, damping):
    """Sweep in numpy with a block for each user: then all users stop by themselves, too."""
    starts, counts = inner.problem.users
    n_users = len(counts)
    ends, gains, cautions = [], 0.0, []
    for u in range(n_users):
        block = inner.problem.blocks[0]._replace(
            playlists=slice(starts[u], starts[u] + counts[u]),
            users=slice(u, u + 1),
            local=type(inner.problem.users)(np.array([0]), counts[u : u + 1]),
        )
        start = Totals(point.totals.playlist[block.playlists], point.totals.user[block.users])
        end, gain, new_caution, _ = inner.sweep_block(
            block,
            start,
            point.shared.astype(inner.problem.dtype),
            damping[block.playlists],
            n_steps=SWEEP_STEPS,
        )
        ends.append(end)
        gains += gain.sum()
        cautions.append(new_caution)
    totals = Totals(*(np.concatenate(parts) for parts in zip(*ends, strict=True)))
    return totals, gains, np.concatenate(cautions)


@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("playlist_l1", [0.0, 0.3])
def test_it_ends_where_numpy_ends(loss, pairs, playlist_l1, monkeypatch):
    inner, point = _case(loss=loss, pairs=pairs, playlist_l1=playlist_l1, push=2.0)
    damping = np.ones(len(point.losses))
    compiled = inner.sweep(point.totals, point.shared, damping)
    monkeypatch.setattr(loading, "compiled_sweep", lambda: None)
    with np.errstate(all="ignore"):
        totals, gain, new_caution = _sweep_one_by_one(inner, point, damping)
    assert gain > 0
    np.testing.assert_allclose(compiled[0].playlist, totals.playlist, atol=1e-6)
    np.testing.assert_allclose(compiled[0].user, totals.user, atol=1e-6)
    assert compiled[1].sum() == pytest.approx(gain)
    np.testing.assert_array_equal(compiled[2], new_caution)


def test_it_returns_which_users_converged():
    inner, point = _case()
    damping = np.ones(len(point.losses))
    assert not inner.sweep(point.totals, point.shared, damping, n_steps=2).converged.any()
    assert inner.sweep(point.totals, point.shared, damping, n_steps=500).converged.all()


def test_single_precision(monkeypatch):
    inner, point = _case(dtype=np.float32)
    damping = np.ones(len(point.losses), dtype=np.float32)
    totals, gains, _, _ = inner.sweep(point.totals, point.shared, damping)
    assert totals.playlist.dtype == totals.user.dtype == np.float32
    monkeypatch.setattr(loading, "compiled_sweep", lambda: None)
    expected, expected_gain, _ = _sweep_one_by_one(inner, point, damping)
    np.testing.assert_allclose(totals.playlist, expected.playlist, atol=1e-4)
    assert gains.sum() == pytest.approx(expected_gain, rel=1e-4)


def test_users_who_went_too_far_come_back():
    inner, point = _case()
    timid = np.full(len(point.losses), 1e-4)  # a metric so small that every step is too long
    totals, gains, damping, _ = inner.sweep(point.totals, point.shared, timid)
    assert (gains >= 0).all()
    assert np.isfinite(totals.playlist).all()
    assert (damping == 1.5 * timid).any()


def test_overflow_leaves_users_where_they_are():
    inner, point = _case()
    inner.expansion = inner.expansion._replace(log_negative=np.full(len(point.losses), 1e4))
    damping = np.ones(len(point.losses))
    totals, gains, _, _ = inner.sweep(point.totals, point.shared, damping)
    assert (gains == 0).all()
    np.testing.assert_array_equal(totals.playlist, point.totals.playlist)


@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_the_solver_finds_the_same_without_numba(loss, monkeypatch):
    objective = make_objective(1, loss=loss)
    with_numba = solve_prox_newton(objective, tol=1e-7)
    monkeypatch.setattr(loading, "compiled_sweep", lambda: None)
    monkeypatch.setattr(loading, "compiled_exp", lambda: None)
    without = solve_prox_newton(make_objective(1, loss=loss), tol=1e-7)
    assert with_numba.objective == pytest.approx(without.objective, rel=1e-7)
