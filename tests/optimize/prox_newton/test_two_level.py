"""The two-level proximal step against an independent minimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from skmtc.optimize.prox_newton._user_step import playlist_totals, user_totals

STARTS, COUNTS = np.array([0, 3, 4]), np.array([3, 1, 5])


def _case(seed):
    rng = np.random.default_rng(seed)
    targets = rng.normal(size=(9, 4))
    return targets, rng.uniform(0.1, 10, size=targets.shape), rng.normal(size=4)


def _cost(total, targets, metric, shared, user_l2, playlist_l1):
    away = np.sign(targets - total) * np.maximum(np.abs(targets - total) - playlist_l1 / metric, 0)
    return (
        0.5 * metric @ (total + away - targets) ** 2
        + playlist_l1 * np.abs(away).sum()
        + user_l2 * (total - shared) ** 2
    )


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("user_l2", [1e-3, 0.5, 100.0])
@pytest.mark.parametrize("playlist_l1", [0.0, 0.3, 50.0])
def test_user_totals_minimise_the_definition(seed, user_l2, playlist_l1):
    targets, metric, shared = _case(seed)
    totals = user_totals(
        np.zeros((3, 4)),
        targets,
        metric,
        shared,
        STARTS,
        COUNTS,
        user_l2=user_l2,
        playlist_l1=playlist_l1,
        n_steps=300,
    )
    for u, (start, count) in enumerate(zip(STARTS, COUNTS, strict=True)):
        rows = slice(start, start + count)
        for j in range(4):
            args = (targets[rows, j], metric[rows, j], shared[j], user_l2, playlist_l1)
            best = minimize_scalar(_cost, args=args, bounds=(-9, 9), options={"xatol": 1e-10})
            assert _cost(totals[u, j], *args) <= best.fun + 1e-8


def test_playlist_totals_are_soft_thresholds():
    targets, metric, _ = _case(2)
    totals = np.zeros((3, 4))
    new = playlist_totals(totals, targets, metric, COUNTS, playlist_l1=1.0)
    expected = np.sign(targets) * np.maximum(np.abs(targets) - 1.0 / metric, 0)
    np.testing.assert_allclose(new, expected)
    assert (new == 0).any()
