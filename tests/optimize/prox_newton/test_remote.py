"""Sweeps elsewhere: the same bits, whoever makes them and whoever is lost."""

import pickle
from functools import cache
from itertools import chain

import numpy as np
import pytest
from clusters import Deadly
from joblib import parallel_config
from problems import make_problem
from scipy.sparse import csr_array

from skmtc._kernels import loading
from skmtc.optimize import MultitaskObjective
from skmtc.optimize import solve_prox_newton as solve
from skmtc.optimize.prox_newton import _exact, _inner, _problem, _remote
from skmtc.optimize.prox_newton._blocks import Block, Start
from skmtc.optimize.prox_newton._fixed_shared import FixedShared, solve_users
from skmtc.optimize.prox_newton._remote import _shards, sweep_shard
from skmtc.optimize.prox_newton._surrogate import Expansion
from skmtc.optimize.prox_newton._user_step import Totals, Users

SHAPE = {"n_playlists": 400, "n_users": 150, "n_songs": 60, "n_features": 6}
CASES = {
    "numpy": {},
    "compiled": {"compiled": True},
    "ranking": {"loss": "ranking", "push": 2.0},
    "compiled ranking": {"compiled": True, "loss": "ranking"},
    "sparse, no constant": {"convert": csr_array, "fit_intercept": False},
}


@pytest.fixture(autouse=True)
def no_exact_hessians(monkeypatch):
    """Solve small problems as if they were large: only these leave the caller."""
    monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 0)


@pytest.fixture
def sent(monkeypatch):
    """Collect what is sent out for sweeps."""
    tasks = []
    whole = _inner.sweep_elsewhere

    def collect(workers, *rest):
        tasks.append((len(workers), rest))
        return whole(workers, *rest)

    monkeypatch.setattr(_inner, "sweep_elsewhere", collect)
    return tasks


def _coef(case, n_jobs=2, block=40):
    parameters = {"convert": np.asarray, "compiled": False} | CASES[case]
    features, membership, owners = make_problem(5, **SHAPE, dtype=np.float32)
    features = parameters.pop("convert")(features)
    with pytest.MonkeyPatch.context() as patch:
        limit = 0 if parameters.pop("compiled") else 10**9
        patch.setattr(loading, "WORTHWHILE_WEIGHTS", limit)
        patch.setattr(_problem, "BLOCK_PLAYLISTS", block)
        objective = MultitaskObjective(
            features, membership, owners, playlist_l1=0.3, n_jobs=n_jobs, **parameters
        )
        return solve(objective, tol=1e-4, max_iter=4).coef


@cache
def _coef_here(case):
    # Workers load compiled loops that this process may just have compiled: no bit may differ.
    return _coef(case, n_jobs=1)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_fit_has_the_same_bits_elsewhere(client, backend, case, sent):
    local = _coef_here(case)
    assert sent == []
    with parallel_config(backend=backend):
        assert np.array_equal(_coef(case), local)
    if case == "compiled":  # Newton steps of rows take little time, and are made here
        assert sent == []
    else:
        assert len(sent) > 1


def _coef_of_users():
    features, membership, owners = make_problem(5, **SHAPE)
    shared = np.full(7, 0.1)
    return solve_users(FixedShared(features, membership, owners, shared=shared, n_jobs=2)).coef


def test_users_with_the_shared_weights_held_have_the_same_bits_elsewhere(client, sent, monkeypatch):
    monkeypatch.setattr(_problem, "BLOCK_PLAYLISTS", 40)
    local = _coef_of_users()
    assert sent == []
    with parallel_config(backend="dask"):
        assert np.array_equal(_coef_of_users(), local)
    assert len(sent) > 0


def test_few_users_and_one_job_stay_here(client, sent):
    with parallel_config(backend="dask"):
        _coef("numpy", block=60)  # seven blocks
        assert np.array_equal(_coef("numpy", n_jobs=1), _coef_here("numpy"))
    assert sent == []


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_worker_killed_in_the_middle_of_a_sweep_changes_nothing(
    client, backend, monkeypatch, tmp_path
):
    local = _coef_here("numpy")
    deadly = Deadly(sweep_shard, tmp_path)
    monkeypatch.setattr(_remote, "sweep_shard", deadly)
    with parallel_config(backend=backend):
        coef = _coef("numpy")
    assert deadly.kills == 0
    assert np.array_equal(coef, local)


def _compiled_kinds(tiled):
    return {str(kind) for kind in loading.compiled_sweep().signatures}


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_workers_compile_nothing_that_the_caller_has_not(client, backend, monkeypatch):
    used = []
    whole = _inner.sweep_elsewhere

    def remember(workers, *rest):
        used.append(workers)
        return whole(workers, *rest)

    monkeypatch.setattr(_inner, "sweep_elsewhere", remember)
    _coef("compiled ranking", n_jobs=1)
    with parallel_config(backend=backend):
        _coef("compiled ranking")
        kinds = used[-1].map(_compiled_kinds, [()] * 4)
    assert any(kinds)
    assert set().union(*kinds) <= _compiled_kinds(None)


def test_only_the_state_of_users_travels(client, sent):
    with parallel_config(backend="dask"):
        _coef("numpy")
    for _, rest in sent:
        n_playlists, n_users, n_weights = 400, 150, 7
        # At most: where the model is exact, its gradient, two vectors that bend it, and the start.
        state = 4 * n_weights * (5 * n_playlists + n_users)
        small = 3 * 4 * n_playlists + 2 * 8 * n_users + 1000 * len(rest[-1])
        assert len(pickle.dumps(rest)) <= state + small


def _starts(n_blocks, n_playlists, n_features):
    weights = np.zeros((n_playlists, n_features), dtype=np.float32)
    ones = np.ones(n_playlists, dtype=np.float32)
    block = Block(slice(0, n_playlists), slice(0, 1), Users(np.zeros(1, int), np.ones(1, int)))
    expansion = Expansion(weights, ones, weights, ones, None, None, np.eye(n_features))
    return [Start(block, expansion, Totals(weights, weights[:1]), ones)] * n_blocks


@pytest.mark.parametrize(
    ("n_blocks", "n_playlists", "n_workers", "sizes"),
    [
        (3, 10, 2, {1}),  # fewer blocks than workers have room for
        (64, 10, 2, {8}),  # four tasks for each worker
        (65, 10, 2, {8, 1}),
        (64, 5000, 2, {1}),  # a block of three megabytes is enough for a task
    ],
)
def test_tasks_are_runs_of_whole_blocks(n_blocks, n_playlists, n_workers, sizes):
    starts = _starts(n_blocks, n_playlists, 50)
    shards = _shards(starts, n_workers)
    assert {len(shard) for shard in shards} == sizes
    cut = list(chain(*shards))
    assert [id(start) for start in cut] == [id(start) for start in starts]
