"""Where compiled loops come from."""

import numpy as np
import pytest
from problems import make_objective

from skmtc._kernels import loading
from skmtc.optimize import solve_prox_newton

LOADERS = [
    loading.compiled_exp,
    loading.compiled_scores_near,
    loading.compiled_sweep,
    loading.compiled_rows,
]


@pytest.mark.parametrize("loader", LOADERS)
def test_without_numba_there_are_none(loader, monkeypatch):
    assert loader() is not None
    monkeypatch.setattr(loading, "find_spec", lambda _: None)
    assert loader.__wrapped__() is None


@pytest.mark.parametrize("error", [RuntimeError, OSError])
@pytest.mark.parametrize("loader", LOADERS)
def test_where_numba_cannot_work_there_are_none(loader, error, monkeypatch):
    def import_module(name):
        raise error(f"no room for {name}")

    monkeypatch.setattr(loading, "import_module", import_module)
    assert loader.__wrapped__() is None


def test_small_problems_are_left_to_numpy(monkeypatch):
    def refuse():
        raise AssertionError("compiled for nothing")

    monkeypatch.setattr(loading, "compiled_exp", refuse)
    monkeypatch.setattr(loading, "compiled_sweep", refuse)
    objective = make_objective(0, features=lambda x: x.astype(np.float32))
    assert solve_prox_newton(objective).converged
    monkeypatch.setattr(loading, "WORTHWHILE_EXPONENTIALS", 1)
    with pytest.raises(AssertionError, match="compiled for nothing"):
        solve_prox_newton(make_objective(0, features=lambda x: x.astype(np.float32)))
