"""Time to a given accuracy: `solve_prox_newton` against PyLBFGS's OWL-QN and others.

All solvers evaluate the same objective with the same tiled pass, on the same threads, in one run;
the objective alone measures them. The best value that any of them found stands for the minimum.

    python bench_solvers.py --drawn                        # drawn playlists
    python bench_solvers.py --aotm aotm2011.csv.gz         # real playlists
    python bench_solvers.py --aotm aotm2011.csv.gz --shares 0.05 --songs 10000
    python bench_solvers.py --preset 30music --features 150  # of the size of the paper's set
    python bench_solvers.py --rate --growth --whole --path # rate of a pass, growth, one large fit
    python bench_solvers.py --aotm aotm2011.csv.gz --against CHECKOUT --jobs 1  # CPU seconds
    python bench_solvers.py --tiny                         # seconds, to see that it runs

PyLBFGS is on PyPI as `pylbfgs`. Results are printed, and written as CSV with `--csv FILE`: what
each part finds has a file of its own beside that of the comparison, such as FILE_growth.csv.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from copy import copy
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from machine import forget_peak, machine, peak_megabytes, version, write_table
from scipy.optimize import minimize
from sklearn.base import clone
from solver_problems import aotm_problem, preset_problem, sampled_problem
from threadpoolctl import threadpool_limits
from trace_solver import save_problem

from skmtc import MultitaskPlaylistRanker, regularization_path
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.optimize import MultitaskObjective, solve_owlqn, solve_prox_newton
from skmtc.optimize._pass import TiledPass
from skmtc.optimize.prox_newton._problem import SortedProblem
from skmtc.optimize.prox_newton._rows import RowModel

ACCURACIES = (1e-2, 1e-3, 1e-4)


class Enough(Exception):
    """Raised inside a competitor when its time is over."""


def run_prox_newton(objective, limit):
    """Run our fast solver, far enough to stand for the minimum."""
    del limit
    result = solve_prox_newton(objective, tol=1e-6)
    history = result.history
    return list(zip(history["seconds"], history["passes"], history["objective"], strict=True))


def run_owlqn(objective, limit):
    """Run our own OWL-QN, which scales each row by the size of its curvature."""
    trace, start = [], time.perf_counter()

    def callback(state):
        trace.append((state["seconds"], state["iteration"], state["objective"]))
        return time.perf_counter() - start > limit

    solve_owlqn(objective, tol=1e-7, max_iter=100_000, callback=callback)
    return trace


def run_pylbfgs(objective, limit, value_and_gradient=None):
    """Run PyLBFGS's OWL-QN; shared weights are rescaled so that both l1 weights are the same."""
    value_and_gradient = value_and_gradient or objective.value_and_gradient
    from lbfgs import LBFGS, LBFGSError

    n_users, n_playlists = objective.n_users, objective.n_playlists
    playlist_l1 = objective.playlist_l1 / n_playlists
    factor = playlist_l1 / objective.shared_l1  # shared = factor * variable
    order = np.r_[1 : 1 + n_users, 0, 1 + n_users : 1 + n_users + n_playlists]
    trace, start = [], time.perf_counter()

    def to_coef(variables):
        coef = np.empty(objective.shape)
        coef[order] = variables.reshape(objective.shape)
        coef[0] *= factor
        return coef

    def evaluate(variables, gradient):
        coef = to_coef(variables)
        value, slope = value_and_gradient(coef)
        slope[0] *= factor
        gradient[:] = slope[order].ravel()
        seconds = time.perf_counter() - start
        trace.append((seconds, len(trace) + 1, value + objective.l1_value(coef)))
        return value

    def callback(*state):
        # Only here can it be stopped: it goes on evaluating after an exception.
        del state
        return int(time.perf_counter() - start > limit)

    solver = LBFGS()
    solver.orthantwise_c = playlist_l1
    solver.orthantwise_start = n_users * objective.n_features
    solver.orthantwise_end = -1
    solver.linesearch = "wolfe"
    solver.max_iterations = 100_000
    solver.epsilon = 1e-9
    with warnings.catch_warnings(), contextlib.suppress(LBFGSError):
        warnings.simplefilter("ignore")  # its line search complains where rounding ends it
        solver.minimize(evaluate, np.zeros(objective.shape).ravel(), progress=callback)
    return _best_so_far(trace)


def run_user_loop(objective, limit):
    """Run PyLBFGS's OWL-QN on a loop over users in double precision, as the paper's code does."""
    features = objective.features.astype(np.float64)
    held = objective.membership.astype(bool)
    playlists = [np.flatnonzero(objective.user_of_playlist == u) for u in range(objective.n_users)]
    n, push = objective.n_playlists, objective.push

    def value_and_gradient(coef):
        shared, user, playlist = objective.split(coef)
        gradient = np.zeros_like(coef)
        to_shared, to_user, to_playlist = objective.split(gradient)
        value = objective.user_l2 / n * np.sum(user**2)
        for u, rows in enumerate(playlists):
            own = held[rows].toarray()
            scores = (playlist[rows] + user[u] + shared) @ features.T
            inside, outside = own.sum(axis=1, keepdims=True), (~own).sum(axis=1, keepdims=True)
            positive = np.where(own, np.exp(-push * scores), 0.0) / inside
            negative = np.where(own, 0.0, np.exp(scores)) / outside
            value += (positive.sum() / push + negative.sum()) / n
            slopes = (negative - positive) @ features / n
            to_playlist[rows] = slopes
            to_user[u] = slopes.sum(axis=0) + 2 * objective.user_l2 / n * user[u]
            to_shared += slopes.sum(axis=0)
        return value, gradient

    return run_pylbfgs(objective, limit, value_and_gradient)


def run_lbfgsb(objective, limit):
    """Run scipy's L-BFGS-B on positive and negative parts, whose sum is the absolute value."""
    l1 = np.broadcast_to(objective.l1, objective.shape).ravel()
    size = l1.size
    trace, start = [], time.perf_counter()

    def evaluate(parts):
        coef = (parts[:size] - parts[size:]).reshape(objective.shape)
        value, slope = objective.value_and_gradient(coef)
        value += l1 @ (parts[:size] + parts[size:])
        seconds = time.perf_counter() - start
        trace.append((seconds, len(trace) + 1, value))
        if seconds > limit:
            raise Enough
        return value, np.concatenate([l1 + slope.ravel(), l1 - slope.ravel()])

    with contextlib.suppress(Enough):
        minimize(
            evaluate,
            np.zeros(2 * size),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * (2 * size),
            options={"maxiter": 100_000, "maxfun": 100_000, "ftol": 1e-12, "gtol": 1e-9},
        )
    return _best_so_far(trace)


def _best_so_far(trace):
    best = np.minimum.accumulate([value for _, _, value in trace])
    return [(seconds, passes, b) for (seconds, passes, _), b in zip(trace, best, strict=True)]


SOLVERS = {
    "prox-newton": run_prox_newton,
    "pylbfgs owl-qn": run_pylbfgs,
    "owl-qn": run_owlqn,
    "l-bfgs-b, split": run_lbfgsb,
    "owl-qn, user loop": run_user_loop,
}
BY_PYLBFGS = {"pylbfgs owl-qn", "owl-qn, user loop"}


def available(solvers):
    """Leave out what is not installed, and say so."""
    if version("pylbfgs") is not None or not BY_PYLBFGS & set(solvers):
        return solvers
    print("PyLBFGS is absent, so that its OWL-QN is left out: pip install pylbfgs")
    return [solver for solver in solvers if solver not in BY_PYLBFGS]


def reached(trace, target):
    """Return seconds and passes of the first point that is good enough."""
    for seconds, passes, value in trace:
        if value <= target:
            return seconds, passes
    return np.nan, np.nan


def compare(name, problem, penalties, solvers, limit, n_jobs):
    """Run all solvers on one problem; one row per solver and accuracy."""
    features, membership, owner = problem
    n, u = membership.shape[0], owner.max() + 1
    user, playlist_l1, shared_l1 = penalties
    objective = MultitaskObjective(
        features,
        membership,
        owner,
        user_l2=user * n / u,
        playlist_l1=playlist_l1,
        shared_l1=shared_l1,
        n_jobs=n_jobs,
    )
    traces = {solver: SOLVERS[solver](objective, limit) for solver in solvers}
    best = min(trace[-1][2] for trace in traces.values())
    rows = []
    for accuracy in ACCURACIES:
        base = reached(traces["prox-newton"], best * (1 + accuracy))[0]
        for solver, trace in traces.items():
            seconds, passes = reached(trace, best * (1 + accuracy))
            waited = trace[-1][0] if np.isnan(seconds) else seconds
            rows.append(
                {
                    "problem": name,
                    "playlists": n,
                    "users": u,
                    "songs": membership.shape[1],
                    "features": features.shape[1] + 1,
                    "penalties": "/".join(f"{p:g}" for p in penalties),
                    "accuracy": accuracy,
                    "solver": solver,
                    "seconds": seconds,
                    "passes": passes,
                    "ratio": f"{'> ' if np.isnan(seconds) else ''}{waited / base:.1f}",
                    "reached": trace[-1][2] / best - 1,
                }
            )
    return rows


def against(name, problem, penalties, checkouts, n_jobs):
    """Compare CPU seconds with another version of the package; one row per version and accuracy."""
    n, u = problem[1].shape[0], problem[2].max() + 1
    user, playlist_l1, shared_l1 = penalties
    setting = ",".join(map(str, (float(user * n / u), playlist_l1, shared_l1)))
    script = Path(__file__).with_name("trace_solver.py")
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        save_problem(file, problem)
        for version, checkout in checkouts.items():
            done = subprocess.run(
                [sys.executable, script, file, setting, "--jobs", str(n_jobs)],
                capture_output=True,
                text=True,
                check=True,
                env=os.environ | {"PYTHONPATH": str(checkout)},
            )
            runs[version] = json.loads(done.stdout.splitlines()[-1])
    best = min(run["trace"][-1][2] for run in runs.values())
    rows = []
    for accuracy in ACCURACIES:
        for version, run in runs.items():
            cpu, passes = reached(run["trace"], best * (1 + accuracy))
            rows.append(
                {
                    "problem": name,
                    "penalties": "/".join(f"{p:g}" for p in penalties),
                    "accuracy": accuracy,
                    "version": version,
                    "CPU seconds": cpu,
                    "passes": passes,
                    "peak MB": run["peak MB"],
                }
            )
    return rows


def pass_rates(problem, n_jobs, n_rounds):
    """Compare the rate of a pass with that of products of matrices, in the same minute.

    At drawn weights all playlists differ. At those of a fit, playlists that have their user's
    weights share one sum over the songs. The rate counts the operations of the definition in both
    cases: 4 for each playlist, song and feature.

    Products are a large square one, and the two of a pass, in its own shapes, with nothing done
    between them: no pass at drawn weights can be faster on this BLAS.
    """
    objective = MultitaskObjective(*problem, n_jobs=n_jobs)
    sorted_problem = SortedProblem(objective)
    fitted = sorted_problem.totals_of(solve_prox_newton(objective).coef)
    drawn = np.random.default_rng(0).normal(
        scale=0.02, size=(objective.n_playlists, objective.n_features)
    )
    tiled, bare = objective.tiled_pass, copy(objective.tiled_pass)
    bare._exp = len  # which does nothing to the scores
    square = np.random.default_rng(0).normal(size=(3000, 3000)).astype(np.float32)
    seconds = {"drawn": [], "of a fit": [], "its products": [], "sgemm": []}
    tiled.negative_sums(drawn)
    for _ in range(n_rounds):
        with threadpool_limits(n_jobs, user_api="blas"):
            seconds["sgemm"].append(seconds_of(lambda: square @ square))
        with threadpool_limits(1, user_api="blas"):
            seconds["drawn"].append(seconds_of(lambda: tiled.negative_sums(drawn)))
            seconds["its products"].append(seconds_of(lambda: bare.negative_sums(drawn)))
            seconds["of a fit"].append(seconds_of(lambda: sorted_problem.evaluate(*fitted)))
    flops = dict.fromkeys(
        seconds, 4.0 * objective.n_playlists * objective.n_songs * objective.n_features
    )
    flops["sgemm"] = 2.0 * 3000**3
    # Others on the machine only slow things down, so the best of each is the nearest to the truth.
    rate = {name: flops[name] / min(times) / 1e9 for name, times in seconds.items()}
    return [
        {
            "features": objective.n_features,
            "weights": weights,
            "pass GF/s": rate[weights],
            "products of a pass GF/s": rate["its products"],
            "sgemm GF/s": rate["sgemm"],
            "share of sgemm": rate[weights] / rate["sgemm"],
        }
        for weights in ("drawn", "of a fit")
    ]


def rates(n_jobs, *, tiny):
    """Return the rates of passes with few and with many features."""
    rows = []
    for n_features in (50, 150):
        if tiny:
            problem = sampled_problem(300, 60, 2048, n_features)
        else:
            problem = preset_problem("30music", n_features=n_features)
        rows += pass_rates(problem, n_jobs, 2 if tiny else 8)
    return rows


def best_seconds(function, n_times):
    """Time several calls; others on the machine only make them slower."""
    return min(seconds_of(function) for _ in range(n_times))


def seconds_of(function):
    """Time one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


@contextlib.contextmanager
def timed(owner, name):
    """Add up the seconds that calls of a method take; they are in the list that this gives."""
    method, seconds = getattr(owner, name), []

    def call(*args, **settings):
        start = time.perf_counter()
        result = method(*args, **settings)
        seconds.append(time.perf_counter() - start)
        return result

    setattr(owner, name, call)
    try:
        yield seconds
    finally:
        setattr(owner, name, method)


def whole(n_jobs, *, tiny):
    """Fit playlists of the size of 30Music; return time, passes, shares of parts, and memory.

    Memory is that above data and libraries: what the fit adds to the process at its highest.
    """
    if tiny:
        problem = sampled_problem(100, 50, 500, 10)
    else:
        problem = preset_problem("30music", n_features=150)
    objective = MultitaskObjective(*problem, n_jobs=n_jobs)
    forget_peak()
    before = peak_megabytes()
    with (
        timed(TiledPass, "_sums") as passes,
        timed(RowModel, "newton_steps") as newton,
        timed(RowModel, "shared_metric") as metrics,
        timed(RowModel, "move_shared") as shifts,
    ):
        start = time.perf_counter()
        result = solve_prox_newton(objective)
        seconds = time.perf_counter() - start
    n, u, m, d = objective.n_playlists, objective.n_users, objective.n_songs, objective.n_features
    allowed = (25 * 4 * (n + u) * d + 12 * m * d) / 2**20 + 64
    found = {
        "playlists": n,
        "users": u,
        "songs": m,
        "features": d,
        "converged": result.converged,
        "seconds": round(seconds, 1),
        "passes": round(result.history["passes"][-1], 2),
        "share of passes": round(sum(passes) / seconds, 2),
        "share of Newton steps": round(sum(newton) / seconds, 2),
        "share of shared steps": round(sum(metrics + shifts) / seconds, 2),
        "MB above data": round(peak_megabytes() - before),
        "MB allowed": round(allowed),
    }
    return [found]


def slope(sizes, seconds):
    """Return the exponent of growth."""
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def growth(n_jobs, *, tiny):
    """Time fits and passes of growing size in playlists, songs and features; return the slopes.

    A fit takes few passes, and between them work that does not depend on the number of songs, so
    that its time grows less with songs than that of a pass.
    """
    base = {"n_playlists": 4000, "n_users": 1000, "n_songs": 16000, "n_features": 48}
    if tiny:
        base = {"n_playlists": 80, "n_users": 20, "n_songs": 320, "n_features": 48}
    rows = []
    for name, factors in (
        ("n_playlists", (1, 2, 4)),
        ("n_songs", (1, 2, 4)),
        ("n_features", (1, 2, 3)),
    ):
        fits, passes = [], []
        sizes = [base[name] * factor for factor in factors]
        for factor in factors:
            size = base | {name: base[name] * factor}
            if name == "n_playlists":
                size["n_users"] = base["n_users"] * factor
            objective = MultitaskObjective(*sampled_problem(**size), n_jobs=n_jobs)
            fits.append(best_seconds(partial(solve_prox_newton, objective), 3))
            weights = np.zeros((objective.n_playlists, objective.n_features))
            passes.append(best_seconds(partial(objective.tiled_pass.negative_sums, weights), 7))
        for what, seconds in (("fit", fits), ("pass", passes)):
            rows.append(
                {
                    "time of a": what,
                    "in": name,
                    "sizes": " / ".join(map(str, sizes)),
                    "seconds": " / ".join(f"{value:.2f}" for value in seconds),
                    "slope": round(slope(sizes, seconds), 2),
                }
            )
    return rows


def path(n_jobs, *, tiny):
    """Time ten settings of the penalties as a path and as fits of their own."""
    size = {"n_playlists": 4000, "n_users": 1200, "n_songs": 16_000}
    if tiny:
        size = {"n_playlists": 80, "n_users": 24, "n_songs": 320}
    X = make_playlists(**size, random_state=0)
    ranker = MultitaskPlaylistRanker(
        song_features=make_song_features(X, random_state=0), n_jobs=n_jobs, random_state=0
    )
    settings = [{"user_l2": float(value)} for value in np.geomspace(10, 0.03, 10)]
    start = time.perf_counter()
    together = regularization_path(ranker, X, settings)
    in_path = time.perf_counter() - start
    start = time.perf_counter()
    alone = [clone(ranker).set_params(**setting).fit(X) for setting in settings]
    cold = time.perf_counter() - start
    found = {
        "settings": len(settings),
        "path s": round(in_path, 2),
        "cold fits s": round(cold, 2),
        "ratio": round(cold / in_path, 2),
        "largest difference of objectives": max(
            abs(a.objective_ / b.objective_ - 1) for a, b in zip(together, alone, strict=True)
        ),
    }
    return [found]


PARTS = {"rate": rates, "growth": growth, "whole": whole, "path": path}


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aotm", help="path of the AotM-2011 playlists as CSV")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.15, 0.4])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--limit", type=float, default=120, help="seconds for each competitor")
    parser.add_argument("--solvers", nargs="+", default=["prox-newton", "pylbfgs owl-qn"])
    parser.add_argument(
        "--penalties",
        nargs="+",
        default=["1,1,0.001", "0.1,0.2,0.001"],
        help="user_l2 * users / playlists, playlist_l1, shared_l1",
    )
    parser.add_argument("--drawn", action="store_true", help="drawn playlists over 10,000 songs")
    parser.add_argument("--preset", help="playlists of a preset of make_playlists")
    parser.add_argument("--growth", action="store_true", help="growth with the size")
    parser.add_argument("--whole", action="store_true", help="a fit of the size of 30Music")
    parser.add_argument("--rate", action="store_true", help="rate of a pass against sgemm")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--songs", type=int, help="only the most popular songs of AotM-2011")
    parser.add_argument("--path", action="store_true", help="a path of penalties against fits")
    parser.add_argument("--against", help="folder of another version, to compare CPU seconds with")
    parser.add_argument("--csv", help="CSV to write")
    parser.add_argument("--tiny", action="store_true", help="a run of seconds")
    options = parser.parse_args()
    print("; ".join(machine("numba", "pylbfgs").values()), f"{options.jobs} threads", sep="; ")
    # What is compiled is compiled now.
    solve_prox_newton(
        MultitaskObjective(*sampled_problem(2000, 500, 6000, 50), n_jobs=options.jobs)
    )
    penalties = [tuple(map(float, p.split(","))) for p in options.penalties]
    problems = {}
    if options.tiny:
        options.limit = 0.5
        options.solvers = [*SOLVERS]
        problems["drawn"] = sampled_problem(200, 40, 1000, 8)
    if options.drawn:
        problems["drawn"] = sampled_problem(2000, 800, 10_000, 64)
    if options.preset:
        problems[f"preset {options.preset}"] = preset_problem(
            options.preset, n_features=options.features
        )
    for share in options.shares if options.aotm else ():
        problems[f"AotM-2011 {share:.0%}"] = aotm_problem(
            options.aotm, user_share=share, n_features=options.features, n_songs=options.songs
        )
    options.solvers = available(options.solvers)
    rows = []
    for name, problem in problems.items():
        for setting in penalties:
            new = compare(name, problem, setting, options.solvers, options.limit, options.jobs)
            print(pd.DataFrame(new).to_string(index=False, float_format="%.3g"))
            rows += new
    write(rows, options.csv)
    here = Path(__file__).resolve().parents[2]
    checkouts = {"this": here}
    if options.against:
        checkouts = {"other": Path(options.against).resolve(), "this": here}
    compared = []
    for name, problem in problems.items() if options.against or options.tiny else ():
        for setting in penalties:
            new = against(name, problem, setting, checkouts, options.jobs)
            print(pd.DataFrame(new).to_string(index=False, float_format="%.3g"))
            compared += new
    write(compared, options.csv, "against")
    for part, run in PARTS.items():
        if getattr(options, part) or options.tiny:
            found = pd.DataFrame(run(options.jobs, tiny=options.tiny))
            print(found.to_string(index=False, float_format="%.3g"))
            write(found, options.csv, part)
    print(f"peak memory {peak_megabytes():.0f} MB")


def write(rows, path, part=None):
    """Write what was found, if anything was and there is a file for it."""
    if path and len(rows):
        path = Path(path)
        path = path if part is None else path.with_stem(f"{path.stem}_{part}")
        write_table(pd.DataFrame(rows), path, "numba", "pylbfgs")


if __name__ == "__main__":
    main()
