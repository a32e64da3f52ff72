"""The recipes of docs/contributing, followed: what is added is known everywhere."""

from functools import partial

import numpy as np

from skmtc import MultitaskPlaylistRanker
from skmtc.cli import main
from skmtc.datasets import make_playlists, write_table
from skmtc.optimize import SOLVERS, Solver, solve_owlqn
from skmtc.persistence import load


def test_a_solver_is_one_record(monkeypatch, tmp_path):
    calls = []

    def solve(name, objective, coef0=None, **options):
        calls.append(name)
        return solve_owlqn(objective, coef0, **options)

    record = Solver(partial(solve, "fit"), partial(solve, "partial_fit"))
    monkeypatch.setitem(SOLVERS, "counting", record)
    X = make_playlists(n_users=20, n_playlists=40, n_songs=60, random_state=0).drop(columns="year")
    is_new = X["user"] == X["user"].iloc[0]

    ranker = MultitaskPlaylistRanker(solver="counting", tol=1e-4).fit(X[~is_new])
    expected = MultitaskPlaylistRanker(solver="owlqn", tol=1e-4).fit(X[~is_new])
    np.testing.assert_array_equal(ranker.user_coef_, expected.user_coef_)
    ranker.partial_fit(X[is_new])
    assert calls == ["fit", "partial_fit"]

    table, model = tmp_path / "playlists.csv", tmp_path / "model.skops"
    write_table(X, table)
    options = ["--ranker", "multitask", "--params", "solver=counting", "tol=0.01"]
    assert main(["fit", str(table), "--out", str(model), *options]) == 0
    assert load(model).solver == "counting"
    assert calls[2:].count("fit") >= 1
