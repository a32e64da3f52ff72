"""Work elsewhere: order, what travels, what is lost, and who counts cores."""

import os
import pickle
from threading import Barrier
from time import sleep

import numpy as np
import pytest
from clusters import Deadly, local_cluster
from joblib import Parallel, cpu_count, delayed, parallel_config

from skmtc._utils.parallel import Broadcast, Workers, local_jobs, uses_processes

BACKENDS = ["threading", "loky", "dask"]
LARGE = np.arange(300_000.0)


def _double(array):
    return 2 * array


def _where(made, number):
    return os.getpid(), id(made), made[number]


def test_threads_that_come_together_make_it_once():
    made, start = [], Barrier(2)

    def make_slowly():
        made.append(1)
        sleep(0.1)  # a thread that does not wait would begin now

    broadcast = Broadcast(make_slowly)

    def ask():
        start.wait()
        return broadcast.made

    Parallel(n_jobs=2, backend="threading")(delayed(ask)() for _ in range(2))
    assert made == [1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_come_in_order_and_a_worker_makes_its_own_once(client, backend):
    workers = Workers(2, Broadcast(_double, LARGE))
    with parallel_config(backend=backend):
        rounds = [workers.map(_where, [(n,) for n in range(8)]) for _ in range(3)]
    for done in rounds:
        assert [value for _, _, value in done] == [2.0 * n for n in range(8)]
    places = {(process, made) for done in rounds for process, made, _ in done}
    assert len(places) == len({process for process, _ in places})
    is_here = {process for process, _ in places} == {os.getpid()}
    assert is_here == (backend == "threading")


class Counted:
    """Something that knows how often it was sent from here."""

    def __init__(self):
        self.times = 0

    def __getstate__(self):
        self.times += 1
        return {"times": 0}


def _nothing(made):
    return made


def test_what_is_large_is_sent_to_workers_and_not_with_tasks(client):
    large = Counted()
    workers = Workers(2, Broadcast(_nothing, large))
    with parallel_config(backend="dask"):
        for _ in range(3):
            workers.map(_where_only, [()] * 8)
    assert 1 <= large.times <= 2  # there are two workers


def _where_only(made):
    return os.getpid()


def test_a_parcel_that_came_before_is_not_made_again():
    broadcast = Broadcast(_double, LARGE)
    first, second = (pickle.loads(pickle.dumps(broadcast)) for _ in range(2))
    assert first is second
    assert first is not broadcast
    assert np.array_equal(first.made, 2 * LARGE)
    for _ in range(2):  # two others take its place
        pickle.loads(pickle.dumps(Broadcast(_double, LARGE)))
    assert pickle.loads(pickle.dumps(broadcast)) is not first


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_lost_workers_are_replaced(client, backend, tmp_path):
    deadly = Deadly(_where, tmp_path)
    with parallel_config(backend=backend):
        done = Workers(2, Broadcast(_double, LARGE)).map(deadly, [(n,) for n in range(8)])
    assert deadly.kills == 0
    assert [value for _, _, value in done] == [2.0 * n for n in range(8)]


def test_what_all_workers_lost_is_sent_again(tmp_path):
    deadly = Deadly(_where, tmp_path)
    with local_cluster(n_workers=1), parallel_config(backend="dask"):
        workers = Workers(-1, Broadcast(_double, LARGE))
        assert [v for _, _, v in workers.map(_where, [(1,), (2,)])] == [2.0, 4.0]
        assert [v for _, _, v in workers.map(deadly, [(1,), (2,)])] == [2.0, 4.0]
    assert deadly.kills == 0


def _fail(made):
    raise KeyError("an error of the function")


@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_of_functions_are_reported(client, backend):
    with parallel_config(backend=backend), pytest.raises(KeyError, match="an error of the"):
        Workers(2, Broadcast(_double, LARGE)).map(_fail, [(), ()])


def test_work_goes_elsewhere_only_where_joblib_is_configured_so(client):
    assert not uses_processes(2)
    for backend in BACKENDS:
        with parallel_config(backend=backend):
            assert uses_processes(2) == (backend != "threading")
            assert not uses_processes(1)


def test_threads_are_those_of_this_machine(client):
    assert (local_jobs(None), local_jobs(3)) == (1, 3)
    with parallel_config(backend="dask"):
        assert [local_jobs(n) for n in (None, -1, 1, 3)] == [cpu_count(), cpu_count(), 1, 3]


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_task_keeps_to_its_worker(client, backend):
    with parallel_config(backend=backend):
        inside = Parallel(n_jobs=2)(delayed(_within)(n_jobs) for n_jobs in (None, 1, 2))
    assert inside == [(1, False), (1, False), (2, False)]


def _within(n_jobs):
    return local_jobs(n_jobs), uses_processes(n_jobs)
