"""Fits on worker processes against threads: time, bytes moved, and a million playlists on paper.

The same problem is fitted with threads, and on a local dask cluster of one and of two worker
processes with one core each. Sweeps over users always run on threads of the calling process; what
goes to workers are the passes over the data.

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

from skmtc._workers import Workers
from skmtc.optimize import MultitaskObjective, solve_prox_newton
from skmtc.optimize._pass import TiledPass
from skmtc.optimize._remote_pass import RemotePass

PACKAGES = ("numba", "joblib", "dask", "distributed")

# The Million Playlist Dataset; its playlists have no users, so each is its own.
MPD = {"playlists": 1_000_000, "songs": 2_262_292, "memberships": 66_346_428}


class Meter:
    """Time in passes, and bytes that tasks and their results take when pickled."""

    def __init__(self):
        self.seconds = self.flops = 0.0
        self.tasks = self.sent = self.received = self.once = 0
        self._inside = False
        self._parcels = set()

    @contextmanager
    def running(self):
        """Measure what happens within."""
        sums, remote_sums, work = TiledPass._sums, RemotePass._sums, Workers.map

        def timed(whole):
            def call(tiled, weights, rows):
                if self._inside:
                    return whole(tiled, weights, rows)
                self._inside, start = True, time.perf_counter()
                result = whole(tiled, weights, rows)
                self._inside = False
                self.seconds += time.perf_counter() - start
                self.flops += 4.0 * len(weights) * tiled.n_songs * tiled.n_features
                return result

            return call

        def counted(workers, function, items):
            results = work(workers, function, items)
            self.tasks += len(items)
            self.sent += sum(len(pickle.dumps(item)) for item in items)
            self.received += sum(len(pickle.dumps(result)) for result in results)
            if workers.parcel.token not in self._parcels:
                self._parcels.add(workers.parcel.token)
                self.once += len(pickle.dumps(workers.parcel))
            return results

        TiledPass._sums, RemotePass._sums, Workers.map = timed(sums), timed(remote_sums), counted
        try:
            yield self
        finally:
            TiledPass._sums, RemotePass._sums, Workers.map = sums, remote_sums, work


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
    """Fit once; give a row of the result and the coefficients."""
    with context:
        solve_prox_newton(MultitaskObjective(*drawn_problem(600, 300, 1000, 8), n_jobs=n_jobs))
        objective = MultitaskObjective(*problem, n_jobs=n_jobs)
        wire, start = wire_bytes(), time.perf_counter()
        with Meter().running() as meter:
            result = solve_prox_newton(objective)
        seconds = time.perf_counter() - start
        wire = wire_bytes() - wire
    iterations = result.n_iter
    return {
        "where": where,
        "playlists": objective.n_playlists,
        "songs": objective.n_songs,
        "features": objective.n_features,
        "seconds": seconds,
        "in passes": meter.seconds,
        "GF/s in passes": meter.flops / meter.seconds / 1e9,
        "iterations": iterations,
        "passes": result.history["passes"][-1],
        "tasks": meter.tasks,
        "MB once per worker": meter.once / 1e6,
        "MB out per iteration": meter.sent / iterations / 1e6,
        "MB back per iteration": meter.received / iterations / 1e6,
        "MB on the wire": wire / 1e6 if meter.tasks else 0.0,
    }, result.coef


def million_playlists(row, n_features, price):
    """Extrapolate a measured row to the Million Playlist Dataset."""
    n, m, nnz = MPD["playlists"], MPD["songs"], MPD["memberships"]
    flops = 4.0 * n * m * n_features * row["passes"]
    core_rate = row["GF/s in passes"] * 1e9  # of one worker
    local = (row["seconds"] - row["in passes"]) / row["playlists"] * n
    features = 4.0 * m * n_features
    once = features + (4 + 1) * nnz + 4 * n
    per_pass = {"out": n * (4.0 * n_features + 4), "back": 8.0 * n * n_features}
    moved = row["passes"] * sum(per_pass.values())
    rows = []
    for cores in (1, 16, 64, 256):
        in_passes = flops / core_rate / cores
        rows.append(
            {
                "cores": cores,
                "Pflop": flops / 1e15,
                "hours in passes": in_passes / 3600,
                "hours on the calling machine": local / 3600,
                "GB a worker": (2 * features + once - features + 4 * 256 * 1024) / 1e9,
                "GB of the calling machine": (25 * 4.0 * 2 * n * n_features + 3 * features) / 1e9,
                "GB once, to all workers": once * cores / 1e9,
                "GB of weights and sums": moved / 1e9,
                "MB/s meanwhile": moved / (in_passes + local) / 1e6,
                "cost": price * cores * (in_passes + local) / 3600,
            }
        )
    return pd.DataFrame(rows)


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--playlists", type=int, default=6000)
    parser.add_argument("--songs", type=int, default=40_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--price", type=float, default=0.05, help="of an hour of a core, assumed")
    parser.add_argument("--csv", help="file to write")
    parser.add_argument("--tiny", action="store_true", help="a run of seconds")
    options = parser.parse_args()
    if options.tiny:
        options.playlists, options.songs, options.features = 900, 2000, 8
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
    one_worker = rows[2]
    paper = million_playlists(one_worker, one_worker["features"], options.price)
    print("\nThe Million Playlist Dataset, extrapolated from one worker process:")
    print(paper.T.to_string(header=False, float_format="{:.4g}".format))
    if options.csv:
        path = pathlib.Path(options.csv)
        write_table(table, path, *PACKAGES)
        write_table(paper, path.with_stem(f"{path.stem}_mpd"), *PACKAGES)


if __name__ == "__main__":
    main()
