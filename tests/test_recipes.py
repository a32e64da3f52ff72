"""The recipes of docs/contributing, followed: what is added is known everywhere."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from skmtc import (
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PairwiseRanker,
    RidgeRanker,
)
from skmtc._utils.sparse import one_hot
from skmtc.cli import main
from skmtc.datasets import make_playlists, write_table
from skmtc.optimize import SOLVERS, Solver, solve_owlqn
from skmtc.persistence import load
from skmtc.rankers.features import _query_vectors


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


@pytest.mark.parametrize(
    "ranker",
    [
        MultitaskPlaylistRanker(tol=0.1),
        PairwiseRanker(n_epochs=1, random_state=0),
        RidgeRanker(),
        MatrixFactorizationRanker(n_factors=2, n_iterations=1, content_model=None, random_state=0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_new_users_are_scored_by_one_function(ranker, monkeypatch):
    X = make_playlists(n_users=20, n_playlists=40, n_songs=60, random_state=0)
    X = X[["user", "playlist", "song", "x0", "x1", "age"]]
    is_new = X["user"] == X["user"].iloc[0]
    ranker = clone(ranker).set_params(user_features="passthrough").fit(X[~is_new])
    before = ranker.predict(X[is_new])

    def first_user(attributes, known_attributes, n_neighbors):
        """Return the first known user as the neighbour of all new ones."""
        return one_hot(np.zeros(len(attributes), dtype=int), len(known_attributes))

    monkeypatch.setattr(_query_vectors, "similar_users", first_user)
    as_first = X[is_new].assign(user=ranker.users_[0])
    np.testing.assert_allclose(ranker.predict(X[is_new]), ranker.predict(as_first), rtol=1e-6)
    assert not np.allclose(ranker.predict(X[is_new]), before)
