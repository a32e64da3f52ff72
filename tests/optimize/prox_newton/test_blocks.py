"""Blocks of users: the same sweep from any kind of arrays, and songs kept while there is room."""

import numpy as np
import pytest
from problems import make_coef, make_objective

from skmtc._kernels import loading
from skmtc.optimize.prox_newton import _problem
from skmtc.optimize.prox_newton._blocks import Blocks, Start, SweepRules
from skmtc.optimize.prox_newton._problem import SortedProblem
from skmtc.optimize.prox_newton._surrogate import Expansion


def _case(monkeypatch, **parameters):
    """Make the blocks of a problem, a start of the first, and rules."""
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 6)
    problem = SortedProblem(make_objective(4, **parameters))
    totals, shared = problem.totals_of(make_coef(problem.given, scale=0.1))
    point = problem.evaluate(totals, shared)
    block = problem.blocks[1]
    ones = np.ones(problem.given.n_playlists)
    covariance = np.cov(problem.features.T)
    expansion = Expansion(
        totals.playlist, point.log_negative, point.mean, ones, None, None, covariance
    ).take(block.playlists)
    own = type(totals)(totals.playlist[block.playlists], totals.user[block.users])
    start = Start(block, expansion, own, ones[block.playlists])
    return problem, start, SweepRules(shared, problem.penalties, 0.0)


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


def _rebuilt(part, convert):
    """Convert all arrays of nested tuples."""
    if isinstance(part, np.ndarray):
        return convert(part)
    if isinstance(part, tuple):
        parts = [_rebuilt(p, convert) for p in part]
        return type(part)(*parts)
    return part


@pytest.mark.parametrize("converged", [_read_only, _mapped, _unaligned])
@pytest.mark.parametrize("limit", [0, 10**9])
def test_arrays_may_arrive_in_any_way(converged, limit, monkeypatch, tmp_path):
    monkeypatch.setattr(loading, "WORTHWHILE_WEIGHTS", limit)
    problem, start, rules = _case(monkeypatch)
    end = problem.on_blocks.sweep(start, rules)
    kinds = list(loading.compiled_sweep().signatures)
    features = problem.objective.features
    there = Blocks(converged(features, tmp_path), problem.objective.membership, problem.rules)
    start, rules = (_rebuilt(part, lambda a: converged(a, tmp_path)) for part in (start, rules))
    again = there.sweep(start, rules)
    assert end.gains.sum() > 0
    for one, other in zip((*end.totals, *end[1:]), (*again.totals, *again[1:]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert list(loading.compiled_sweep().signatures) == kinds  # or it would compile for seconds


def test_a_sweep_changes_nothing_of_its_start(monkeypatch):
    monkeypatch.setattr(loading, "WORTHWHILE_WEIGHTS", 0)
    problem, start, rules = _case(monkeypatch)
    before = _rebuilt(start, np.copy)
    end = problem.on_blocks.sweep(start, rules)
    np.testing.assert_array_equal(start.totals.playlist, before.totals.playlist)
    np.testing.assert_array_equal(start.totals.user, before.totals.user)
    np.testing.assert_array_equal(start.damping, before.damping)
    assert (end.totals.user != start.totals.user).any()


def test_songs_are_kept_while_there_is_room(monkeypatch):
    problem, _, _ = _case(monkeypatch)
    first, second, *_ = problem.blocks
    size = problem.on_blocks._positives(first).nbytes
    objective = problem.objective
    some = Blocks(objective.features, objective.membership, problem.rules, room=size)
    assert some._positives(first) is some._positives(first)
    assert some._positives(second) is not some._positives(second)
    none = Blocks(objective.features, objective.membership, problem.rules)
    assert none._positives(first) is not none._positives(first)
