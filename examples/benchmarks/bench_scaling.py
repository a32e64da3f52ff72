"""Fits on worker processes against threads: time, bytes moved, and a million playlists on paper.

The same problem is fitted with threads, and on a local dask cluster of one and of two worker
processes with one core each. Passes over the data and sweeps over users go to workers; steps of the
shared weights and what is learned from a pass stay with threads of the calling process.

    python bench_scaling.py --csv scaling.csv
    python bench_scaling.py --tiny                         # seconds, to see that it runs

Results are printed, and written as CSV with `--csv`; the second table goes next to the first, with
"_mpd" added to its name.
"""

import argparse
import pathlib
import pickle
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pandas as pd
import psutil
from distributed import Client, LocalCluster
from joblib import parallel_config
from machine import machine, write_table
from solver_problems import drawn_problem

from skmtc._utils.parallel import Workers
from skmtc.optimize import MultitaskObjective, solve_prox_newton
from skmtc.optimize._pass import TiledPass
from skmtc.optimize._remote_pass import RemotePass
from skmtc.optimize.prox_newton._inner import InnerProblem

PACKAGES = ("numba", "joblib", "dask", "distributed")

# The Million Playlist Dataset; its playlists have no users, so each is its own.
MPD = {"playlists": 1_000_000, "songs": 2_262_292, "memberships": 66_346_428}


class Meter:
    """Time in passes and sweeps, and bytes that tasks and their results take when pickled."""

    def __init__(self):
        self.seconds = {"passes": 0.0, "sweeps": 0.0}
        self.flops = 0.0
        self.sweeps = self.tasks = self.sent = self.received = self.once = 0
        self.counting = 0.0  # seconds that are not the fit's
        self._inside = False
        self._broadcasts = set()

    @contextmanager
    def running(self):
        """Measure what happens within."""
        places = [(TiledPass, "_sums"), (RemotePass, "_sums"), (InnerProblem, "sweep")]
        wholes = [getattr(*place) for place in places]
        work = Workers.map
        for (owner, name), whole in zip(places, wholes, strict=True):
            setattr(owner, name, self._timed(whole))
        Workers.map = self._counted(work)
        try:
            yield self
        finally:
            for (owner, name), whole in zip(places, wholes, strict=True):
                setattr(owner, name, whole)
            Workers.map = work

    def _timed(self, whole):
        def call(owner, *args):
            if self._inside:  # a remote pass that is done here
                return whole(owner, *args)
            self._inside, start = True, time.perf_counter() - self.counting
            result = whole(owner, *args)
            self._inside = False
            seconds = time.perf_counter() - self.counting - start
            is_sweep = isinstance(owner, InnerProblem)
            self.seconds["sweeps" if is_sweep else "passes"] += seconds
            if is_sweep:
                self.sweeps += 1
            else:
                self.flops += 4.0 * len(args[0]) * owner.n_songs * owner.n_features
            return result

        return call

    def _counted(self, work):
        def call(workers, function, items):
            results = work(workers, function, items)
            start = time.perf_counter()
            self.tasks += len(items)
            self.sent += sum(len(pickle.dumps(item)) for item in items)
            self.received += sum(len(pickle.dumps(result)) for result in results)
            if workers.broadcast.token not in self._broadcasts:
                self._broadcasts.add(workers.broadcast.token)
                self.once += len(pickle.dumps(workers.broadcast))
            self.counting += time.perf_counter() - start
            return results

        return call


@contextmanager
def cluster_of(n_workers):
    """Run joblib's work on worker processes."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
        parallel_config(backend="dask"),
    ):
        yield


def wire_bytes():
    """Count what has gone over this machine's own network, by anybody."""
    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


def fit(problem, where, n_jobs, context):
    """Fit once; return a row of the result and the coefficients."""
    features, membership, owner = problem
    # Several blocks, and large enough for compiled loops: so all workers have loaded theirs.
    n_first = min(9000, len(owner))
    first = features, membership[:n_first], np.unique(owner[:n_first], return_inverse=True)[1]
    with context:
        solve_prox_newton(MultitaskObjective(*first, n_jobs=n_jobs), max_iter=1)
        objective = MultitaskObjective(*problem, n_jobs=n_jobs)
        wire, start = wire_bytes(), time.perf_counter()
        with Meter().running() as meter:
            result = solve_prox_newton(objective)
        seconds = time.perf_counter() - start - meter.counting
        wire = wire_bytes() - wire
    iterations = result.n_iter
    return {
        "where": where,
        "playlists": objective.n_playlists,
        "songs": objective.n_songs,
        "features": objective.n_features,
        "songs of a playlist": objective.membership.nnz / objective.n_playlists,
        "seconds": seconds,
        "in passes": meter.seconds["passes"],
        "in sweeps": meter.seconds["sweeps"],
        "GF/s in passes": meter.flops / meter.seconds["passes"] / 1e9,
        "iterations": iterations,
        "passes": result.history["passes"][-1],
        "sweeps": meter.sweeps,
        "tasks": meter.tasks,
        "MB once per worker": meter.once / 1e6,
        "MB out per iteration": meter.sent / iterations / 1e6,
        "MB back per iteration": meter.received / iterations / 1e6,
        "MB on the wire": wire / 1e6 if meter.tasks else 0.0,
    }, result.coef


def million_playlists(here, there, price):
    """Extrapolate from one thread and one worker process to the Million Playlist Dataset.

    A sweep takes time in proportion to features * (features + 2 * songs of a playlist) for each
    playlist, as its products do. What the worker takes longer than the thread is in proportion to
    the bytes moved, and shared by nobody, as all of them pass through the calling process. What
    is done there is taken to be in proportion to the memberships, of which there are more to a
    playlist here: that is more than it will be.
    """
    n, m, nnz = MPD["playlists"], MPD["songs"], MPD["memberships"]
    n_features, length = here["features"], here["songs of a playlist"]
    flops = 4.0 * n * m * n_features * here["passes"]
    in_passes = flops / (here["GF/s in passes"] * 1e9)
    longer = (n_features + 2 * nnz / n) / (n_features + 2 * length)
    in_sweeps = here["in sweeps"] * n / here["playlists"] * longer
    in_tasks, in_tasks_there = (row["in passes"] + row["in sweeps"] for row in (here, there))
    local = (here["seconds"] - in_tasks) * nnz / (here["playlists"] * length)
    features = 4.0 * m * n_features
    once = features + (4 + 1) * nnz + 4 * n
    # Weights and sums of a pass; of a sweep four vectors of the model, the totals of a playlist
    # and of its user out, and both totals back.
    a_pass, a_sweep = n * ((4.0 + 8.0) * n_features + 4), 4.0 * n * (6 + 2) * n_features
    moved = here["passes"] * a_pass + here["sweeps"] * a_sweep
    moved_there = there["MB out per iteration"] + there["MB back per iteration"]
    slower = max(0.0, in_tasks_there - in_tasks)
    on_the_way = slower * moved / (moved_there * there["iterations"] * 1e6)
    rows = []
    for cores in (1, 16, 64, 256):
        seconds = (in_passes + in_sweeps) / cores + on_the_way + local
        rows.append(
            {
                "cores": cores,
                "Pflop": flops / 1e15,
                "hours in passes": in_passes / cores / 3600,
                "hours in sweeps": in_sweeps / cores / 3600,
                "hours on the way": on_the_way / 3600,
                "hours on the calling machine": local / 3600,
                "GB a worker": (2 * features + once - features + 4 * 256 * 1024) / 1e9,
                "GB of the calling machine": (
                    (25 * 4.0 * 2 * n * n_features + 3 * features + a_sweep) / 1e9
                ),
                "GB once, to all workers": once * cores / 1e9,
                "GB in passes": here["passes"] * a_pass / 1e9,
                "GB in sweeps": here["sweeps"] * a_sweep / 1e9,
                "MB/s meanwhile": moved / seconds / 1e6,
                "cost": price * cores * seconds / 3600,
            }
        )
    return pd.DataFrame(rows)


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--playlists", type=int, default=16_000)
    parser.add_argument("--songs", type=int, default=40_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--price", type=float, default=0.05, help="of an hour of a core, assumed")
    parser.add_argument("--csv", help="file to write")
    parser.add_argument("--tiny", action="store_true", help="a run of seconds")
    options = parser.parse_args()
    if options.tiny:
        options.playlists, options.songs, options.features = 9000, 1000, 8
    print("; ".join(machine(*PACKAGES).values()))
    # Nearly as many users as playlists: rows of a pass are playlists, not users who share weights.
    problem = drawn_problem(
        options.playlists, options.playlists * 9 // 10, options.songs, options.features
    )
    places = [
        ("1 thread", 1, nullcontext()),
        ("2 threads", 2, nullcontext()),
        ("1 worker process", -1, cluster_of(1)),
        ("2 worker processes", -1, cluster_of(2)),
    ]
    rows, coefs = zip(*(fit(problem, *place) for place in places), strict=True)
    table = pd.DataFrame(rows)
    table["largest difference"] = [np.abs(coef - coefs[0]).max() for coef in coefs]
    print(table.T.to_string(header=False, float_format="{:.4g}".format))
    paper = million_playlists(rows[0], rows[2], options.price)
    print("\nThe Million Playlist Dataset, extrapolated from one thread and one worker process:")
    print(paper.T.to_string(header=False, float_format="{:.4g}".format))
    if options.csv:
        path = pathlib.Path(options.csv)
        write_table(table, path, *PACKAGES)
        write_table(paper, path.with_stem(f"{path.stem}_mpd"), *PACKAGES)


if __name__ == "__main__":
    main()
