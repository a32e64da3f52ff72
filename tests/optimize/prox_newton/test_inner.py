"""The inner problem."""

import numpy as np
import pytest
from problems import make_coef, make_objective

from skmtc._kernels import loading
from skmtc.optimize.prox_newton import _problem, _user_step
from skmtc.optimize.prox_newton._inner import InnerProblem
from skmtc.optimize.prox_newton._problem import SortedProblem, user_values
from skmtc.optimize.prox_newton._surrogate import Expansion


def _inner(objective):
    problem = SortedProblem(objective)
    point = problem.evaluate(*problem.totals_of(make_coef(objective, scale=0.1)))
    n = objective.n_playlists
    expansion = Expansion(
        point.totals.playlist,
        point.log_negative,
        point.mean,
        np.ones(n),
        None,
        None,
        np.cov(problem.features.T),
    )
    return InnerProblem(problem, expansion, problem.objective.tiled_pass.threads), point, np.ones(n)


def _value(inner, totals, shared):
    problem = inner.problem
    losses = np.concatenate(
        [
            inner._block_surrogate(block).evaluate(totals.playlist[block.playlists]).value
            for block in problem.blocks
        ]
    )
    values = user_values(losses, totals, shared, problem.users, problem.penalties)
    return values.sum() + problem.penalties.shared_l1 * np.abs(shared).sum()


def test_the_decrease_is_that_of_the_surrogate():
    inner, point, ones = _inner(make_objective(0))
    totals, shared, decrease, _ = inner.minimise(point.totals, point.shared, ones)
    before, after = _value(inner, point.totals, point.shared), _value(inner, totals, shared)
    assert decrease > 0
    np.testing.assert_allclose(before - after, decrease)


def test_a_shift_of_the_shared_weights_keeps_all_others():
    inner, point, _ = _inner(make_objective(1))
    totals, shared, gain = inner.shift_shared(point.totals, point.shared)
    assert gain > 0
    np.testing.assert_allclose(totals.user - shared, point.totals.user - point.shared)
    spread = inner.problem.users.spread
    np.testing.assert_allclose(
        totals.playlist - spread(totals.user),
        point.totals.playlist - spread(point.totals.user),
    )
    before, after = _value(inner, point.totals, point.shared), _value(inner, totals, shared)
    np.testing.assert_allclose(before - after, gain)
    # A second shift has nothing left to gain.
    assert inner.shift_shared(totals, shared)[2] < 0.05 * gain


def test_blocks_change_nothing_but_when_a_sweep_ends(monkeypatch):
    monkeypatch.setattr(_user_step, "SHORTEST_STEP", -1.0)  # never before all steps are made
    inner, point, ones = _inner(make_objective(2))
    whole = inner.minimise(point.totals, point.shared, ones)
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 3)
    cut, _, _ = _inner(make_objective(2, n_jobs=2))
    assert len(cut.problem.blocks) > 1
    parts = cut.minimise(point.totals, point.shared, ones)
    np.testing.assert_allclose(parts[0].playlist, whole[0].playlist, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(parts[2], whole[2])


def _read_only(array, tmp_path):
    array = array.copy()
    array.flags.writeable = False
    return array


def _mapped(array, tmp_path):
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def _unaligned(array, tmp_path):
    raw = np.empty(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)
    raw[...] = array
    assert not raw.flags.aligned
    return raw


@pytest.mark.parametrize("converted", [_read_only, _mapped, _unaligned])
@pytest.mark.parametrize("limit", [0, 10**9])
def test_features_may_be_kept_in_any_way(converted, limit, monkeypatch, tmp_path):
    monkeypatch.setattr(loading, "WORTHWHILE_WEIGHTS", limit)
    inner, point, ones = _inner(make_objective(4))
    before = [array.copy() for array in (*point.totals, ones)]
    end = inner.sweep(point.totals, point.shared, ones)
    assert end.gains.sum() > 0
    for one, other in zip(before, (*point.totals, ones), strict=True):
        np.testing.assert_array_equal(one, other)  # a sweep works on copies
    kinds = list(loading.compiled_sweep().signatures)
    there, _, _ = _inner(make_objective(4))
    there.problem.objective.features = converted(there.problem.objective.features, tmp_path)
    again = there.sweep(point.totals, point.shared, ones)
    for one, other in zip((*end.totals, *end[1:]), (*again.totals, *again[1:]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert list(loading.compiled_sweep().signatures) == kinds  # or it would compile for seconds


def test_songs_are_kept_while_there_is_room(monkeypatch):
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 6)
    monkeypatch.setattr(_problem, "KEPT_ROWS", 0)
    monkeypatch.setattr(_problem, "KEPT_BYTES", 0)
    problem = SortedProblem(make_objective(4))
    first, second, *_ = problem.blocks
    size = problem.positives_of(first).nbytes
    assert problem.positives_of(first) is not problem.positives_of(first)
    monkeypatch.setattr(_problem, "KEPT_BYTES", size)
    some = SortedProblem(make_objective(4))
    assert some.positives_of(first) is some.positives_of(first)
    assert some.positives_of(second) is not some.positives_of(second)
