"""The two inner loops that numba can compile, where numba is installed.

Everything works without it; the same formulas are then evaluated by numpy, several times slower.
"""

from functools import cache
from importlib.util import find_spec
from typing import Any


@cache
def compiled_exp() -> Any:
    """Give the compiled exponential, or None without numba."""
    if find_spec("numba") is None:
        return None
    from skmtc.optimize._compiled_exp import exp_in_place

    return exp_in_place


@cache
def compiled_sweep() -> Any:
    """Give the compiled sweep over users, or None without numba."""
    if find_spec("numba") is None:
        return None
    from skmtc.optimize._compiled_sweep import sweep

    return sweep
