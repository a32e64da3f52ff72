"""Where compiled loops come from."""

import pytest

from skmtc.optimize import _compiled


@pytest.mark.parametrize("loader", [_compiled.compiled_exp, _compiled.compiled_sweep])
def test_without_numba_there_are_none(loader, monkeypatch):
    assert callable(loader())
    monkeypatch.setattr(_compiled, "find_spec", lambda _: None)
    assert loader.__wrapped__() is None


@pytest.mark.parametrize("loader", [_compiled.compiled_exp, _compiled.compiled_sweep])
def test_where_nothing_can_be_kept_there_are_none(loader, monkeypatch):
    def import_module(name):
        raise RuntimeError(f"cannot cache functions of {name}: no locator available")

    monkeypatch.setattr(_compiled, "import_module", import_module)
    assert loader.__wrapped__() is None
