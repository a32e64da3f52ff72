"""Passes elsewhere: the same bits, whoever makes them and whoever is lost."""

import gc
import pickle
from functools import cache, partial

import numpy as np
import pytest
from clusters import Deadly
from distributed import Client
from joblib import parallel_config
from scipy.sparse import csr_array

from skmtc.optimize import MultitaskObjective, _remote_pass, solve_owlqn, solve_prox_newton
from skmtc.optimize._pass import BLOCK_ROWS, TiledPass
from skmtc.optimize._remote_pass import RemotePass, make_pass, shard_sums
from skmtc.optimize.prox_newton import _exact


@pytest.fixture(autouse=True)
def no_exact_hessians(monkeypatch):
    """Solve small problems as if they were large: only these leave the caller."""
    monkeypatch.setattr(_exact, "MOST_MULTIPLICATIONS", 0)


def _problem(n_playlists=1100, n_users=700, n_songs=2500, n_features=8):
    """Make a problem of several blocks that is large enough for a sample of songs."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(n_songs, n_features)).astype(np.float32)
    owners = np.concatenate([np.arange(n_users), rng.integers(0, n_users, n_playlists - n_users)])
    weights = rng.normal(scale=0.7, size=(n_users, n_features))[owners]
    scores = weights @ features.T + rng.gumbel(size=(n_playlists, n_songs))
    songs = np.argsort(-scores, axis=1)[:, :10]
    rows = np.repeat(np.arange(n_playlists), 10)
    return features, csr_array((np.ones(rows.size), (rows, songs.ravel()))), owners


PROBLEM = _problem()
SOLVERS = {"prox-newton": solve_prox_newton, "owlqn": partial(solve_owlqn, max_iter=5)}


class Recorded:
    """Count what travels."""

    def __init__(self, monkeypatch):
        self.sent = self.tasks = self.calls = 0
        whole = _remote_pass.Workers.map

        def count(workers, function, items):
            self.calls += 1
            self.tasks += len(items)
            self.sent += len(pickle.dumps(items))
            return whole(workers, function, items)

        monkeypatch.setattr(_remote_pass.Workers, "map", count)


def _coef(solver="prox-newton", n_jobs=2):
    return SOLVERS[solver](MultitaskObjective(*PROBLEM, playlist_l1=0.3, n_jobs=n_jobs)).coef


_coef_here = cache(partial(_coef, n_jobs=1))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_fit_has_the_same_bits_elsewhere(client, backend, solver, monkeypatch):
    watched = Recorded(monkeypatch)
    local = _coef_here(solver)
    assert watched.calls == 0
    with parallel_config(backend=backend):
        assert np.array_equal(_coef(solver), local)
    assert watched.tasks > watched.calls > 1


def test_one_job_and_threads_stay_here(client, monkeypatch):
    watched = Recorded(monkeypatch)
    assert np.array_equal(_coef(), _coef_here("prox-newton"))
    with parallel_config(backend="dask"):
        assert np.array_equal(_coef(n_jobs=1), _coef_here("prox-newton"))
    assert watched.calls == 0


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(
    client, backend, monkeypatch, tmp_path
):
    deadly = Deadly(shard_sums, tmp_path)
    monkeypatch.setattr(_remote_pass, "shard_sums", deadly)
    with parallel_config(backend=backend):
        coef = _coef()
    assert deadly.kills == 0
    assert np.array_equal(coef, _coef_here("prox-newton"))


@pytest.fixture
def scattered(monkeypatch):
    """Record the sizes of what is sent to all workers."""
    sizes, whole = [], Client.scatter

    def scatter(client, data, **options):
        sizes.append(len(pickle.dumps(data)))
        return whole(client, data, **options)

    monkeypatch.setattr(Client, "scatter", scatter)
    return sizes


def test_workers_read_what_is_large_from_a_shared_folder(client, monkeypatch, tmp_path, scattered):
    (tmp_path / "deaths").mkdir()
    (tmp_path / "shared").mkdir()
    deadly = Deadly(shard_sums, tmp_path / "deaths")
    monkeypatch.setattr(_remote_pass, "shard_sums", deadly)
    monkeypatch.setenv("SKMTC_SHARED_FOLDER", str(tmp_path / "shared"))
    with parallel_config(backend="dask"):
        coef = _coef()
    assert deadly.kills == 0
    assert np.array_equal(coef, _coef_here("prox-newton"))
    assert 0 < max(scattered) < 1000
    gc.collect()
    assert list((tmp_path / "shared").iterdir()) == []


def test_a_fit_on_a_sample_of_songs_has_the_same_bits_elsewhere(
    client, monkeypatch, tmp_path, scattered
):
    weight = np.where(np.random.default_rng(0).random(2500) < 0.2, 5.0, 0.0)

    def fit(song_weight, n_jobs=2):
        problem = MultitaskObjective(
            *PROBLEM, playlist_l1=0.3, song_weight=song_weight, n_jobs=n_jobs
        )
        return solve_prox_newton(problem).coef

    here = fit(weight, n_jobs=1)
    deadly = Deadly(shard_sums, tmp_path)
    monkeypatch.setattr(_remote_pass, "shard_sums", deadly)
    with parallel_config(backend="dask"):
        there = fit(weight)
        n_sampled = len(scattered)
        fit(None)
    assert deadly.kills == 0
    assert np.array_equal(there, here)
    # A fifth of the features, and of the memberships.
    assert max(scattered[:n_sampled]) < 0.3 * max(scattered[n_sampled:])


def test_only_weights_of_shards_travel(monkeypatch):
    watched = Recorded(monkeypatch)
    features, membership, _ = PROBLEM
    with parallel_config(backend="loky"):
        remote = RemotePass(features, membership, 2)
        weights = np.random.default_rng(0).normal(scale=0.1, size=(1100, 8))
        sums = remote.negative_sums(weights)
    assert np.array_equal(
        sums.exp_features, TiledPass(features, membership).negative_sums(weights)[1]
    )
    # Weights in single precision and the number of each playlist, and a few hundred bytes a task.
    assert watched.sent <= 1100 * (8 + 1) * 4 + 500 * watched.tasks
    assert watched.tasks == -(-1100 // BLOCK_ROWS)


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_samples_shares_and_chosen_rows(client, convert):
    rng = np.random.default_rng(1)
    features, membership, owners = PROBLEM
    offsets = rng.normal(size=len(features))
    weights = rng.normal(scale=0.1, size=(700, 8))[owners]
    rows = rng.permutation(1100)[:600]
    near = make_pass(convert(features), membership, 2, offsets=offsets)
    with parallel_config(backend="dask"):
        far = make_pass(convert(features), membership, 2, offsets=offsets)
        assert (type(near), type(far)) == (TiledPass, RemotePass)
        shared = far.negative_sums(weights, groups=owners)
        chosen = far.negative_sums(weights[rows], rows)
    assert np.array_equal(shared[1], near.negative_sums(weights, groups=owners)[1])
    assert np.array_equal(chosen[1], near.negative_sums(weights[rows], rows)[1])


@pytest.mark.parametrize(("n_rows", "n_features"), [(300, 8), (100_000, 8), (10**6, 200)])
def test_shards_are_whole_blocks_of_bounded_size(n_rows, n_features):
    membership = PROBLEM[1]
    remote = RemotePass(np.ones((2500, n_features), dtype=np.float32), membership, 2)
    size = remote._shard_rows(n_rows)
    assert size % BLOCK_ROWS == 0
    assert 0 < size * n_features * 4 <= max(_remote_pass.TASK_BYTES, BLOCK_ROWS * n_features * 4)
    assert n_rows <= 8 * size or size * 2 * n_features * 4 > _remote_pass.TASK_BYTES
