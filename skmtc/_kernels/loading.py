"""The inner loops that numba can compile, where numba is installed.

Everything works without it; the same formulas are then evaluated by numpy, several times slower.
Compiling takes some twenty seconds, once per machine, and loading what was compiled takes one, so
that small problems are left to numpy as well.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Fewer exponentials in a pass, or numbers in the weights of all playlists, are not worth it.
WORTHWHILE_EXPONENTIALS = 10_000_000
WORTHWHILE_WEIGHTS = 100_000
# Nor are fewer stored numbers of sparse rows.
WORTHWHILE_ENTRIES = 200_000


@cache
def compiled_exp() -> Any:
    """Return the compiled exponential, or None without numba."""
    return _load("skmtc._kernels.exp", "exp_in_place")


@cache
def compiled_scores_near() -> Any:
    """Return the compiled scores of rows that differ in few features, or None without numba."""
    return _load("skmtc._kernels.near_rows", "scores_near")


@cache
def compiled_sweep() -> Any:
    """Return the compiled sweep over users, or None without numba."""
    return _load("skmtc._kernels.user_step", "sweep")


@cache
def compiled_own_sums() -> Any:
    """Return the compiled sums over the songs of playlists, or None without numba."""
    return _load("skmtc._kernels.own_songs", "own_sums")


@cache
def compiled_newton() -> Any:
    """Return the compiled Newton steps of users, or None without numba."""
    return _load("skmtc._kernels.newton_users", "newton_users")


@cache
def compiled_rows() -> Any:
    """Return the module of compiled loops over sparse rows, or None without numba."""
    return _load("skmtc._kernels.sparse_rows")


def _load(name: str, function: str | None = None) -> Any:
    """Import a module, or one of its functions."""
    if find_spec("numba") is None:
        return None
    try:
        module = import_module(name)
        return module if function is None else getattr(module, function)
    except (RuntimeError, OSError):
        # numba finds no folder that it may keep compiled code in, or no memory for its library.
        return None
