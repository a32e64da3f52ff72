"""CPU seconds, passes and objective of every iteration of `solve_prox_newton`, as JSON.

    PYTHONPATH=checkout python trace_solver.py problem.npz 0.3,1,0.01 --jobs 1

`bench_solvers.py --against CHECKOUT` runs this with another version of the package and with this
one, in processes of their own. It uses what all versions have in common.
"""

import argparse
import json
import time

import numpy as np
from machine import peak_megabytes
from scipy.sparse import csr_array

from skmtc.optimize import MultitaskObjective, solve_prox_newton


def save_problem(path, problem):
    """Write features, membership and owners."""
    features, membership, owner = problem
    np.savez(
        path,
        features=features,
        owner=owner,
        indptr=membership.indptr,
        indices=membership.indices,
        shape=membership.shape,
    )


def load_problem(path):
    """Read what `save_problem` wrote."""
    with np.load(path) as held:
        values = np.ones(len(held["indices"]), dtype=np.int32)
        parts = (values, held["indices"], held["indptr"])
        return held["features"], csr_array(parts, shape=tuple(held["shape"])), held["owner"]


def trace(objective, tol):
    """Return CPU seconds, passes and objective of the start and of every iteration."""
    found = []
    start = time.process_time()

    def callback(state):
        history = state["history"]
        if not found:  # the start of the history is older than the first iteration
            found.append((None, history["passes"][0], history["objective"][0]))
        found.append((time.process_time() - start, state["passes"], state["objective"]))

    result = solve_prox_newton(objective, tol=tol, callback=callback)
    seconds = result.history["seconds"]
    # The history has wall-clock seconds: the first point takes its share of the first iteration.
    cpu = found[1][0] * seconds[0] / max(seconds[1], 1e-9)
    found[0] = (cpu, *found[0][1:])
    return found


def main():
    """Run one solver on one problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", help="file that `save_problem` wrote")
    parser.add_argument("penalties", help="user_l2, playlist_l1, shared_l1")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tol", type=float, default=1e-4)
    options = parser.parse_args()
    names = ("user_l2", "playlist_l1", "shared_l1")
    penalties = dict(zip(names, map(float, options.penalties.split(",")), strict=True))
    problem = load_problem(options.problem)
    # What is compiled is compiled now.
    solve_prox_newton(MultitaskObjective(*problem, **penalties, n_jobs=options.jobs), max_iter=1)
    found = trace(MultitaskObjective(*problem, **penalties, n_jobs=options.jobs), options.tol)
    print(json.dumps({"trace": found, "peak MB": peak_megabytes()}))


if __name__ == "__main__":
    main()
