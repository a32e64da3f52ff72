"""The sorted problem and its points."""

import numpy as np
import pytest
from problems import make_coef, make_objective

from skmtc.optimize import MultitaskObjective
from skmtc.optimize.prox_newton import _problem
from skmtc.optimize.prox_newton._problem import SortedProblem, Totals


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_values_and_coefficients_survive_sorting(fit_intercept):
    objective = make_objective(0, fit_intercept=fit_intercept)
    problem = SortedProblem(objective)
    coef = make_coef(objective)
    point = problem.evaluate(*problem.totals_of(coef))
    assert problem.value(point) / objective.n_playlists == pytest.approx(objective.value(coef))
    np.testing.assert_allclose(problem.coef_of(point), coef, atol=1e-15)
    owners = objective.user_of_playlist[problem.order]
    assert (np.diff(owners) >= 0).all()
    np.testing.assert_array_equal(problem.users.spread(np.arange(5)), owners)


@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_common_point_needs_no_pass(loss, fit_intercept):
    objective = make_objective(1, loss=loss, push=2.0, fit_intercept=fit_intercept)
    problem = SortedProblem(objective)
    shared = np.random.default_rng(0).normal(size=problem.given.n_features)
    common = problem.evaluate_common(shared)
    full = problem.evaluate(common.totals, shared)
    for quick, slow in zip(common[2:], full[2:], strict=True):
        np.testing.assert_allclose(quick, slow, rtol=1e-9, atol=1e-12)


def test_some_rows_are_evaluated_alone():
    problem = SortedProblem(make_objective(2, loss="ranking"))
    totals, shared = problem.totals_of(make_coef(problem.given))
    rows = np.array([9, 1, 4])
    some = problem.evaluate(Totals(totals.playlist[rows], totals.user), shared, rows=rows)
    full = problem.evaluate(totals, shared)
    for part, whole in zip(some[2:], full[2:], strict=True):
        np.testing.assert_allclose(part, whole[rows])


def test_blocks_hold_whole_users(monkeypatch):
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 3)
    problem = SortedProblem(make_objective(3))
    assert len(problem.blocks) > 1
    assert problem.blocks[0].playlists.start == problem.blocks[0].users.start == 0
    for block, following in zip(problem.blocks, problem.blocks[1:], strict=False):
        assert block.playlists.stop == following.playlists.start
        assert block.users.stop == following.users.start
    for block in problem.blocks:
        counts = problem.users.counts[block.users]
        assert counts.sum() == block.playlists.stop - block.playlists.start
        np.testing.assert_array_equal(block.local.counts, counts)
        np.testing.assert_array_equal(block.local.starts, np.cumsum(counts) - counts)
    assert problem.blocks[-1].playlists.stop == problem.given.n_playlists


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_a_common_point_is_exact_where_little_is_left_outside(dtype, loss):
    # The other songs hold a part in 10^17 of the mass, far less than rounding.
    features = np.array([[3.0], [2.0], [-2.0], [-3.0]], dtype=dtype)
    objective = MultitaskObjective(features, [[1, 1, 0, 0]], [0], fit_intercept=False, loss=loss)
    problem = SortedProblem(objective)
    shared = np.array([8.0])
    common = problem.evaluate_common(shared)
    full = problem.evaluate(common.totals, shared)
    rtol = 1e-9 if dtype is np.float64 else 1e-5
    for quick, slow in zip(common[2:], full[2:], strict=True):
        np.testing.assert_allclose(quick, slow, rtol=rtol)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loss", ["classification", "ranking"])
def test_a_common_point_of_which_nothing_is_left_outside(seed, loss):
    # The difference of sums is 0 or rounding, that of their gradients is not: neither overflows.
    features = np.random.default_rng(seed).normal(size=(8, 2)).astype(np.float32)
    features[-1] = -5.0
    objective = MultitaskObjective(features, [[1] * 7 + [0]], [0], fit_intercept=False, loss=loss)
    problem = SortedProblem(objective)
    common = problem.evaluate_common(np.array([4.0, 4.0]))
    full = problem.evaluate(common.totals, common.shared)
    for quick, slow in zip(common[2:], full[2:], strict=True):
        np.testing.assert_allclose(quick, slow, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("compiled", [False, True])
def test_sums_that_underflow_have_a_logarithm_and_a_mean(dtype, compiled):
    # Songs outside the playlist score -2000, so that their exponentials are 0.
    features = np.array([[1.0], [1.0], [-1.0], [-1.0]], dtype=dtype)
    objective = MultitaskObjective(features, [[1, 1, 0, 0]], [0], fit_intercept=False)
    problem = SortedProblem(objective, compiled=compiled)
    point = problem.evaluate(*problem.totals_of(np.array([[2000.0], [0.0], [0.0]])))
    for part in point[2:]:
        assert np.isfinite(part).all()
    assert problem.value(point) == pytest.approx(2000 * objective.shared_l1)
