"""Where compiled loops come from."""

import numpy as np
import pytest
from problems import make_objective

from skmtc.optimize import _compiled, solve_prox_newton

LOADERS = [_compiled.compiled_exp, _compiled.compiled_sweep, _compiled.compiled_rows]


@pytest.mark.parametrize("loader", LOADERS)
def test_without_numba_there_are_none(loader, monkeypatch):
    assert loader() is not None
    monkeypatch.setattr(_compiled, "find_spec", lambda _: None)
    assert loader.__wrapped__() is None


@pytest.mark.parametrize("error", [RuntimeError, OSError])
@pytest.mark.parametrize("loader", LOADERS)
def test_where_numba_cannot_work_there_are_none(loader, error, monkeypatch):
    def import_module(name):
        raise error(f"no room for {name}")

    monkeypatch.setattr(_compiled, "import_module", import_module)
    assert loader.__wrapped__() is None


def test_small_problems_are_left_to_numpy(monkeypatch):
    def refuse():
        raise AssertionError("compiled for nothing")

    monkeypatch.setattr(_compiled, "compiled_exp", refuse)
    monkeypatch.setattr(_compiled, "compiled_sweep", refuse)
    objective = make_objective(0, features=lambda x: x.astype(np.float32))
    assert solve_prox_newton(objective).converged
    monkeypatch.setattr(_compiled, "WORTHWHILE_EXPONENTIALS", 1)
    with pytest.raises(AssertionError, match="compiled for nothing"):
        solve_prox_newton(make_objective(0, features=lambda x: x.astype(np.float32)))
