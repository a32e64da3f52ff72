"""The two inner loops that numba can compile, where numba is installed.

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


@cache
def compiled_exp() -> Any:
    """Give the compiled exponential, or None without numba."""
    return _load("_compiled_exp", "exp_in_place")


@cache
def compiled_sweep() -> Any:
    """Give the compiled sweep over users, or None without numba."""
    return _load("_compiled_sweep", "sweep")


def _load(module: str, function: str) -> Any:
    if find_spec("numba") is None:
        return None
    try:
        return getattr(import_module(f"skmtc.optimize.{module}"), function)
    except (RuntimeError, OSError):
        # numba finds no folder that it may keep compiled code in, or no memory for its library.
        return None
