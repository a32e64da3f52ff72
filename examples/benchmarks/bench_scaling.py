"""Fits on worker processes against threads, and tables of up to a million playlists.

The same problem is fitted with threads, and on a local dask cluster of one and of two worker
processes with one core each; in the last run, these map features and memberships from files. Passes
over the data and sweeps over users go to workers; steps of the shared weights and what is learned
from a pass stay with threads of the calling process.

With `--mpd`, a table in the image of the Million Playlist Dataset is written, read, fitted,
evaluated (10,000 playlists) and asked for recommendations (100,000 queries) instead, with time and
peak memory of each stage; a second number of playlists tells how they grow.

    python bench_scaling.py --csv scaling.csv
    python bench_scaling.py --mpd 100000 1000000 --csv scaling_mpd.csv
    python bench_scaling.py --tiny                         # seconds, to see that it runs
"""

import argparse
import os
import pathlib
import pickle
import tempfile
import time
from contextlib import contextmanager, nullcontext

import million_playlists
import numpy as np
import pandas as pd
import psutil
from distributed import Client, LocalCluster
from joblib import parallel_config
from machine import machine, write_table
from solver_problems import sampled_problem

from skmtc._utils.parallel import SHARED_FOLDER, Workers
from skmtc.optimize import MultitaskObjective, solve_prox_newton
from skmtc.optimize._pass import TiledPass
from skmtc.optimize._remote_pass import RemotePass
from skmtc.optimize.prox_newton._inner import InnerProblem

PACKAGES = ("numba", "joblib", "dask", "distributed")


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
                if SHARED_FOLDER not in os.environ:
                    self.once += len(pickle.dumps(workers.broadcast))
            self.counting += time.perf_counter() - start
            return results

        return call


@contextmanager
def cluster_of(n_workers, *, files=False):
    """Run joblib's work on worker processes, which may map what is large from files."""
    with (
        shared_folder() if files else nullcontext(),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
        parallel_config(backend="dask"),
    ):
        yield


@contextmanager
def shared_folder():
    """Name a folder to workers."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[SHARED_FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[SHARED_FOLDER]


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


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--playlists", type=int, default=16_000)
    parser.add_argument("--songs", type=int, default=40_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--mpd", type=int, nargs="+", help="numbers of playlists of large tables")
    parser.add_argument("--songs-per-pass", type=int, help="of the ranker, with --mpd")
    parser.add_argument("--folder", help="where large tables are written for the while")
    parser.add_argument("--csv", help="file to write")
    parser.add_argument("--tiny", action="store_true", help="a run of seconds")
    options = parser.parse_args()
    if options.mpd:
        grow(options)
        return
    if options.tiny:
        options.playlists, options.songs, options.features = 9000, 1000, 8
    print("; ".join(machine(*PACKAGES).values()))
    # Nearly as many users as playlists: rows of a pass are playlists, not users who share weights.
    problem = sampled_problem(
        options.playlists, options.playlists * 9 // 10, options.songs, options.features
    )
    places = [
        ("1 thread", 1, nullcontext()),
        ("2 threads", 2, nullcontext()),
        ("1 worker process", -1, cluster_of(1)),
        ("2 worker processes", -1, cluster_of(2)),
        ("2 worker processes, files", -1, cluster_of(2, files=True)),
    ]
    rows, coefs = zip(*(fit(problem, *place) for place in places), strict=True)
    table = pd.DataFrame(rows)
    table["largest difference"] = [np.abs(coef - coefs[0]).max() for coef in coefs]
    print(table.T.to_string(header=False, float_format="{:.4g}".format))
    if options.csv:
        write_table(table, options.csv, *PACKAGES)


def grow(options):
    """Run all stages for each number of playlists; later runs add to the table of earlier ones."""
    path = pathlib.Path(options.csv) if options.csv else None
    parts = [pd.read_csv(path)] if path and path.exists() else []
    for n_playlists in options.mpd:
        parts = [part[part["playlists"] != n_playlists] for part in parts]
        parts.append(
            million_playlists.run(
                n_playlists,
                tiny=options.tiny,
                folder=options.folder,
                songs_per_pass=options.songs_per_pass,
            ).assign(**machine("pyarrow", "numba"))
        )
        table = pd.concat(parts).sort_values("playlists", kind="stable")
        if path:
            table.to_csv(path, index=False)
    print(table.drop(columns=["machine", "date", "versions"]).to_string(index=False))
    growth = million_playlists.slopes(table)
    if growth is not None:
        print("\nExponents of CPU time:", growth.to_string(), sep="\n")


if __name__ == "__main__":
    main()
